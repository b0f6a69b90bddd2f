"""Zstandard's frames (RFC 8878), which compressed dictionaries consist of: for a Python without a module for them.

    decompress(bytes) -> bytes

A frame is blocks. A block is literals, in Huffman codes, and sequences: so many of the literals, then a copy of earlier
output. Numbers of a sequence are symbols of finite state entropy (FSE) with further bits. Both kinds of codes are read
from the end of their bytes to the beginning. Checksums of frames are not looked at: every part of a file has its own.
"""

# By code: the least number, and how many bits are added to it.
LITERAL_LENGTHS = [(i, 0) for i in range(16)] + [
    (16, 1), (18, 1), (20, 1), (22, 1), (24, 2), (28, 2), (32, 3), (40, 3), (48, 4), (64, 6)
] + [(1 << i, i) for i in range(7, 17)]
MATCH_LENGTHS = [(i + 3, 0) for i in range(32)] + [
    (35, 1), (37, 1), (39, 1), (41, 1), (43, 2), (47, 2), (51, 3), (59, 3), (67, 4), (83, 4), (99, 5)
] + [((1 << i) + 3, i) for i in range(7, 17)]
OFFSETS = [(1 << i, i) for i in range(32)]


class Backwards:
    """Bits from the end of some bytes; the highest bit that is set is their end, and zeros precede the first."""

    def __init__(self, data):
        if not data or not data[-1]:
            raise ValueError("a stream of zstd has no end")
        self.data, self.place = data, 8 * len(data) - 9 + data[-1].bit_length()

    def take(self, bits):
        self.place -= bits
        first = max(self.place, 0)
        found = int.from_bytes(self.data[first >> 3 : (first >> 3) + 8], "little") >> (first & 7)
        return (found << first - self.place) & (1 << bits) - 1


def fse_counts(data, place):
    """The description of a table: logarithm of its size, a count for each symbol (-1: less than one), the next byte."""
    bits = int.from_bytes(data[place : place + 300], "little")
    log, used, counts = (bits & 15) + 5, 4, []
    left = 1 << log
    while left > 0:
        width = (left + 1).bit_length()
        value = bits >> used & (1 << width) - 1
        low, spare = value & (1 << width - 1) - 1, (1 << width) - 2 - left
        if low < spare:  # these values take one bit less
            value, width = low, width - 1
        elif value >= 1 << width - 1:
            value -= spare
        used += width
        counts.append(value - 1)
        left -= abs(value - 1)
        while value == 1:  # a count of 0 is followed by how many more there are
            more = bits >> used & 3
            used += 2
            counts += [0] * more
            value = 1 if more == 3 else 0
    return log, counts, place + (used + 7) // 8


def fse_table(log, counts):
    """(symbol, bits to read, what to add to them for the next state) for each state."""
    size = 1 << log
    symbols, high, place = [None] * size, size, 0
    for symbol, count in enumerate(counts):
        if count == -1:
            high -= 1
            symbols[high] = symbol
    for symbol, count in enumerate(counts):
        for _ in range(count):
            symbols[place] = symbol
            place = place + (size >> 1) + (size >> 3) + 3 & size - 1
            while place >= high:
                place = place + (size >> 1) + (size >> 3) + 3 & size - 1
    following, table = [abs(count) for count in counts], []
    for symbol in symbols:
        bits = log + 1 - following[symbol].bit_length()
        table.append((symbol, bits, (following[symbol] << bits) - size))
        following[symbol] += 1
    return table


DEFAULTS = [fse_table(6, [4, 3] + [2] * 11 + [1] * 3 + [2] * 9 + [3, 2] + [1] * 5 + [-1] * 4),
            fse_table(5, [1] * 6 + [2] * 3 + [1] * 15 + [-1] * 5),
            fse_table(6, [1, 4, 3] + [2] * 6 + [1] * 37 + [-1] * 7)]


def huffman_table(data, place):
    """(symbol, bits) for each value of the most bits that a code has; their number; the next byte."""
    head, weights = data[place], []
    place += 1
    if head >= 128:
        end = place + (head - 126) // 2
        weights = [part for byte in data[place:end] for part in (byte >> 4, byte & 15)][: head - 127]
    else:
        end = place + head
        log, counts, place = fse_counts(data, place)
        table, bits = fse_table(log, counts), Backwards(data[place:end])
        states = [bits.take(log), bits.take(log)]
        while bits.place >= 0:  # two states take turns until no bits are left
            symbol, count, base = table[states[0]]
            weights.append(symbol)
            states = [states[1], base + bits.take(count)]
        weights.append(table[states[0]][0])
    total = sum(1 << weight >> 1 for weight in weights)
    most = total.bit_length()
    weights.append(((1 << most) - total).bit_length())  # the last one makes the sum a power of two
    codes = []
    for weight in range(1, most + 1):
        for symbol, its in enumerate(weights):
            if its == weight:
                codes += [(symbol, most + 1 - weight)] * (1 << weight - 1)
    return codes, most, end


