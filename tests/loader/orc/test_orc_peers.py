#!/usr/bin/env python3
"""Loads ORC files of many shapes that pyarrow and pyorc write, and compares each row with what these libraries read.

    test_orc_peers.py TESSERA [SEED]

Ends with 77 (skipped) where neither library is installed."""
import csv
import datetime
import decimal
import io
import os
import random
import subprocess
import sys
import tempfile

try:
    import pyarrow
    import pyarrow.orc
except ImportError:
    pyarrow = None
try:
    import pyorc
except ImportError:
    pyorc = None

for name, module in (("pyarrow", pyarrow), ("pyorc", pyorc)):
    if not module:
        print("[  NOT RUN ] %s is not installed (pip install %s)" % (name, name))
if not pyarrow and not pyorc:
    sys.exit(77)

tessera = sys.argv[1]
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261122
rng = random.Random(seed)
D = decimal.Decimal
UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1)

SCHEMA = ("CREATE TABLE t (flag BOOLEAN, tiny INT, small INT, number INT, big BIGINT, day DATE, moment TIMESTAMP, "
          "price DECIMAL(18,3), word TEXT, line TEXT)")
NAMES = ["flag", "tiny", "small", "number", "big", "day", "moment", "price", "word", "line"]

# Shapes of integers of some width, as functions of the row.
def integer_shape(bits):
    low, high = -2**(bits - 1), 2**(bits - 1) - 1
    step, base, run = rng.randint(-100, 100), rng.randint(low // 2, high // 2), rng.randint(1, 700)
    narrow = 2**rng.randint(0, bits - 2)
    clip = lambda v: max(low, min(high, v))
    return rng.choice([
        lambda r: rng.randint(low, high),
        lambda r: clip(base + r * step),
        lambda r: clip(base + r // run),
        lambda r: clip(base // 2 + rng.randint(0, narrow)),
        lambda r: clip(rng.randint(0, 200) + (high // 3 if rng.random() < 0.03 else 0)),
        lambda r: base if r % run else low,
        lambda r: clip(r * r * (1 if step > 0 else -1)),
        lambda r: rng.choice([low, high, 0, -1, 1]),
    ])


def null_shape():
    run, share = rng.randint(1, 50), rng.random()
    return rng.choice([lambda r: False, lambda r: False, lambda r: True, lambda r: rng.random() < share,
                       lambda r: r // run % 2 == 0, lambda r: r % run == 0])


def value_shapes():
    words = ["w%d" % i if i % 5 else "ü" * (i % 7) for i in range(rng.choice([1, 2, 30, 5000]))]
    date, moment, price = integer_shape(20), integer_shape(46), integer_shape(rng.choice([16, 40, 59]))
    fraction = rng.choice([1, 1000, 1000000])
    return {
        "flag": lambda r: rng.random() < 0.5, "tiny": integer_shape(8), "small": integer_shape(16),
        "number": integer_shape(32), "big": integer_shape(64),
        "day": lambda r: datetime.date(1970, 1, 1) + datetime.timedelta(days=date(r)),
        # one second before 1970 is where ORC's files are ambiguous
        "moment": lambda r: EPOCH + datetime.timedelta(microseconds=max(2000000, abs(moment(r)) // fraction * fraction)
                                                       * (1 if r % 3 else -1)),
        "price": lambda r: D(price(r)).scaleb(-3),
        "word": lambda r: rng.choice(words), "line": lambda r: "%d:%s" % (r, "z" * rng.randint(0, 30)),
    }


def make_rows(count):
    values, nulls = value_shapes(), {n: null_shape() for n in NAMES}
    return [{n: None if nulls[n](r) else values[n](r) for n in NAMES} for r in range(count)]


def write_pyarrow(path, rows, options):
    types = dict(flag=pyarrow.bool_(), tiny=pyarrow.int8(), small=pyarrow.int16(), number=pyarrow.int32(),
                 big=pyarrow.int64(), day=pyarrow.date32(), moment=pyarrow.timestamp("us"),
                 price=pyarrow.decimal128(rng.choice([18, 38]), 3), word=pyarrow.string(), line=pyarrow.string())
    table = pyarrow.table({n: pyarrow.array([row[n] for row in rows], types[n]) for n in NAMES})
    piece = options.pop("piece")
    with pyarrow.orc.ORCWriter(path, **options) as writer:
        for first in range(0, max(len(rows), 1), piece):
            writer.write(table.slice(first, piece))


def read_pyarrow(path):
    return pyarrow.orc.ORCFile(path).read().to_pylist()


def write_pyorc(path, rows, options):
    schema = ("struct<flag:boolean,tiny:tinyint,small:smallint,number:int,big:bigint,day:date,moment:timestamp,"
              "price:decimal(18,3),word:varchar(100),line:string>")
    with open(path, "wb") as file:
        with pyorc.Writer(file, schema, struct_repr=pyorc.StructRepr.DICT, **options) as writer:
            for row in rows:
                writer.write({n: v.replace(tzinfo=UTC) if n == "moment" and v else v for n, v in row.items()})


def read_pyorc(path):
    with open(path, "rb") as file:
        rows = list(pyorc.Reader(file, struct_repr=pyorc.StructRepr.DICT))
    for row in rows:
        row["moment"] = row["moment"] and row["moment"].astimezone(UTC).replace(tzinfo=None)
    return rows


def shown(name, value):
    """As tessera sql writes CSV."""
    if value is None:
        return ""
    if name == "flag":
        return "true" if value else "false"
    if name == "moment":
        text = "%04d-%02d-%02d %02d:%02d:%02d" % value.timetuple()[:6]
        return text + (".%06d" % value.microsecond if value.microsecond else "")
    if name == "price":
        return format(value.quantize(D("0.001")), "f")
    return str(value)


def load(path, folder, threads):
    database, schema = os.path.join(folder, "db"), os.path.join(folder, "t.sql")
    with open(schema, "w") as file:
        file.write(SCHEMA)
    loaded = subprocess.run([tessera, "load", "--force", "--db", database, "--schema", schema, "--threads", str(threads),
                             "t=" + path], capture_output=True, text=True)
    if loaded.returncode:
        sys.exit("%s: %s" % (path, loaded.stderr))
    answer = subprocess.run([tessera, "sql", "--db", database, "--device", "cpu", "--format", "csv", "select * from t"],
                            capture_output=True, text=True, check=True).stdout
    return list(csv.reader(io.StringIO(answer)))[1:]


def compare(what, path, folder, read):
    expected = [[shown(n, row[n]) for n in NAMES] for row in read(path)]
    found = load(path, folder, rng.choice([1, 2, 5]))
    if found == expected:
        return
    for r, (x, y) in enumerate(zip(found, expected)):
        for n, a, b in zip(NAMES, x, y):
            if a != b:
                sys.exit("seed %d, %s, row %d, column %s: %r instead of %r" % (seed, what, r + 1, n, a, b))
    sys.exit("seed %d, %s: %d rows instead of %d" % (seed, what, len(found), len(expected)))


def main():
    files = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.orc")
        for count in [0, 1, 7, 8, 511, 513, 1000, 4096, 4097, 9000, 20011]:
            if pyarrow:
                for version in ["0.11", "0.12"]:
                    options = dict(file_version=version, compression=rng.choice(["uncompressed", "zlib", "snappy", "lz4",
                                                                                "zstd"]),
                                   dictionary_key_size_threshold=rng.choice([0.0, 0.5, 1.0]),
                                   stripe_size=rng.choice([1024, 64 << 20]), piece=rng.choice([300, 4096, 10**6]))
                    write_pyarrow(path, make_rows(count), dict(options))
                    compare("pyarrow, %d rows, %s" % (count, options), path, folder, read_pyarrow)
                    files += 1
            if pyorc:
                options = dict(compression=rng.choice([pyorc.CompressionKind.NONE, pyorc.CompressionKind.ZLIB,
                                                       pyorc.CompressionKind.LZ4, pyorc.CompressionKind.ZSTD,
                                                       pyorc.CompressionKind.SNAPPY]),
                               compression_block_size=256, memory_block_size=256,
                               dict_key_size_threshold=rng.choice([0.0, 1.0]))
                write_pyorc(path, make_rows(count), options)
                compare("pyorc, %d rows, %s" % (count, options), path, folder, read_pyorc)
                files += 1
    print("%d files of %s agree; seed %d" % (files, " and ".join(
        "%s %s" % (m.__name__, m.__version__) for m in (pyarrow, pyorc) if m), seed))


main()
