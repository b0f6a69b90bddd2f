#!/usr/bin/env python3
"""Makes the ORC files of this folder by pyarrow and pyorc, and their rows as CSV, written from the same Python values:
WRITER-ROWS[-MORE].orc has the rows of ROWS.csv. tests/loader/orc/test_orc_files.c loads both and compares. The files are kept, so that the tests need
neither library; make them again with

    python3 tests/data/orc/make.py tests/data/orc

They were made with pyarrow 26.0.1 (ORC C++ 2.2) and pyorc 0.12.0 (ORC C++ 2.3)."""
import datetime
import decimal
import os
import random
import sys
import zoneinfo

import pyarrow
import pyarrow.orc
import pyorc

folder = sys.argv[1]
D = decimal.Decimal
EPOCH = datetime.datetime(1970, 1, 1)

# Columns of the schema in tests/loader/orc/orc_cases.h, in another order than there.
TYPES = [
    ("flag", pyarrow.bool_()), ("tiny", pyarrow.int8()), ("small", pyarrow.int16()), ("number", pyarrow.int32()),
    ("big", pyarrow.int64()), ("day", pyarrow.date32()), ("moment", pyarrow.timestamp("us")),
    ("price", pyarrow.decimal128(12, 2)), ("fine", pyarrow.decimal128(38, 6)), ("word", pyarrow.string()),
    ("line", pyarrow.string()),
]
NAMES = [name for name, _ in TYPES]


def random_row(random, r):
    words = ["AIR", "RAIL", "SHIP", "TRUCK", "", "über", "REG AIR", "a somewhat longer word"]
    return {
        "flag": random.random() < 0.3, "tiny": random.randint(-128, 127), "small": random.choice([7, 7, 7, -32768, r]),
        "number": r * 3 - 100, "big": random.randint(-2**63, 2**63 - 1) if r % 7 == 0 else r // 10,
        "day": datetime.date(1992, 1, 1) + datetime.timedelta(days=random.randint(0, 2500)),
        "moment": EPOCH + datetime.timedelta(seconds=random.randint(-10**9, 2 * 10**9),
                                             microseconds=random.choice([0, 500000, 123456, 1000, 999999])),
        "price": D(random.randint(-10**9, 10**9)).scaleb(-2), "fine": D(random.randint(-10**15, 10**15)).scaleb(-6),
        "word": random.choice(words), "line": "row %d %s" % (r, "x" * random.randint(0, 40)),
    }


def rows_of(seed, count, nulls):
    """nulls(row, column) says which values are NULL."""
    chooser = random.Random(seed)
    rows = [random_row(chooser, r) for r in range(count)]
    return [{n: None if nulls(r, c) else row[n] for c, n in enumerate(NAMES)} for r, row in enumerate(rows)]