def huffman(data, count, codes, most):
    bits, out = Backwards(data), bytearray()
    window = bits.take(most)
    for _ in range(count):
        symbol, used = codes[window]
        out.append(symbol)
        window = (window << used | bits.take(used)) & (1 << most) - 1
    return out


def literals(block, state):
    """The literals of a block, and the byte after them."""
    kind, form = block[0] & 3, block[0] >> 2 & 3
    if kind < 2:  # as they are, or one byte many times
        head = (1, 2, 1, 3)[form]
        size = int.from_bytes(block[:head], "little") >> (4 if form & 1 else 3)
        return (block[head : head + size], head + size) if kind == 0 else (block[head : head + 1] * size, head + 1)
    head, width = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
    fields = int.from_bytes(block[:head], "little") >> 4
    size, end = fields & (1 << width) - 1, head + (fields >> width)
    if kind == 2:
        codes, most, head = huffman_table(block, head)
        state["huffman"] = codes, most
    if form == 0:
        return huffman(block[head:end], size, *state["huffman"]), end
    out, first, quarter = bytearray(), head + 6, (size + 3) // 4
    for i in range(4):
        last = end if i == 3 else first + int.from_bytes(block[head + 2 * i : head + 2 * i + 2], "little")
        out += huffman(block[first:last], size - 3 * quarter if i == 3 else quarter, *state["huffman"])
        first = last
    return out, end


def compressed(block, out, state):
    text, place = literals(block, state)
    count = block[place]
    place += 1
    if count == 255:
        count, place = int.from_bytes(block[place : place + 2], "little") + 0x7F00, place + 2
    elif count >= 128:
        count, place = (count - 128 << 8) + block[place], place + 1
    if count:
        modes, place = block[place], place + 1
        for i, name in enumerate(("literals", "offsets", "matches")):
            mode = modes >> 6 - 2 * i & 3
            if mode == 0:
                state[name] = DEFAULTS[i]
            elif mode == 1:
                state[name], place = [(block[place], 0, 0)], place + 1
            elif mode == 2:
                log, counts, place = fse_counts(block, place)
                state[name] = fse_table(log, counts)
        sequences(Backwards(block[place:]), count, text, out, state)
    else:
        out += text


def sequences(bits, count, text, out, state):
    tables, used, recent = (state["literals"], state["offsets"], state["matches"]), 0, state["recent"]
    states = [bits.take(len(table).bit_length() - 1) for table in tables]
    for i in range(count):
        entries = [table[at] for table, at in zip(tables, states)]
        offset, match, length = (base + bits.take(more) for base, more in (
            OFFSETS[entries[1][0]], MATCH_LENGTHS[entries[2][0]], LITERAL_LENGTHS[entries[0][0]]))
        which = offset - 1 + (length == 0)
        if offset > 3:
            distance = offset - 3
        else:  # one of the last three, or the last one less 1
            distance = recent.pop(which) if which < 3 else recent[0] - 1
        recent[:] = [distance] + recent[:2]
        out += text[used : used + length]
        used += length
        if not 0 < distance <= len(out):
            raise ValueError("a match of zstd begins before its frame")
        while match > 0:
            piece = out[len(out) - distance :][:match]
            out += piece
            match -= len(piece)
        if i + 1 < count:
            for k in (0, 2, 1):
                states[k] = entries[k][2] + bits.take(entries[k][1])
    out += text[used:]


def decompress(data):
    whole, place = bytearray(), 0
    while place < len(data):
        if int.from_bytes(data[place : place + 4], "little") != 0xFD2FB528:
            raise ValueError("a frame of zstd has another magic number")
        flags = data[place + 4]
        single = flags >> 5 & 1
        place += 5 + (1 - single) + (0, 1, 2, 4)[flags & 3] + (single, 2, 4, 8)[flags >> 6]
        out, state, last = bytearray(), {"recent": [1, 4, 8]}, 0
        while not last:
            if place + 3 > len(data):
                raise ValueError("a frame of zstd ends early")
            head = int.from_bytes(data[place : place + 3], "little")
            last, kind, size, place = head & 1, head >> 1 & 3, head >> 3, place + 3
            if kind == 0:
                out += data[place : place + size]
            elif kind == 1:
                out += data[place : place + 1] * size
            elif kind == 2:
                compressed(data[place : place + size], out, state)
            place += 1 if kind == 1 else size
        whole += out
        place += 4 * (flags >> 2 & 1)
    return bytes(whole)
