#!/usr/bin/env python3
"""Makes the Parquet files of this folder by pyarrow and DuckDB: WRITER-ROWS[-MORE].parquet has the rows of
tests/data/orc/ROWS.csv, which it reads, and tests/loader/parquet/test_parquet_files.c loads both and compares. Files without such
rows are said below. What no library writes any more is put together here byte by byte. The files are kept, so that the
tests need no library; make them again with

    python3 tests/data/parquet/make.py tests/data/parquet

They were made with pyarrow 26.0.1 and DuckDB 2.0.0."""
import datetime
import decimal
import gzip
import os
import struct
import sys
import zlib

import duckdb
import pyarrow
import pyarrow.csv
import pyarrow.parquet

folder = sys.argv[1]
source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "orc")
D = decimal.Decimal
EPOCH = datetime.datetime(1970, 1, 1)

TYPES = {"flag": pyarrow.bool_(), "tiny": pyarrow.int8(), "small": pyarrow.int16(), "number": pyarrow.int32(),
         "big": pyarrow.int64(), "day": pyarrow.date32(), "moment": pyarrow.timestamp("us"),
         "price": pyarrow.decimal128(12, 2), "fine": pyarrow.decimal128(38, 6), "word": pyarrow.string(),
         "line": pyarrow.string()}


def path_of(name):
    return os.path.join(folder, name + ".parquet")


def rows_of(rows):
    return pyarrow.csv.read_csv(
        os.path.join(source, rows + ".csv"), parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(column_types=TYPES, null_values=[""], strings_can_be_null=True,
                                                   quoted_strings_can_be_null=False))


def by_pyarrow(name, table=None, **options):
    table = table if table is not None else rows_of(name.split("-")[1])
    pyarrow.parquet.write_table(table, path_of(name), **options)


def by_duckdb(name, **options):
    connection = duckdb.connect()
    table = rows_of(name.split("-")[1])
    connection.register("written", table.set_column(8, "fine", table["fine"].cast(pyarrow.decimal128(18, 6))))
    connection.execute("COPY (FROM written) TO '%s' (FORMAT parquet, %s)" % (
        path_of(name), ", ".join("%s %s" % o for o in options.items())))


# Every compression and kind of page; every encoding that pyarrow has.
for codec in ["none", "snappy", "gzip", "zstd", "lz4"]:
    by_pyarrow("pyarrow-rows-%s" % codec, compression=codec, write_page_checksum=True)
    by_pyarrow("pyarrow-rows-v2-%s" % codec, compression=codec, data_page_version="2.0", data_page_size=256)
delta = {n: "DELTA_BINARY_PACKED" for n in ["tiny", "small", "number", "big", "day", "moment"]}
delta.update(word="DELTA_BYTE_ARRAY", line="DELTA_LENGTH_BYTE_ARRAY", flag="RLE")
split = {n: "BYTE_STREAM_SPLIT" for n in ["number", "big", "day", "moment", "price", "fine"]}
for rows in ["full", "stripes", "limits", "shapes"]:
    by_pyarrow("pyarrow-%s-delta" % rows, use_dictionary=False, column_encoding=delta, data_page_version="2.0",
               data_page_size=2000, write_batch_size=64)
by_pyarrow("pyarrow-full-split", use_dictionary=False, column_encoding=split)
by_pyarrow("pyarrow-full-plain", use_dictionary=False, compression="none")
by_pyarrow("pyarrow-stripes-groups", row_group_size=64, data_page_size=64, write_batch_size=16)
by_pyarrow("pyarrow-limits-dictionary", version="2.6")
by_pyarrow("pyarrow-limits-whole", store_decimal_as_integer=True, use_dictionary=False)
by_pyarrow("pyarrow-chunks-fallback", dictionary_pagesize_limit=300, write_batch_size=16, data_page_size=200)
by_pyarrow("pyarrow-full-int96", use_deprecated_int96_timestamps=True)
for rows in ["empty", "null", "one"]:
    by_pyarrow("pyarrow-%s" % rows)
for version in ["v1", "v2"]:
    for codec in ["uncompressed", "zstd", "lz4_raw"]:
        by_duckdb("duckdb-rows-%s-%s" % (version, codec), COMPRESSION=codec, PARQUET_VERSION=version)
    by_duckdb("duckdb-shapes-%s" % version, PARQUET_VERSION=version, COMPRESSION="zstd")