def field(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.strftime("%H:%M:%S.%f").join(["%04d-%02d-%02d " % (value.year, value.month, value.day), ""])
    if isinstance(value, datetime.date):
        return "%04d-%02d-%02d" % (value.year, value.month, value.day)
    if isinstance(value, D):
        return format(value, "f")
    return '"%s"' % value.replace('"', '""') if isinstance(value, str) else str(value)


def write_csv(name, rows):
    with open(os.path.join(folder, name.split("-")[1] + ".csv"), "w", encoding="utf-8") as file:
        file.write(",".join(NAMES) + "\n")
        for row in rows:
            file.write(",".join(field(row[n]) for n in NAMES) + "\n")


def by_pyarrow(name, rows, **options):
    columns = [pyarrow.array([row[n] for row in rows], type) for n, type in TYPES]
    batch = options.pop("rows_a_write", 0)
    with pyarrow.orc.ORCWriter(os.path.join(folder, name + ".orc"), **options) as writer:
        table = pyarrow.table(columns, names=NAMES)
        for first in range(0, len(rows), batch) if batch else [0]:
            writer.write(table.slice(first, batch) if batch else table)
    write_csv(name, rows)


def by_pyorc(name, schema, rows, **options):
    with open(os.path.join(folder, name + ".orc"), "wb") as file:
        with pyorc.Writer(file, schema, struct_repr=pyorc.StructRepr.DICT, **options) as writer:
            for row in rows:
                writer.write(row)


def none(row, column):
    return False


def some(row, column):
    """Another pattern in each column: none, every second, blocks, all, rare ones, and others."""
    return [False, row % 2 == 1, row // 16 % 2 == 0, True, row % 97 == 5, row % 3 != 0, row < 100, row >= 100,
            row % 5 == 4, row % 8 == 0, row * 7919 % 11 < 3][column % 11]


# Both versions, every compression.
for version in ["0.11", "0.12"]:
    for compression in ["uncompressed", "zlib", "snappy", "lz4", "zstd"]:
        by_pyarrow("pyarrow-rows-%s-%s" % (version, compression), rows_of("rows", 60, some), file_version=version,
                   compression=compression, dictionary_key_size_threshold=0.0)
    by_pyarrow("pyarrow-dictionary-%s" % version, rows_of("words", 150, some), file_version=version, compression="zlib",
               dictionary_key_size_threshold=1.0)
    by_pyarrow("pyarrow-full-%s" % version, rows_of("full", 150, none), file_version=version, compression="zlib",
               dictionary_key_size_threshold=0.5)
    # A stripe has at least what is written at once.
    by_pyarrow("pyarrow-stripes-%s" % version, rows_of("stripes", 192, some), file_version=version, compression="zlib",
               stripe_size=1024, rows_a_write=64, batch_size=64, dictionary_key_size_threshold=0.7)

by_pyarrow("pyarrow-empty", [], compression="zlib")
by_pyarrow("pyarrow-null", rows_of("null", 70, lambda row, column: True), compression="zlib")
by_pyarrow("pyarrow-one", rows_of("one", 1, none), compression="zstd")

# Limits of the types; times about 1970 with every kind of fraction.
limits = []
moments = [EPOCH + datetime.timedelta(microseconds=m) for m in
           [0, 1, -1, 999, -999, 1000, -1000, -1001, 999999, -999999, -1000000, -1000001, 1000000, -1500000, -3600000000,
            60000000, 123456789012345, -123456789012345]]
moments += [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), datetime.datetime(1582, 10, 15)]
for r, moment in enumerate(moments):
    low, high = r % 2 == 0, r % 3 == 0
    limits.append({
        "flag": low, "tiny": -128 if low else 127, "small": -32768 if low else 32767,
        "number": -2**31 if low else 2**31 - 1, "big": -2**63 if low else 2**63 - 1 if high else -1,
        "day": moment.date(), "moment": moment,
        "price": D("-9999999999.99") if low else D("9999999999.99") if high else D("0.01"),
        "fine": D("-999999999999.999999") if low else D("999999999999.999999") if high else D("-0.000001"),
        "word": "" if low else "\U0001f600 and \"quotes\", and commas", "line": "y" * (r * 60)})
for version in ["0.11", "0.12"]:
    by_pyarrow("pyarrow-limits-%s" % version, limits, file_version=version, compression="zlib")

