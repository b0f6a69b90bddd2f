#!/usr/bin/env python3
"""Reads tables of a Tessera database without Tessera: a second implementation of docs/format.md and docs/codecs.md.

    reader.py DB                                    what the catalogue says: tables, columns, codecs, indexes
    reader.py DB TABLE [COLUMN...] [--codec NAME] [--rows N]
                                                    rows as CSV, as `tessera sql --format csv` writes them
    reader.py DB TABLE --index COLUMN               the rows that each vector of a bitmap index has

It is there to be read beside the two pages, from the first line to the last: numbers, codecs, column files, the
catalogue, values, indexes. It shows that the pages are enough, and is a start for a reader in another language. It is
not fast, reads whole columns into memory, and never writes. It needs Python 3.8 and numpy. XXH3 and Zstandard, which
others describe, are in xxh3.py and zstd.py.

--codec reads the columns as they are stored in this codec (without it, each in its own), and prints those that are, if
none is named. A database that is damaged, or asked for what it does not have, is one sentence and exit code 2.
"""
import argparse
import fcntl
import itertools
import json
import os
import re
import struct
import sys
import zlib

try:
    import numpy as np
except ImportError:
    print("reader.py: numpy is not installed (pip install numpy)", file=sys.stderr)
    sys.exit(3)

sys.dont_write_bytecode = True  # docs/ is installed as it stands
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from xxh3 import xxh3  # noqa: E402
from zstd import decompress  # noqa: E402

U64 = np.uint64
TILE = np.arange(1024)
LANES = np.arange(32)


class Refused(Exception):
    """What is wrong with the files, or with what was asked for: a sentence."""


def require(condition, sentence, *arguments):
    if not condition:
        raise Refused(sentence % arguments)


# ---- Numbers. Decoders compute modulo 2^64 in arrays of uint64; the result is cut to the bytes of a value at the end.