# Types: what no table takes; integers without sign; times of all units. No rows of a text.
moments = [EPOCH + datetime.timedelta(microseconds=m) for m in [0, 1500000, -1500000, 86399999000]]
by_pyarrow("pyarrow-types", pyarrow.table({
    "row": pyarrow.array(range(1, 5), pyarrow.int32()),
    "numbers": pyarrow.array([[1], [], [2, 3], None], pyarrow.list_(pyarrow.int32())),
    "pairs": pyarrow.array([[("a", 1)]] * 4, pyarrow.map_(pyarrow.string(), pyarrow.int32())),
    "both": pyarrow.array([{"a": 1, "b": "c"}] * 4),
    "clock": pyarrow.array([datetime.time(1, 2, 3)] * 4, pyarrow.time64("us")),
    "half": pyarrow.array([1.5] * 4, pyarrow.float16()),
    "fixed": pyarrow.array([b"1234"] * 4, pyarrow.binary(4)),
    "raw": pyarrow.array([b"text", b"\xff\x00", b"", None], pyarrow.binary()),
    "none": pyarrow.nulls(4),
    "key": pyarrow.array([bytes(range(16)), b"\xff" * 16, None, bytes(range(16))], pyarrow.uuid()),
    "u8": pyarrow.array([0, 200, 255, None], pyarrow.uint8()),
    "u16": pyarrow.array([0, 40000, 65535, None], pyarrow.uint16()),
    "u32": pyarrow.array([0, 3 * 10**9, 2**32 - 1, None], pyarrow.uint32()),
    "u64": pyarrow.array([0, 10**18 - 1, 2**64 - 1, None], pyarrow.uint64()),
    "single": pyarrow.array([0.5, -1.25, None, float("inf")], pyarrow.float32()),
    "ratio": pyarrow.array([0.1, -0.0, None, float("nan")], pyarrow.float64()),
    "milli": pyarrow.array(moments, pyarrow.timestamp("ms")),
    "utc": pyarrow.array(moments, pyarrow.timestamp("us", "Europe/Rome")),
    "nano": pyarrow.array([0, 1500000000, -1500000000, 86399999000001], pyarrow.timestamp("ns")),
    "wide": pyarrow.array([D("1.5"), D("-12345678901234567890.25"), None, D("0")], pyarrow.decimal128(30, 2)),
}))

# Numbers that --round rounds, as in tests/data/orc/make.py.
by_pyarrow("pyarrow-round", pyarrow.table({
    "row": pyarrow.array(range(1, 9), pyarrow.int32()),
    "ratio": pyarrow.array([2.675, -2.675, 0.005, -0.004, 12345.678, None, 0.0, 1e6], pyarrow.float64()),
    "half": pyarrow.array([0.5, -0.5, 1.25, 2.5, 3.49, None, 0.0, 7.0], pyarrow.float32()),
    "fine": pyarrow.array([D("1.005000"), D("-1.005000"), D("1.004999"), D("0.000001"), D("-0.999999"), None, D("0"),
                           D("7.500000")], pyarrow.decimal128(38, 6))}))

# ---- Byte by byte ----


class Long(int):
    """An i64."""


