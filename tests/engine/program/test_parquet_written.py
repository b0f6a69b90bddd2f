#!/usr/bin/env python3
"""Reads Parquet files that COPY writes with pyarrow and DuckDB: their values, and the types, statistics, checksums and
encodings that pyarrow finds in them.

    test_parquet_written.py TESSERA [SEED]

Ends with 77 (skipped) where pyarrow is not installed."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from written_peers import QUERY, Written, imported  # noqa: E402

pyarrow = imported("pyarrow", ".compute", ".parquet", needed=True)
duckdb = imported("duckdb")

tessera, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20261128
TYPES = dict(k="int64", flag="bool", big="int64", day="date32[day]", moment="timestamp[us]", price="decimal128(18, 3)",
             word="string", line="string", ratio="double", computed="string")


def check_file(written, what, path, rows, codec):
    file = pyarrow.parquet.ParquetFile(path, page_checksum_verification=True)
    types = {f.name: str(f.type) for f in file.schema_arrow}
    if types != TYPES:
        written.fail(what, types)
    if not file.metadata.created_by.startswith("tessera version "):
        written.fail(what, file.metadata.created_by)
    written.check_values(what, file.read().to_pylist(), rows)
    for g in range(file.metadata.num_row_groups):
        group, table = file.metadata.row_group(g), file.read_row_group(g)
        for c, name in enumerate(TYPES):
            chunk, values = group.column(c), table.column(name)
            said = chunk.statistics
            least, most = pyarrow.compute.min_max(values).as_py().values()
            if chunk.compression != codec or said.null_count != values.null_count:
                written.fail(what, name, chunk)
            if said.has_min_max != (least is not None) or (said.has_min_max and (said.min, said.max) != (least, most)):
                written.fail(what, name, "is from", least, "to", most, said)


def check_duckdb(written, what, path, rows):
    connection = duckdb.connect()
    names = list(TYPES)
    written.check_values(what + ", duckdb", [dict(zip(names, row)) for row in
                                     connection.execute("SELECT * FROM '%s' ORDER BY k" % path).fetchall()], rows)
    middle = len(rows) // 2  # by the statistics, groups are skipped
    found = connection.execute("SELECT count(*) FROM '%s' WHERE k >= %d" % (path, middle)).fetchone()[0]
    if found != len(rows) - middle:
        written.fail(what, found, "rows from", middle)


def check_extremes(written):
    """Numbers of 19 digits are decimals of 9 bytes; NaN is in no statistics."""
    path = os.path.join(written.folder, "x.parquet")
    written.copy("select * from (values (90000000000000000.99, 'nan'::double), (-92233720368547758.08, 2e0), (-0.01, 1e0), "
                 "(null, null)) v(wide, real)", path, "format parquet")
    table = pyarrow.parquet.read_table(path)
    if str(table.schema.field("wide").type) != "decimal128(19, 2)":
        written.fail("extremes", table.schema)
    if [str(v) for v in table["wide"].to_pylist()] != ["90000000000000000.99", "-92233720368547758.08", "-0.01", "None"]:
        written.fail("extremes", table)
    chunk = pyarrow.parquet.ParquetFile(path).metadata.row_group(0)
    if (chunk.column(1).statistics.min, chunk.column(1).statistics.max) != (1.0, 2.0):
        written.fail("extremes", chunk.column(1))
    if duckdb and str(duckdb.connect().execute("SELECT min(wide), max(wide) FROM '%s'" % path).fetchone()) != (
            "(Decimal('-92233720368547758.08'), Decimal('90000000000000000.99'))"):
        written.fail("extremes", "duckdb")


def main():
    files = 0
    with tempfile.TemporaryDirectory() as folder:
        path, written = os.path.join(folder, "t.parquet"), Written(tessera, folder, seed)
        for count in [0, 1, 8, 1023, 1025, 20011, 122881]:
            rows = written.load(count)
            for codec in written.rng.sample(["none", "snappy", "zstd", ""], 2):
                what = "%d rows, %s" % (count, codec)
                written.copy(QUERY, path, "format parquet" + (codec and ", compression " + codec),
                             written.rng.choice([1, 2, 5]))
                check_file(written, what, path, rows, dict(none="UNCOMPRESSED").get(codec, codec.upper() or "ZSTD"))
                if duckdb:
                    check_duckdb(written, what, path, rows)
                files += 1
        check_extremes(written)
    print("%d files are read by pyarrow %s%s; seed %d" % (
        files, pyarrow.__version__, " and duckdb " + duckdb.__version__ if duckdb else "", seed))


main()