def words(section):
    """Words of 32 bits, as signed numbers of 64 bits, with which places are computed."""
    return np.frombuffer(section, "<u4", len(section) // 4).astype(np.int64)


def take_bits(stream, place, bit, width, stride=1):
    """`width` bits (0 to 64) from bit `bit` of the words stream[place], stream[place + stride], ...: for arrays."""
    place, bit, width = np.broadcast_arrays(place, bit, width)
    first = place + (bit >> 5) * stride
    stream = np.concatenate((np.frombuffer(stream, "<u4", len(stream) // 4), np.zeros(3 * stride, np.uint32)))
    low, middle, high = (stream[first + k * stride].astype(U64) for k in range(3))
    shift = (bit & 31).astype(U64)
    value = (low | middle << U64(32)) >> shift | high << U64(1) << U64(63) - shift
    return np.where(width > 0, value & U64(2**64 - 1) >> (64 - np.maximum(width, 1)).astype(U64), U64(0))


def take_bytes(stream, place, length):
    """Numbers of `length` bytes (1 to 8) from byte `place` on."""
    value = np.zeros(len(place), U64)
    for k in range(int(length.max(initial=0))):
        some = np.flatnonzero(length > k)
        value[some] |= stream[place[some] + k].astype(U64) << U64(8 * k)
    return value


def ragged(counts):
    """For counts 2, 0, 3: owners 0 0 2 2 2 and their items 0 1 0 1 2."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - (np.cumsum(counts) - counts)[owner]


def running_sums(items, counts):
    """The sum of each item and those of its owner before it."""
    total = np.concatenate((np.zeros(1, items.dtype), np.cumsum(items, dtype=items.dtype)))
    owner, _ = ragged(counts)
    return total[1:] - total[(np.cumsum(counts) - counts)[owner]]


# ---- Chunks: "What all chunks share" and the sections of docs/codecs.md, under their names.

CODECS = {}  # number: (name, decoder)


def codec(number, name):
    def register(decoder):
        CODECS[number] = name, decoder
        return decoder

    return register


class Chunk:
    """The header of a chunk of `rows` values of `size` bytes, and its sections."""

    def __init__(self, data, number, rows, size):
        require(len(data) >= 64, "a chunk has %d bytes", len(data))
        head = struct.unpack_from("<6I5Q", data)
        require(head[:3] == (number, rows, size), "a chunk is of another codec, or has other values")
        self.rows, self.size, self.tiles = rows, size, -(-rows // 1024)
        self.wide, self.width = size // 4, head[4]  # words of a value; bits
        self.sections, place = [], 64
        for length in head[6:9]:
            self.sections.append(np.frombuffer(data, np.uint8)[place : place + length])
            place = -(-(place + length) // 128) * 128
        require(place == head[9] == len(data), "the sections of a chunk do not add up")
        self.directory, self.data, self.auxiliary = self.sections

    def numbers(self, stream, place):
        """Numbers of the values' size at these words."""
        return take_bits(stream, place, 0, 8 * self.size)


def decode(data, number, rows, size):
    """The values of a chunk, as signed numbers of `size` bytes."""
    values = np.asarray(CODECS[number][1](Chunk(data, number, rows, size))).reshape(-1)
    require(len(values) >= rows, "a chunk has too few values")
    return values[:rows].astype("<u%d" % size).view("<i%d" % size).astype(np.int64)


@codec(1, "plain")
def plain(c):
    return c.data.view("<u%d" % c.size)


@codec(2, "nsf")
def nsf(c):
    return c.data.view("<u%d" % (c.width // 8))


def suppressed(selectors, selector_place, data, place, counts, sizes):
    """counts[o] numbers from byte place[o] on, of sizes[s] bytes each; the selectors s have two bits."""
    owner, i = ragged(counts)
    selector = selectors[selector_place[owner] + i // 4] >> (2 * (i % 4)).astype(np.uint8) & 3
    length = np.array(sizes)[selector]
    return take_bytes(data, place[owner] + running_sums(length, counts) - length, length)


SIZES = {4: (1, 2, 3, 4), 8: (1, 2, 4, 8)}  # bytes by selector


@codec(10, "nsv")
def nsv(c):
    starts = words(c.directory)[:-1]
    return suppressed(c.auxiliary, 256 * np.arange(c.tiles), c.data, starts, [1024] * c.tiles, SIZES[c.size])


def miniblocks(c, starts):
    """Blocks of 128 values: a reference, four widths in a word, and miniblocks of 32 packed values."""
    reference = c.numbers(c.data, starts)
    width = words(c.data)[starts + c.wide][:, None] >> np.array([0, 8, 16, 24]) & 255
    length = np.maximum(width, 1)
    place = (starts + c.wide + 1)[:, None] + np.cumsum(length, axis=1) - length
    packed = take_bits(c.data, place[:, :, None], LANES * width[:, :, None], width[:, :, None])
    return reference[:, None] + packed.reshape(-1, 128)


@codec(3, "gpu-for")
@codec(11, "for-bp")
def gpu_for(c):
    return miniblocks(c, words(c.directory)[:-1])


@codec(4, "gpu-dfor")
@codec(19, "delta-for-bp")
def gpu_dfor(c):
    starts = words(c.directory)[:-1]
    first = c.numbers(c.data, starts[::4] - c.wide)  # of each group of 512
    return first[:, None] + np.cumsum(miniblocks(c, starts).reshape(-1, 512), axis=1)


@codec(5, "gpu-rfor")
@codec(20, "rle-for-bp")
def gpu_rfor(c):
    values, lengths = (run_stream(section, starts[:-1], wide) for section, starts, wide in zip(
        (c.data, c.auxiliary), words(c.directory).reshape(2, -1), (c.wide, 1)))
    return np.repeat(values, lengths.astype(np.int64))


def run_stream(section, starts, wide):
    """Blocks of a reference, a width, a count, and so many packed numbers."""
    reference, stream = take_bits(section, starts, 0, 32 * wide), words(section)
    width, count = stream[starts + wide] & 255, stream[starts + wide + 1]
    owner, i = ragged(count)
    return reference[owner] + take_bits(section, (starts + wide + 2)[owner], i * width[owner], width[owner])


@codec(22, "gpu-simdbp128")
def gpu_simdbp128(c):
    entry = words(c.directory)[:, None, None]
    start, width = entry & (1 << 25) - 1, entry >> 25
    return take_bits(c.data, start * 128 + np.arange(128), LANES[:, None] * width, width, stride=128)


@codec(24, "gpu-for-block")
def gpu_for_block(c):
    starts = words(c.directory)[:-1]
    width = words(c.data)[starts + c.wide][:, None]
    packed = take_bits(c.data, (starts + c.wide + 1)[:, None], np.arange(128) * width, width)
    return c.numbers(c.data, starts)[:, None] + packed


def frames(c):
    """The entries of lane-for's directory: first word of each tile in data, width, reference."""
    if c.size == 4:
        entry = words(c.directory)[: 2 * c.tiles].reshape(-1, 2)
        return (entry[:, 0] & (1 << 26) - 1) * 8, entry[:, 0] >> 26, entry[:, 1].astype(U64)
    entry = words(c.directory)[: 4 * c.tiles].reshape(-1, 4)
    return entry[:, 0] * 8, entry[:, 1], c.numbers(c.directory, 4 * np.arange(c.tiles) + 2)


def lanes(section, place, width, items=32):
    """Items 0, 1, ... of 32 lanes; word w of lane l is word 32 w + l of the tile. Row 32 j + l is item j of lane l."""
    place, width = np.asarray(place)[:, None, None], np.asarray(width)[:, None, None]
    return take_bits(section, place + LANES, np.arange(items)[:, None] * width, width, stride=32)


@codec(6, "lane-for")
def lane_for(c):
    place, width, reference = frames(c)
    return reference[:, None] + lanes(c.data, place, width).reshape(-1, 1024)


@codec(7, "lane-delta")
def lane_delta(c):
    if c.size == 4:
        entry = words(c.directory).reshape(-1, 4)
        start, width, first_width = entry[:, 0] & (1 << 26) - 1, entry[:, 0] >> 26, entry[:, 1]
        base, step = entry[:, 2].astype(U64), entry[:, 3].astype(U64)
    else:
        start, width, first_width = words(c.directory).reshape(-1, 8)[:, :3].T
        base, step = (c.numbers(c.directory, 8 * np.arange(c.tiles) + at) for at in (4, 6))
    first_place = start * 8 + (31 * width + 31) // 32 * 32
    first = base[:, None] + take_bits(c.data, first_place[:, None], LANES * first_width[:, None], first_width[:, None])
    steps = step[:, None, None] + lanes(c.data, start * 8, width, items=31)
    return np.cumsum(np.concatenate((first[:, None, :], steps), axis=1), axis=1)


@codec(8, "rank-rle")
def rank_rle(c):
    if c.size == 4:
        entry = words(c.directory).reshape(-1, 4)
        start, width, reference = entry[:, 0] & (1 << 26) - 1, entry[:, 0] >> 26, entry[:, 1].astype(U64)
    else:
        start, width = words(c.directory).reshape(-1, 8)[:, :2].T
        reference = c.numbers(c.directory, 8 * np.arange(c.tiles) + 4)
    marks = words(c.data)[(start * 8)[:, None] + LANES][:, :, None] >> LANES & 1
    run = np.cumsum(marks.reshape(-1, 1024), axis=1) - 1
    return reference[:, None] + take_bits(c.data, (start * 8 + 32)[:, None], run * width[:, None], width[:, None])


def plane(section, place):
    """A bit of each row of tiles whose 32 words begin at `place`: bit j of word l is that of row 32 j + l."""
    return (words(section)[place[:, None, None] + LANES] >> LANES[:, None] & 1).astype(U64)


@codec(9, "lane-slice")
def lane_slice(c):
    place, width, reference = frames(c)
    items = np.zeros((c.tiles, 32, 32), U64)
    for k in range(int(width.max())):
        some = np.flatnonzero(width > k)
        items[some] |= plane(c.data, place[some] + 32 * k) << U64(k)
    return reference[:, None] + items.reshape(-1, 1024)


@codec(28, "lane-levels")
def lane_levels(c):
    head = words(c.directory)
    planes, bits, apart = head[0], head[1], head[2] if len(head) > 2 else 0
    tile = np.arange(c.tiles) * (bits - apart) * 32
    values = lanes(c.data, tile + (planes - apart) * 32, np.full(c.tiles, bits - planes))
    for k in range(apart, planes):
        values |= plane(c.data, tile + (k - apart) * 32) << U64(bits - 1 - k)
    if apart:  # the first planes: the same in all rows of a tile, or in lines of their own
        entry = head[4 : 4 + c.tiles]
        differ = np.flatnonzero(entry >> 31)
        values |= np.where(entry >> 31, 0, entry).astype(U64)[:, None, None]
        for k in range(apart):
            place = ((entry[differ] & 2**31 - 1) * apart + k) * 32
            values[differ] |= plane(c.auxiliary, place) << U64(bits - 1 - k)
    return values


@codec(16, "lane-pfor")
def lane_pfor(c):
    place, width, reference = frames(c)
    values = reference[:, None] + lanes(c.data, place, width).reshape(-1, 1024)
    at, sizes = words(c.directory)[-2 * c.tiles :].reshape(-1, 2).T
    count, high_width = sizes & 0xFFFF, sizes >> 16
    tile, i = ragged(count)
    row = take_bits(c.auxiliary, (at + c.wide)[tile], 10 * i, 10).astype(np.int64)
    high_place = at + c.wide + (10 * count + 31) // 32
    high = c.numbers(c.auxiliary, at[tile])
    high += take_bits(c.auxiliary, high_place[tile], i * high_width[tile], high_width[tile])
    values[tile, row] += high << width[tile].astype(U64)
    return values


def key_of_double(number):
    """Also the double's bits of a key: its inverse is the same."""
    bits = np.asarray(number).view(np.int64)
    return bits ^ (bits >> 63 & 2**63 - 1)


@codec(29, "alp")
def alp(c):
    place, width, reference = frames(c)
    values = reference[:, None] + lanes(c.data, place, width).reshape(-1, 1024)
    at, sizes = words(c.directory)[-2 * c.tiles :].reshape(-1, 2).T
    decimals = np.flatnonzero(sizes >> 31)
    powers = np.array([float(10**n) for n in range(19)])[(sizes[decimals] >> 16 & 31)]
    values[decimals] = key_of_double(values[decimals].view(np.int64) / powers[:, None]).view(U64)
    count = sizes & 0xFFFF
    tile, i = ragged(count)
    row = take_bits(c.auxiliary, (at + 2 * count)[tile], 16 * i, 16).astype(np.int64)
    values[tile, row] = c.numbers(c.auxiliary, at[tile] + 2 * i)
    return values


@codec(12, "gpu-bp128")
@codec(13, "gpu-bp256")
def gpu_bp(c):
    ends = words(c.directory)
    block = c.tiles * 1024 // (len(ends) - 1)  # 128 or 256 values
    width = (np.diff(ends) // (block // 32))[:, None]
    return take_bits(c.data, ends[:-1, None], np.arange(block) * width, width)


@codec(14, "gpu-vbyte128")
@codec(15, "gpu-vbyte1024")
def gpu_vbyte(c):
    starts = words(c.directory)[:-1]
    block = c.tiles * 1024 // len(starts)  # 128 or 1024 values
    return suppressed(c.data, starts, c.data, starts + block // 4, np.full(len(starts), block), SIZES[c.size])


def pfor_blocks(c, fields):
    """Blocks of pfor with so many numbers after their second word; the last of them, too."""
    starts, stream = words(c.directory)[:-1], words(c.data)
    width, offset_width, high_width = (stream[starts] >> shift & 255 for shift in (0, 8, 16))
    count, least = stream[starts + 1] & 0xFFFF, stream[starts + 1] >> 16
    numbers = [c.numbers(c.data, starts + 2 + i * c.wide) for i in range(fields)]
    place = starts + 2 + fields * c.wide
    values = numbers[0][:, None] + take_bits(c.data, place[:, None], TILE * width[:, None], width[:, None])
    block, i = ragged(count)
    place += 32 * width
    row = least[block] + take_bits(c.data, place[block], i * offset_width[block], offset_width[block]).astype(np.int64)
    place += (count * offset_width + 31) // 32
    high = numbers[1][block] + take_bits(c.data, place[block], i * high_width[block], high_width[block])
    values[block, row] += high << width[block].astype(U64)
    return values, numbers[-1]


@codec(17, "pfor")
def pfor(c):
    return pfor_blocks(c, 2)[0]


@codec(18, "pfor-diff")
def pfor_diff(c):
    differences, before = pfor_blocks(c, 3)
    return before[:, None] + np.cumsum(differences, axis=1)


@codec(21, "rle")
def rle(c):
    runs = words(c.directory)[-1]
    return np.repeat(c.data.view("<u%d" % c.size)[:runs], words(c.auxiliary)[:runs])


@codec(23, "planner")
def planner(c):
    head = words(c.directory)
    layers, width, length_width = head[0] & 255, head[0] >> 8 & 255, head[0] >> 16 & 255
    runs, coded, delta, frame = (layers & bit for bit in (1, 2, 4, 8))
    fields = iter(head[4:].reshape(c.tiles + 1, -1).T)  # those words of a tile's entry that the plan needs
    first = next(fields) if runs else 1024 * np.arange(c.tiles + 1)
    counts = np.diff(first)
    items = null_suppression(c.data, width, first, counts, None if width else next(fields))
    length_start = next(fields) if runs and not length_width else None
    if frame:
        items = items + c.numbers(c.directory, 2)
    if delta:
        first_item = sum(next(fields).astype(U64) << U64(32 * i) for i in range(c.wide))[:-1]
        owner, i = ragged(counts)
        items = first_item[owner] + running_sums(np.where(i > 0, items, U64(0)), counts)
    if coded:
        codes = items.astype("<u%d" % c.size)  # modulo 2^32 (2^64): a code may be a sum
        items = c.auxiliary[: head[1] * c.size].view("<u%d" % c.size)[codes]
    if runs:
        lengths = null_suppression(c.auxiliary[head[1] * c.size :], length_width, first, counts, length_start)
        items = np.repeat(items, lengths.astype(np.int64))
    return items


def null_suppression(stream, width, first, counts, start):
    """The planner's last layer: NSF, or NSV if `width` is 0."""
    if width:
        return stream[: first[-1] * width].view("<u%d" % width).astype(U64)
    return suppressed(stream, 4 * start[:-1], stream, 4 * start[:-1] + (counts + 15) // 16 * 4, counts, SIZES[4])


def streams(c):
    """The stream of each block, and its number of values."""
    head = words(c.directory)
    for block, (start, end) in enumerate(zip(head[2:-1], head[3:])):
        yield c.data[start:end].tobytes(), 1024 * min(int(head[0]), c.tiles - block * int(head[0]))


@codec(25, "deflate")
def deflate(c):
    plains = [zlib.decompressobj(-15).decompress(stream, c.size * count) for stream, count in streams(c)]
    return np.frombuffer(b"".join(plains), "<u%d" % c.size)


def number(data, place):
    """A number of ORC, signed, and the byte after it."""
    value, shift = 0, 0
    while data[place] & 128:
        value |= (data[place] & 127) << shift
        place, shift = place + 1, shift + 7
    return zigzag(value | data[place] << shift), place + 1


def zigzag(code):
    return code >> 1 ^ -(code & 1)


def orc(c, decode_group):
    """The values of all streams, whose groups are decoded one after the other."""
    blocks = []
    for stream, count in streams(c):
        values, place = [], 0
        while len(values) < count:
            place = decode_group(stream, place, values)
        blocks.append(np.array([value & 2**64 - 1 for value in values[:count]], U64))
    return np.concatenate(blocks)


@codec(26, "orc-rle1")
def orc_rle1(c):
    def group(data, place, values):
        head, step = struct.unpack_from("<bb", data, place)
        if head >= 0:
            first, place = number(data, place + 2)
            values += [first + i * step for i in range(head + 3)]
        else:
            place += 1
            for _ in range(-head):
                value, place = number(data, place)
                values.append(value)
        return place

    return orc(c, group)


WIDTHS = list(range(1, 25)) + [26, 28, 30, 32, 40, 48, 56, 64]  # of orc-rle2


def packed_list(data, place, width, count):
    """`count` numbers of `width` bits, the high bit first, and the byte after them."""
    length = (width * count + 7) // 8
    require(place + length <= len(data), "a stream ends early")
    bits = int.from_bytes(data[place : place + length], "big") >> 8 * length - width * count
    mask = (1 << width) - 1
    return [bits >> width * (count - 1 - i) & mask for i in range(count)], place + length


@codec(27, "orc-rle2")
def orc_rle2(c):
    def group(data, place, values):
        kind = data[place] >> 6
        if kind == 0:  # short repeat
            end = place + 2 + (data[place] >> 3 & 7)
            values += [zigzag(int.from_bytes(data[place + 1 : end], "big"))] * ((data[place] & 7) + 3)
            return end
        code, count = data[place] >> 1 & 31, (data[place] << 8 & 256 | data[place + 1]) + 1
        if kind == 1:  # direct
            codes, place = packed_list(data, place + 2, WIDTHS[code], count)
            values += map(zigzag, codes)
        elif kind == 2:  # patched base
            place = patched_base(data, place, WIDTHS[code], count, values)
        else:  # delta
            first, place = number(data, place + 2)
            step, place = number(data, place)
            deltas = [abs(step)] * (count - 1)
            if code:
                deltas[1:], place = packed_list(data, place, WIDTHS[code], count - 2)
            values += itertools.accumulate([first] + [-d if step < 0 else d for d in deltas])
        return place

    return orc(c, group)


def patched_base(data, place, width, count, values):
    base_bytes, patch_width = (data[place + 2] >> 5) + 1, WIDTHS[data[place + 2] & 31]
    gap_width, patches = (data[place + 3] >> 5) + 1, data[place + 3] & 31
    base = int.from_bytes(data[place + 4 : place + 4 + base_bytes], "big")
    sign = 1 << 8 * base_bytes - 1
    base = -(base - sign) if base & sign else base
    differences, place = packed_list(data, place + 4 + base_bytes, width, count)
    entry_width = next(w for w in WIDTHS if w >= gap_width + patch_width)
    entries, place = packed_list(data, place, entry_width, patches)
    at = 0
    for entry in entries:
        at += entry >> patch_width
        differences[at] |= (entry & (1 << patch_width) - 1) << width
    values += [base + difference for difference in differences]
    return place


# ---- Column files.

ENCODING, SIDE, INDEX = 1, 2, 3  # kinds of files, and of parts:
CHUNK, STARTS, STRINGS, VALIDITY, BOUNDS, VECTORS, WORDS, PIECES, LEAVES, BLOCK_STARTS, BLOCKS = range(1, 12)
OF_A_TABLE = STARTS, STRINGS, LEAVES, BLOCK_STARTS, BLOCKS  # the others are of segments


def read_file(path):
    require(os.path.isfile(path), "%s is not there, or is not a file", path)
    with open(path, "rb") as file:
        return file.read()


class ColumnFile:
    """The parts of a file, {(kind, segment): bytes}, and the numbers of their items, when everything was checked."""

    def __init__(self, path, kind, table, column, generation, number, size, rows):
        self.path, data = path, read_file(path)
        require(len(data) >= 4096 + 32 and data[:8] == b"TSRACOLM", "%s is not a column file", path)
        version, = struct.unpack_from("<I", data, 8)
        require(version == 1, "%s has version %d, which this reader does not know", path, version)
        require(xxh3(data[:4088]) == struct.unpack_from("<Q", data, 4088)[0], "%s: the header is damaged", path)
        head = struct.unpack_from("<IQIIQIIQQ64s64s", data, 12)
        names = [name.encode().ljust(64, b"\0") for name in (table, column)]
        require(head[:5] + head[9:] == (kind, generation, number, size, rows, *names), "%s is another file", path)
        count, at = head[5], head[7]
        require(head[8] == len(data) and at + 40 * count + 32 == len(data), "%s has %d bytes", path, len(data))
        directory, trailer = data[at:-32], struct.unpack("<QQQ8s", data[-32:])
        require(trailer == (xxh3(directory), *struct.unpack_from("<Q", data, 4088), len(data), b"TSRAEND."),
                "%s: the directory is damaged", path)
        self.parts, self.items = {}, {}
        for place, length, checksum, part, segment, items, _ in struct.iter_unpack("<QQQIIII", directory):
            whole = data[place : place + -(-length // 128) * 128]
            require(place % 128 == 0 and place >= 4096 and len(whole) >= length and xxh3(whole) == checksum,
                    "%s: part %d of segment %d is damaged", path, part, segment)
            self.parts[part, segment], self.items[part, segment] = whole[:length], items

    def array(self, part, segment, kind):
        require((part, segment) in self.parts, "%s has no part %d of segment %d", self.path, part, segment)
        return np.frombuffer(self.parts[part, segment], kind)


# ---- The catalogue.


class Database:
    VERSION = 11

    def __init__(self, path):
        self.path = path
        name = os.path.join(path, "catalogue")
        require(os.path.isfile(name), "%s is not a database: it has no catalogue", path)
        while True:  # while this file is locked, writers leave alone what it names
            self.file = open(name, "rb")
            fcntl.flock(self.file, fcntl.LOCK_SH)
            if os.path.samestat(os.fstat(self.file.fileno()), os.stat(name)):
                break
            self.file.close()
        try:
            self.read(name, *self.file.read().split(b"\n", 1))
        except BaseException:
            self.file.close()
            raise

    def read(self, name, line, text=b""):
        found = re.fullmatch(rb"tessera catalogue (\d+) ([0-9a-f]{16})", line)
        require(found, "%s does not begin with a catalogue's line", name)
        version = int(found[1])
        require(version <= self.VERSION, "%s has version %d; this reader knows 1 to %d", name, version, self.VERSION)
        require(len(text) > 16 and xxh3(text) == int(found[2], 16), "%s is damaged: its checksum is not right", name)
        self.catalogue = json.loads(text)
        self.tables = {fields["name"]: Table(self, fields) for fields in self.catalogue["tables"]}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def table(self, name):
        require(name in self.tables, "%s has no table %s; it has: %s", self.path, name, ", ".join(self.tables))
        return self.tables[name]


def file_name(name):
    """A table or column in a path: ASCII that is not a letter, a digit or one of _ # $ - and blank as %XX."""
    return re.sub(r"[\0-\x7f]", lambda m: m[0] if re.match(r"[A-Za-z0-9_#$\- ]", m[0]) else "%%%02X" % ord(m[0]), name)


class Table:
    def __init__(self, database, fields):
        self.database, self.fields, self.name, self.rows = database, fields, fields["name"], fields["rows"]
        whole, rest = divmod(self.rows, 2**24)
        self.segments = fields.get("segments", [2**24] * whole + [rest] * (rest > 0))
        require(sum(self.segments) == self.rows, "the segments of table %s do not add up", self.name)
        self.columns = {column["name"]: column for column in fields["columns"]}
        self.kept, self.texts_kept = {}, {}

    def column(self, name):
        require(name in self.columns, "table %s has no column %s; it has: %s", self.name, name,
                ", ".join(self.visible()))
        return self.columns[name]

    def visible(self):
        """The user's columns: not those of deleted rows and of references of several columns."""
        return [name for name, column in self.columns.items() if not column.get("live") and "of" not in column]

    def size(self, column):
        """Bytes of a stored value."""
        wide = column["type"] in ("int64", "timestamp", "double") or column.get("precision", 0) > 9
        return 8 if wide and "references" not in column else 4

    def open(self, column, suffix, kind, generation, number, rows):
        path = os.path.join(self.database.path, "tables", file_name(self.name),
                            "%s.%s.%d" % (file_name(column["name"]), suffix, generation))
        return ColumnFile(path, kind, self.name, column["name"], generation, number, self.size(column), rows)

    def divided(self, stored):
        """The files of a column, an encoding or an index: (generation, rows of each of its segments)."""
        first, found = 0, []
        for file in stored.get("files") or [{"generation": stored["generation"], "segments": len(self.segments)}]:
            found.append((file["generation"], self.segments[first : first + file["segments"]]))
            first += file["segments"]
        require(first == len(self.segments), "files of table %s have other segments", self.name)
        return found

    def files(self, column, suffix, kind, number, stored):
        """(file, segment in it, rows) for each segment of the table."""
        found = []
        for generation, segments in self.divided(stored):
            file = self.open(column, suffix, kind, generation, number, sum(segments))
            found += [(file, segment, rows) for segment, rows in enumerate(segments)]
            require(all(part in OF_A_TABLE or count == segments[segment] for (part, segment), count in file.items.items()),
                    "%s: a segment has other rows", file.path)
        return found

    def first_side(self, column):
        """The side file that has the dictionary, or the leaves."""
        files = dict(self.divided(column))
        generation = column.get("strings", next(iter(files)))
        require(generation in files, "%s.%s has no side file %d", self.name, column["name"], generation)
        return self.open(column, "side", SIDE, generation, 0, sum(files[generation]))

    def stored(self, column, codec=None):
        """The stored values of all rows, and which of them are not NULL."""
        name = codec or column["own"]
        if (column["name"], name) in self.kept:
            return self.kept[column["name"], name]
        encodings = {encoding["codec"]: encoding for encoding in column["encodings"]}
        require(name in encodings, "%s.%s is not stored in %s; it is in: %s", self.name, column["name"], name,
                ", ".join(encodings))
        number = next((n for n, (its, _) in CODECS.items() if its == name), None)
        require(number, "%s.%s has a codec that this reader does not know: %s", self.name, column["name"], name)
        values, valid = [np.zeros(0, np.int64)], [np.zeros(0, bool)]
        for (file, segment, rows), (side, its, _) in zip(self.files(column, name, ENCODING, number, encodings[name]),
                                                         self.files(column, "side", SIDE, 0, column)):
            try:
                values.append(decode(file.parts[CHUNK, segment], number, rows, self.size(column)))
            except (Refused, ArithmeticError, LookupError, ValueError, struct.error, zlib.error) as error:
                raise Refused("%s: segment %d cannot be decoded: %s" % (file.path, segment, error))
            valid.append(validity(side, its, rows))
            check_bounds(side, its, values[-1], valid[-1])
        self.kept[column["name"], name] = np.concatenate(values), np.concatenate(valid)
        return self.kept[column["name"], name]

    def live_rows(self):
        """The numbers of the rows that were not deleted."""
        last = self.fields["columns"][-1]
        return np.flatnonzero(self.stored(last)[0]) if last.get("live") else np.arange(self.rows)

    def row_of_position(self, position):
        """Rows of this table that others reference by these positions."""
        row, levels = position, self.fields.get("levels")
        if levels:
            key = next(column for column in self.fields["columns"] if column.get("primary_key"))
            prefix, rows = self.first_side(key).array(LEAVES, 0, "<u4").reshape(-1, 2).T.astype(np.int64)
            leaf = np.searchsorted(prefix, position >> levels["rest_bits"], side="right") - 1
            rest = position & (1 << levels["rest_bits"]) - 1
            require(np.all(prefix[leaf] == position >> levels["rest_bits"]) and np.all(rest < rows[leaf]),
                    "a position has no row in table %s", self.name)
            row = (np.cumsum(rows) - rows)[leaf] + rest
        require(np.all((row >= 0) & (row < self.rows)), "a position has no row in table %s", self.name)
        return row

    def texts(self, column, values):
        """Stored values as a statement shows them."""
        if "references" in column:
            other = self.database.table(column["references"]["table"])
            column = other.column(column["references"]["column"])
            values, valid = (array[other.row_of_position(values)] for array in other.stored(column))
            require(valid.all(), "a key references a row without one")
            return other.texts(column, values)
        kind = column["type"]
        if kind == "string":
            strings = self.dictionary(column)
            require(np.all((values >= 0) & (values < len(strings))), "a code of %s.%s is no string", self.name,
                    column["name"])
            return [strings[code] for code in values.tolist()]
        if kind == "bool":
            return ["true" if value else "false" for value in values.tolist()]
        if kind == "decimal":
            return [decimal_text(value, column["scale"]) for value in values.tolist()]
        if kind == "double":
            return list(map(double_text, key_of_double(values).view(np.float64).tolist()))
        if kind == "date":
            return np.datetime_as_string(values.astype("datetime64[D]")).tolist()
        if kind == "timestamp":
            zone = "+00" if column.get("time_zone") else ""
            return [re.sub(r"\.000000$", "", text).replace("T", " ") + zone
                    for text in np.datetime_as_string(values.astype("datetime64[us]")).tolist()]
        return list(map(str, values.tolist()))

    def dictionary(self, column):
        """The strings of a column, in the order of their codes."""
        if column["name"] not in self.texts_kept:
            side = self.first_side(column)
            strings = blocks_of_strings(side) if column.get("dictionary_blocks") else plain_strings(side)
            self.texts_kept[column["name"]] = [string.decode() for string in strings]
        return self.texts_kept[column["name"]]


def validity(side, segment, rows):
    """Bit j of word l of a tile: row 32 j + l is not NULL."""
    if (VALIDITY, segment) not in side.parts:
        return np.ones(rows, bool)
    return (side.array(VALIDITY, segment, "<u4").reshape(-1, 1, 32) >> LANES[:, None] & 1).reshape(-1)[:rows] != 0


def check_bounds(side, segment, values, valid):
    """The least and the greatest value of each tile, without its NULLs."""
    padding = -len(values) % 1024
    values, valid = np.pad(values, (0, padding)).reshape(-1, 1024), np.pad(valid, (0, padding)).reshape(-1, 1024)
    least = np.where(valid, values, 2**63 - 1).min(axis=1)
    greatest = np.where(valid, values, -(2**63)).max(axis=1)
    require(np.array_equal(side.array(BOUNDS, segment, "<i8").reshape(-1, 2), np.stack((least, greatest), axis=1)),
            "%s: tiles of segment %d have other bounds than their values", side.path, segment)


def plain_strings(side):
    starts, data = side.array(STARTS, 0, "<u8").tolist(), side.parts[STRINGS, 0]
    return [data[start:end] for start, end in zip(starts, starts[1:])]


def blocks_of_strings(side):
    """A compressed dictionary: a string shares its beginning with the one before."""
    entries = list(struct.iter_unpack("<QQII", side.parts[BLOCK_STARTS, 0]))
    strings = []
    for (_, start, first, _), (_, end, last, _) in zip(entries, entries[1:]):
        try:
            data, place, string = decompress(side.parts[BLOCKS, 0][start:end]), 0, b""
            lengths, place = low_first(data, place, 2 * (last - first))
            for shared, further in zip(lengths[: last - first], lengths[last - first :]):
                string = string[:shared] + data[place : place + further]
                place += further
                strings.append(string)
            require(place == len(data), "its strings end elsewhere")
        except (Refused, LookupError, ValueError) as error:
            raise Refused("%s: a block of the dictionary cannot be decompressed: %s" % (side.path, error))
    return strings


def low_first(data, place, count):
    """Numbers of 7 bits a byte, the low ones first, and the byte after them."""
    numbers = []
    while len(numbers) < count:
        value, shift = 0, 0
        while data[place] & 128:
            value |= (data[place] & 127) << shift
            place, shift = place + 1, shift + 7
        numbers.append(value | data[place] << shift)
        place += 1
    return numbers, place


def decimal_text(value, scale):
    digits = str(abs(value)).rjust(scale + 1, "0")
    return ("-" if value < 0 else "") + (digits[:-scale] + "." + digits[-scale:] if scale else digits)


def double_text(value):
    """The fewest of 15 to 17 digits, of the least numbers of 1 to 17, that give the number back."""
    fewest = 15 if abs(value) > 2.0**-1022 or value == 0 else 1
    texts = ("%.*g" % (digits, value) for digits in range(fewest, 17))
    text = next((text for text in texts if float(text) == value), "%.17g" % value)
    return text if re.search("[.en]", text) else text + ".0"


# ---- Bitmap indexes.

FORMATS = {"wah64": 1, "wah32": 2, "flat": 3}


def wah(vector, bits, rows, pieces):
    """The rows of a vector, in words of a flag and `bits` bits; `pieces` must say where each 1024 groups begin."""
    fill = vector >> U64(bits) != 0
    ones = vector >> U64(bits - 1) & U64(1) != 0
    length = np.where(fill, vector & U64((1 << bits - 1) - 1), U64(1)).astype(np.int64)
    require(length.sum() == -(-rows // bits), "a vector has too many or too few groups")
    groups = np.repeat(np.where(fill, np.where(ones, U64((1 << bits) - 1), U64(0)), vector), length)
    if pieces is not None:
        begins = np.arange(0, len(groups), 1024)
        word = np.searchsorted(np.cumsum(length), begins, side="right")
        before = begins - (np.cumsum(length) - length)[word]
        require(np.array_equal(pieces[: len(begins)], np.stack((word, before), axis=1)), "a piece begins elsewhere")
    return np.flatnonzero((groups[:, None] >> np.arange(bits).astype(U64) & U64(1)).reshape(-1))


def flat(vector, rows):
    require(len(vector) == -(-rows // 64), "a vector has too many or too few words")
    return np.flatnonzero(np.unpackbits(vector.astype("<u8").view(np.uint8), bitorder="little"))


def index_vectors(table, column):
    """For each vector: what its bin's values are, as text (None: NULL), and its rows, by their numbers in the table."""
    index = column.get("index")
    require(index, "%s.%s has no index", table.name, column["name"])
    bounds = np.array(index["bounds"], np.int64)
    if index.get("exact"):
        labels = table.texts(column, bounds)
    else:
        ends = list(bounds[1:] - 1) + [column["statistics"]["max"]]
        labels = ["%d..%d" % pair for pair in zip(bounds, ends)]
    labels += [None] * (column["statistics"]["nulls"] > 0)
    vectors, first = [[np.zeros(0, np.int64)] for _ in labels], 0
    kind, bits = ("<u4", 31) if index["format"] == "wah32" else ("<u8", 63)
    for file, segment, rows in table.files(column, "index", INDEX, FORMATS[index["format"]], index):
        stream = file.array(WORDS, segment, kind).astype(U64)
        pieces = file.array(PIECES, segment, "<u4").reshape(-1, 2) if (PIECES, segment) in file.parts else None
        entries = file.array(VECTORS, segment, "<u8").reshape(-1, 4).tolist()
        require(len(entries) == len(labels), "%s has %d vectors", file.path, len(entries))
        for found, (start, count, ones, piece) in zip(vectors, entries):
            vector = stream[start : start + count]
            its = flat(vector, rows) if index["format"] == "flat" else wah(
                vector, bits, rows, None if piece == 2**64 - 1 else pieces[piece:])
            require(len(its) == ones and (not ones or its[-1] < rows), "%s: a vector has other rows", file.path)
            found.append(first + its)
        first += rows
    return [(label, np.concatenate(found)) for label, found in zip(labels, vectors)]


# ---- The program.


def csv_cell(text):
    if text is None:
        return ""
    return '"%s"' % text.replace('"', '""') if text == "" or re.search('[,"\r\n]', text) else text


def csv_line(cells):
    return ",".join(map(csv_cell, cells)) + "\n"


def print_rows(table, names, codec, limit, out):
    if not names:
        names = [name for name in table.visible()
                 if not codec or any(encoding["codec"] == codec for encoding in table.columns[name]["encodings"])]
        require(names, "no column of %s is stored in %s", table.name, codec)
    rows, cells = table.live_rows()[:limit], []
    for name in names:
        column = table.column(name)
        values, valid = (array[rows] for array in table.stored(column, codec))
        texts = np.full(len(rows), None, object)
        texts[valid] = table.texts(column, values[valid])
        cells.append(texts)
    out.write(csv_line(names))
    out.writelines(map(csv_line, zip(*cells)))


def print_index(table, name, limit, out):
    live = set(table.live_rows().tolist())
    lines = ((label, str(row)) for label, rows in index_vectors(table, table.column(name)) for row in rows.tolist()
             if row in live)
    out.write(csv_line([name, "row"]))
    out.writelines(map(csv_line, itertools.islice(lines, limit)))


def print_catalogue(database, out):
    out.write("generation %d\n" % database.catalogue["generation"])
    for table in database.tables.values():
        out.write("%s: %d rows\n" % (table.name, table.rows))
        for column in table.columns.values():
            kind = column["type"]
            if kind == "decimal":
                kind += "(%d,%d)" % (column["precision"], column["scale"])
            codecs = ", ".join(encoding["codec"] for encoding in column["encodings"])
            index = "; index %s" % column["index"]["format"] if "index" in column else ""
            out.write("  %-24s %-14s %s%s\n" % (column["name"], kind, codecs, index))


def main():
    parser = argparse.ArgumentParser(description="Prints rows of a Tessera database as CSV, by docs/format.md alone.")
    parser.add_argument("database")
    parser.add_argument("table", nargs="?")
    parser.add_argument("column", nargs="*")
    parser.add_argument("--codec", metavar="NAME")
    parser.add_argument("--rows", metavar="N", type=int)
    parser.add_argument("--index", metavar="COLUMN")
    options = parser.parse_intermixed_args()
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    try:
        with Database(options.database) as database:
            if not options.table:
                print_catalogue(database, sys.stdout)
            elif options.index:
                print_index(database.table(options.table), options.index, options.rows, sys.stdout)
            else:
                print_rows(database.table(options.table), options.column, options.codec, options.rows, sys.stdout)
        return 0
    except BrokenPipeError:  # the reader of a pipe has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (Refused, OSError, UnicodeDecodeError) as error:
        print("reader.py: %s" % error, file=sys.stderr)
    except (LookupError, TypeError, ValueError) as error:
        print("reader.py: %s is not as docs/format.md says: %r" % (options.database, error), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