def base_128(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def thrift(fields):
    """A struct of {id: value}: int is i32, Long, bool, str, dict: a struct, list of these."""
    out, last = b"", 0
    for i, value in sorted(fields.items()):
        kind, text = encode(value)
        out += bytes([i - last << 4 | kind]) + text
        last = i
    return out + b"\0"


def encode(value):
    if isinstance(value, bool):
        return (1 if value else 2), b""
    if isinstance(value, int):
        return (6 if isinstance(value, Long) else 5), base_128(value * 2 if value >= 0 else -value * 2 - 1)
    if isinstance(value, str):
        return 8, base_128(len(value.encode())) + value.encode()
    if isinstance(value, dict):
        return 12, thrift(value)
    items = [encode(v) for v in value]
    return 9, bytes([len(items) << 4 | items[0][0]]) + b"".join(text for _, text in items)  # fewer than 15


def page(kind, header, plain, packed, crc=False):
    fields = {1: kind, 2: len(plain), 3: len(packed), {0: 5, 2: 7}[kind]: header}
    if crc:
        value = zlib.crc32(packed)
        fields[4] = value - 2**32 if value >= 2**31 else value
    return thrift(fields) + packed


def hadoop(plain):
    """Two frames."""
    half = len(plain) // 2
    return b"".join(struct.pack(">II", len(part), len(packed)) + packed for part in (plain[:half], plain[half:])
                    for packed in [pyarrow.compress(part, "lz4_raw", asbytes=True)])


def raw_lz4(plain):
    return pyarrow.compress(plain, "lz4_raw", asbytes=True)


def gzip_named(plain):
    """With a name in its header, as the program gzip writes."""
    packed = gzip.compress(plain, mtime=0)
    return packed[:3] + b"\x08" + packed[4:10] + b"name\0" + packed[10:]


def by_hand(name, schema, columns, rows):
    """columns: lists of pages, codec, encodings; one row group."""
    out, chunks = b"PAR1", []
    for element, (pages, codec, plain_bytes) in zip(schema, columns):
        first, offsets = len(out), []
        for text in pages:
            offsets.append(len(out))
            out += text
        meta = {1: element[1], 2: [0, 3], 3: [element[4]], 4: codec, 5: Long(rows), 6: Long(plain_bytes),
                7: Long(len(out) - first), 9: Long(offsets[-1])}
        if len(offsets) > 1:
            meta[11] = Long(offsets[0])
        chunks.append({2: Long(first), 3: meta})
    footer = thrift({1: 1, 2: [{4: "root", 5: len(schema)}] + schema, 3: Long(rows),
                     4: [{1: chunks, 2: Long(len(out)), 3: Long(rows)}], 6: "by hand"})
    with open(path_of(name), "wb") as file:
        file.write(out + footer + struct.pack("<I", len(footer)) + b"PAR1")


# Levels as bits from the highest one on: rows 1, 4 and 9 are NULL.
ROWS = 10
levels = bytes([0b01101111, 0b01000000])
present = [r for r in range(ROWS) if r not in (0, 3, 8)]
numbers = b"".join(struct.pack("<i", r * 1000 - 2000) for r in present)
# Decimals as bytes of different lengths, one with 20 bytes; a dictionary of the older name, with entries of width 2.
decimals = [b"\x01", b"\xff", b"\x00\x80", b"\xff" * 18 + b"\xfe\xd4", b"", b"\x7f\xff", b"\x80\x00", b"\x00" * 3 + b"\x07",
            b"\x0c\x35", b"\xf3"]
packed = b"".join(struct.pack("<I", len(d)) + d for d in decimals)
words = b"".join(struct.pack("<I", len(w)) + w for w in [b"one", b"two", "drei ü".encode()])
entries = bytes([2, 2 << 1 | 1]) + sum((r % 3) << 2 * r for r in range(16)).to_bytes(4, "little")
plain_page = {1: ROWS, 2: 0, 3: 4, 4: 4}
by_hand("hand-old", [
    {1: 1, 3: 1, 4: "number"}, {1: 1, 3: 1, 4: "again"}, {1: 6, 3: 0, 4: "price", 6: 5, 7: 2, 8: 9},
    {1: 6, 3: 0, 4: "word", 6: 0}], [
    ([page(0, plain_page, levels + numbers, hadoop(levels + numbers))], 5, 100),
    ([page(0, plain_page, levels + numbers, raw_lz4(levels + numbers))], 5, 100),
    ([page(0, {1: ROWS, 2: 0, 3: 3, 4: 3}, packed, gzip_named(packed), True)], 2, 100),
    ([page(2, {1: 3, 2: 2}, words, words), page(0, {1: ROWS, 2: 2, 3: 3, 4: 3}, entries, entries)], 0, 100)], ROWS)
brotli = b"\x0b\x02\x80abcde\x03"
by_hand("hand-brotli", [{1: 1, 3: 0, 4: "number"}], [([page(0, {1: 1, 2: 0, 3: 3, 4: 3}, b"abcd", brotli)], 4, 4)], 1)
# A dictionary in a column of the type without values, of INT96, which has two numbers a value.
times = struct.pack("<qi", 0, 2440588) * 3
entries = struct.pack("<I", 2) + bytes([2 << 1, 0])
by_hand("hand-nulls", [{1: 3, 3: 1, 4: "none", 10: {11: {}}}], [
    ([page(2, {1: 3, 2: 0}, times, times), page(0, {1: 2, 2: 8, 3: 3, 4: 3}, entries, entries)], 0, 50)], 2)
# A decimal of fewer digits than others of its name.
price = struct.pack("<i", 125)
by_hand("hand-narrow", [{1: 1, 3: 0, 4: "price", 6: 5, 7: 2, 8: 3}],
        [([page(0, {1: 1, 2: 0, 3: 3, 4: 3}, price, price)], 0, 50)], 1)