# Shapes of integers that the encodings of version 2 are for: short repeats, deltas, patched bases, wide and narrow.
shapes = []
chooser = random.Random("shapes")
for r in range(1200):
    shapes.append({
        "flag": None, "tiny": r // 9 % 100, "small": r % 512 * 3, "number": 10**6 - r * r,
        "big": [r // 40, 1000 + chooser.randint(0, 200) + (2**40 if chooser.random() < 0.02 else 0),
                chooser.randint(-2**62, 2**62)][r // 400],
        "day": datetime.date(1998, 1, 1) + datetime.timedelta(days=r // 3), "moment": EPOCH + datetime.timedelta(hours=r),
        "price": D(r).scaleb(-2), "fine": None, "word": "w%d" % (r // 50), "line": None})
for version in ["0.11", "0.12"]:
    by_pyarrow("pyarrow-shapes-%s" % version, shapes, file_version=version, compression="zlib",
               dictionary_key_size_threshold=1.0)

# What pyarrow cannot write: varchar and char, and columns that no table takes.
rows = rows_of("pyorc", 80, some)
for row in rows:
    row["word"] = None if row["word"] is None else row["word"][:7].ljust(7)  # char(7) is padded
schema = ("struct<flag:boolean,tiny:tinyint,unused_list:array<int>,small:smallint,number:int,big:bigint,"
          "unused_map:map<string,int>,day:date,moment:timestamp,price:decimal(12,2),fine:decimal(18,6),word:char(7),"
          "unused_struct:struct<a:int,b:string>,line:varchar(60),ratio:double,half:float,raw:binary,"
          "either:uniontype<int,string>,instant:timestamp with local time zone>")
for row in rows:
    row.update({"unused_list": [1, 2], "unused_map": {"a": 1}, "unused_struct": {"a": 1, "b": "c"}, "ratio": 0.5, "half": 0.25,
                "raw": b"\x00\x01", "either": 5, "instant": datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)})
    row["moment"] = row["moment"] and row["moment"].replace(tzinfo=datetime.timezone.utc)
by_pyorc("pyorc-types", schema, rows, compression=pyorc.CompressionKind.SNAPPY, dict_key_size_threshold=0.9)
write_csv("pyorc-types", rows)

# Streams of many chunks: a chunk has 256 bytes at most.
schema = ("struct<flag:boolean,tiny:tinyint,small:smallint,number:int,big:bigint,day:date,moment:timestamp,"
          "price:decimal(12,2),fine:decimal(38,6),word:string,line:string>")
rows = rows_of("chunks", 150, some)
for row in rows:
    row["moment"] = row["moment"] and row["moment"].replace(tzinfo=datetime.timezone.utc)
for compression in [pyorc.CompressionKind.NONE, pyorc.CompressionKind.ZLIB, pyorc.CompressionKind.LZ4,
                    pyorc.CompressionKind.ZSTD]:
    name = "pyorc-chunks-" + compression.name.lower()
    by_pyorc(name, schema, rows, compression=compression, compression_block_size=256, memory_block_size=256)
    write_csv(name, rows)

# Timestamps of a zone's wall clock. Since 1996 Berlin has had one rule, which the test gives in a time zone file.
berlin = zoneinfo.ZoneInfo("Europe/Berlin")
rows = rows_of("zone", 90, none)
chooser = random.Random("zone")
for row in rows:
    instant = datetime.datetime(1996, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(
        seconds=chooser.randint(0, 44 * 365 * 86400), microseconds=chooser.choice([0, 250000]))
    row["moment"] = instant
by_pyorc("pyorc-zone", schema, rows, timezone=berlin)
for row in rows:
    row["moment"] = row["moment"].astimezone(berlin).replace(tzinfo=None)
write_csv("pyorc-zone", rows)

# Numbers that --round rounds; the test says what they become.
with pyarrow.orc.ORCWriter(os.path.join(folder, "pyarrow-round.orc"), compression="uncompressed") as writer:
    writer.write(pyarrow.table({
        "row": pyarrow.array(range(1, 9), pyarrow.int32()),
        "ratio": pyarrow.array([2.675, -2.675, 0.005, -0.004, 12345.678, None, 0.0, 1e6], pyarrow.float64()),
        "half": pyarrow.array([0.5, -0.5, 1.25, 2.5, 3.49, None, 0.0, 7.0], pyarrow.float32()),
        "fine": pyarrow.array([D("1.005000"), D("-1.005000"), D("1.004999"), D("0.000001"), D("-0.999999"), None, D("0"),
                               D("7.500000")], pyarrow.decimal128(38, 6)),
        "wild": pyarrow.array([1e300, float("nan"), float("-inf"), 1e9, 99999.994, None, 99999.995, -1e5], pyarrow.float64()),
        "moment": pyarrow.array([i * 10**9 + 999 for i in range(8)], pyarrow.timestamp("ns")),
        "digits": ["1.005", "2", "-7.5", "0", "1e-3", None, "8.25", "9"]}))
