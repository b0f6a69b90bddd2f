#!/usr/bin/env python3
"""Loads ORC files of many shapes that pyarrow and pyorc write, and compares each row with what these libraries read.

    test_orc_peers.py TESSERA [SEED]

Ends with 77 (skipped) where neither library is installed."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "columnar"))
from columnar_peers import COLUMNS, UTC, Peers, Shapes, imported  # noqa: E402

pyarrow, pyorc = imported("pyarrow", ".orc"), imported("pyorc")
if not pyarrow and not pyorc:
    sys.exit(77)

peers = Peers(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20261122, COLUMNS)
rng, shapes = peers.rng, Shapes(peers.rng)


def write_pyarrow(path, rows, options):
    types = dict(flag=pyarrow.bool_(), tiny=pyarrow.int8(), small=pyarrow.int16(), number=pyarrow.int32(),
                 big=pyarrow.int64(), day=pyarrow.date32(), moment=pyarrow.timestamp("us"),
                 price=pyarrow.decimal128(rng.choice([18, 38]), 3), word=pyarrow.string(), line=pyarrow.string())
    table = pyarrow.table({n: pyarrow.array([row[n] for row in rows], types[n]) for n in COLUMNS})
    piece = options.pop("piece")
    with pyarrow.orc.ORCWriter(path, **options) as writer:
        for first in range(0, max(len(rows), 1), piece):
            writer.write(table.slice(first, piece))


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


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.orc")
        for count in [0, 1, 7, 8, 511, 513, 1000, 4096, 4097, 9000, 20011]:
            if pyarrow:
                for version in ["0.11", "0.12"]:
                    options = dict(file_version=version, compression=rng.choice(["uncompressed", "zlib", "snappy", "lz4",
                                                                                "zstd"]),
                                   dictionary_key_size_threshold=rng.choice([0.0, 0.5, 1.0]),
                                   stripe_size=rng.choice([1024, 64 << 20]), piece=rng.choice([300, 4096, 10**6]))
                    write_pyarrow(path, shapes.rows(count), dict(options))
                    peers.compare("pyarrow, %d rows, %s" % (count, options), path, folder,
                                  pyarrow.orc.ORCFile(path).read().to_pylist())
            if pyorc:
                options = dict(compression=rng.choice([pyorc.CompressionKind.NONE, pyorc.CompressionKind.ZLIB,
                                                       pyorc.CompressionKind.LZ4, pyorc.CompressionKind.ZSTD,
                                                       pyorc.CompressionKind.SNAPPY]),
                               compression_block_size=256, memory_block_size=256,
                               dict_key_size_threshold=rng.choice([0.0, 1.0]))
                write_pyorc(path, shapes.rows(count), options)
                peers.compare("pyorc, %d rows, %s" % (count, options), path, folder, read_pyorc(path))
    print("%d files of %s agree; seed %d" % (peers.files, " and ".join(
        "%s %s" % (m.__name__, m.__version__) for m in (pyarrow, pyorc) if m), peers.seed))


main()
