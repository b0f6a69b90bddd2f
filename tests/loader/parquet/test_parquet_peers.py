#!/usr/bin/env python3
"""Loads Parquet files of many shapes that pyarrow and DuckDB write, in all encodings, pages and compressions that they
have, and compares each row with those that were written.

    test_parquet_peers.py TESSERA [SEED]

Ends with 77 (skipped) where pyarrow is not installed."""
import datetime
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "columnar"))
from columnar_peers import COLUMNS, D, EPOCH, Peers, Shapes, imported  # noqa: E402

pyarrow = imported("pyarrow", ".parquet", needed=True)
duckdb = imported("duckdb")

columns = dict(COLUMNS, u8="INT", u16="INT", u32="BIGINT", u64="DECIMAL(18,0)", ratio="DOUBLE", half="DOUBLE",
               milli="TIMESTAMP", nano="TIMESTAMP", cents="DECIMAL(9,2)")
peers = Peers(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20261128, columns)
rng = peers.rng


def more(shapes):
    u8, u16, u32, u64 = (shapes.integer(bits, 0) for bits in (8, 16, 32, 59))
    real, milli, nano, cents = shapes.integer(50), shapes.integer(40), shapes.integer(50), shapes.integer(28)
    return {"u8": u8, "u16": u16, "u32": u32, "u64": u64, "ratio": lambda r: real(r) / 64, "half": lambda r: real(r) % 4096 / 8,
            "milli": lambda r: EPOCH + datetime.timedelta(milliseconds=milli(r)),
            "nano": lambda r: EPOCH + datetime.timedelta(microseconds=nano(r)),
            "cents": lambda r: D(cents(r)).scaleb(-2)}


def table_of(rows, wide):
    types = dict(flag=pyarrow.bool_(), tiny=pyarrow.int8(), small=pyarrow.int16(), number=pyarrow.int32(),
                 big=pyarrow.int64(), day=pyarrow.date32(), moment=pyarrow.timestamp("us", rng.choice([None, "UTC"])),
                 price=pyarrow.decimal128(rng.choice([18, 38]) if wide else 18, 3), word=pyarrow.string(),
                 line=pyarrow.string(), u8=pyarrow.uint8(), u16=pyarrow.uint16(), u32=pyarrow.uint32(),
                 u64=pyarrow.uint64(), ratio=pyarrow.float64(), half=pyarrow.float32(), milli=pyarrow.timestamp("ms"),
                 nano=pyarrow.timestamp("ns"), cents=pyarrow.decimal128(9, 2))
    arrays = {}
    for n in columns:
        values = [row[n] for row in rows]
        if n == "nano":  # datetimes have no nanoseconds
            values = [None if v is None else (v - EPOCH) // datetime.timedelta(microseconds=1) * 1000 for v in values]
        arrays[n] = pyarrow.array(values, types[n])
    return pyarrow.table(arrays)


def encodings():
    """An encoding for each column, or none, when dictionaries are used."""
    choices = {"DELTA_BINARY_PACKED": "tiny small number big day moment milli u8 u16 u32 u64",
               "BYTE_STREAM_SPLIT": "number big ratio half day moment price cents u32 u64",
               "DELTA_LENGTH_BYTE_ARRAY": "word line", "DELTA_BYTE_ARRAY": "word line", "RLE": "flag", "PLAIN": " ".join(columns)}
    chosen = {n: rng.choice([e for e, names in choices.items() if n in names.split()]) for n in columns}
    return {n: e for n, e in chosen.items() if e != "RLE" or rng.random() < 0.7}


def write_pyarrow(path, rows):
    options = dict(compression=rng.choice(["none", "snappy", "gzip", "zstd", "lz4"]),
                   version=rng.choice(["1.0", "2.4", "2.6"]), data_page_version=rng.choice(["1.0", "2.0"]),
                   row_group_size=rng.choice([100, 3000, 10**6]), data_page_size=rng.choice([256, 10000, 1 << 20]),
                   write_page_checksum=rng.random() < 0.5, store_decimal_as_integer=rng.random() < 0.5,
                   write_batch_size=rng.choice([64, 1024]), use_deprecated_int96_timestamps=rng.random() < 0.2,
                   dictionary_pagesize_limit=rng.choice([200, 1 << 20]))
    if rng.random() < 0.5:
        options.update(use_dictionary=False, column_encoding=encodings())
        if options["store_decimal_as_integer"]:
            options["column_encoding"].update(price="PLAIN", cents="PLAIN")
        if options["use_deprecated_int96_timestamps"]:
            options["column_encoding"].update(moment="PLAIN", milli="PLAIN", nano="PLAIN")
    if options["version"] != "2.6" and not options["use_deprecated_int96_timestamps"]:
        options.update(coerce_timestamps="us")
    pyarrow.parquet.write_table(table_of(rows, True), path, **options)
    return options


def write_duckdb(path, rows):
    options = dict(COMPRESSION=rng.choice(["uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "lz4"]),
                   PARQUET_VERSION=rng.choice(["V1", "V2"]), ROW_GROUP_SIZE=rng.choice([2048, 100000]))
    if rng.random() < 0.3:
        options["DICTIONARY_SIZE_LIMIT"] = 1
    connection = duckdb.connect()
    connection.register("written", table_of(rows, False))
    connection.execute("COPY (FROM written) TO '%s' (FORMAT parquet, %s)" % (path, ", ".join("%s %s" % o for o in
                                                                                        options.items())))
    return options


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.parquet")
        for count in [0, 1, 7, 8, 511, 513, 1000, 4096, 4097, 9000, 20011]:
            for write in [write_pyarrow] * 3 + [write_duckdb] * (2 if duckdb else 0):
                rows = Shapes(rng).rows(count, more)
                options = write(path, rows)
                peers.compare("%s, %d rows, %s" % (write.__name__, count, options), path, folder, rows)
    print("%d files of pyarrow %s%s agree; seed %d" % (
        peers.files, pyarrow.__version__, " and duckdb " + duckdb.__version__ if duckdb else "", peers.seed))


main()
