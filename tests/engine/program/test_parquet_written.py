#!/usr/bin/env python3
"""Reads Parquet files that COPY writes with pyarrow and DuckDB: their values, and the types, statistics, checksums and
encodings that pyarrow finds in them.

    test_parquet_written.py TESSERA [SEED]

Ends with 77 (skipped) where pyarrow is not installed."""
import math
import os
import random
import subprocess
import sys
import tempfile

try:
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet
except ImportError:
    print("[  NOT RUN ] pyarrow is not installed (pip install pyarrow)")
    sys.exit(77)
try:
    import duckdb
except ImportError:
    print("[  NOT RUN ] duckdb is not installed (pip install duckdb)")
    duckdb = None

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "loader", "columnar"))
from columnar_peers import Shapes, shown  # noqa: E402

tessera, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20261128
rng = random.Random(seed)
# With a column that a query computes: its strings are no codes.
SQL = dict(k="BIGINT", flag="BOOLEAN", big="BIGINT", day="DATE", moment="TIMESTAMP", price="DECIMAL(18,3)", word="TEXT",
           line="TEXT", ratio="DOUBLE")
TYPES = dict(k="int64", flag="bool", big="int64", day="date32[day]", moment="timestamp[us]", price="decimal128(18, 3)",
             word="string", line="string", ratio="double", computed="string")


def fail(what, *more):
    sys.exit("seed %d, %s: %s" % (seed, what, " ".join(map(str, more))))


def run(*arguments):
    done = subprocess.run([tessera, *arguments], capture_output=True, text=True)
    if done.returncode:
        fail(arguments, done.stderr)


def rows_of(count):
    real = Shapes(rng).integer(50)
    rows = Shapes(rng).rows(count, lambda shapes: {"ratio": lambda r: rng.choice([real(r) / 64, -0.0, math.inf, -1e300])})
    for k, row in enumerate(rows):
        row["k"] = k
    return [{n: row[n] for n in SQL} for row in rows]


def load(rows, folder):
    with open(os.path.join(folder, "t.sql"), "w") as file:
        file.write("CREATE TABLE t (%s)" % ", ".join("%s %s" % c for c in SQL.items()))
    with open(os.path.join(folder, "t.csv"), "w", newline="") as file:
        for row in rows:  # NULL is empty, and an empty string is in quotes
            file.write(",".join("" if v is None else '"%s"' % v if n in ("word", "line") else shown(n, v)
                                for n, v in row.items()) + "\n")
    run("load", "--force", "--db", os.path.join(folder, "db"), "--schema", os.path.join(folder, "t.sql"),
        "t=" + os.path.join(folder, "t.csv"))


def expected(rows):
    return [dict(row, computed=None if row["line"] is None else "%s/%d" % (row["line"], row["k"] % 3)) for row in rows]


def check_values(what, found, rows):
    if len(found) != len(rows):
        fail(what, len(found), "rows instead of", len(rows))
    for x, y in zip(found, rows):
        if x != y:
            fail(what, x, "instead of", y)


def check_file(what, path, rows, codec):
    file = pyarrow.parquet.ParquetFile(path, page_checksum_verification=True)
    types = {f.name: str(f.type) for f in file.schema_arrow}
    if types != TYPES:
        fail(what, types)
    if not file.metadata.created_by.startswith("tessera version "):
        fail(what, file.metadata.created_by)
    check_values(what, file.read().to_pylist(), rows)
    for g in range(file.metadata.num_row_groups):
        group, table = file.metadata.row_group(g), file.read_row_group(g)
        for c, name in enumerate(TYPES):
            chunk, values = group.column(c), table.column(name)
            said = chunk.statistics
            least, most = pyarrow.compute.min_max(values).as_py().values()
            if chunk.compression != codec or said.null_count != values.null_count:
                fail(what, name, chunk)
            if said.has_min_max != (least is not None) or (said.has_min_max and (said.min, said.max) != (least, most)):
                fail(what, name, "is from", least, "to", most, said)


def check_duckdb(what, path, rows):
    connection = duckdb.connect()
    names = list(TYPES)
    check_values(what + ", duckdb", [dict(zip(names, row)) for row in
                                     connection.execute("SELECT * FROM '%s' ORDER BY k" % path).fetchall()], rows)
    middle = len(rows) // 2  # by the statistics, groups are skipped
    found = connection.execute("SELECT count(*) FROM '%s' WHERE k >= %d" % (path, middle)).fetchone()[0]
    if found != len(rows) - middle:
        fail(what, found, "rows from", middle)


def check_extremes(folder):
    """Numbers of 19 digits are decimals of 9 bytes; NaN is in no statistics."""
    path = os.path.join(folder, "x.parquet")
    run("sql", "--device", "cpu", "--db", os.path.join(folder, "db"),
        "copy (select * from (values (90000000000000000.99, 'nan'::double), (-92233720368547758.08, 2e0), (-0.01, 1e0), "
        "(null, null)) v(wide, real)) to '%s'" % path)
    table = pyarrow.parquet.read_table(path)
    if str(table.schema.field("wide").type) != "decimal128(19, 2)":
        fail("extremes", table.schema)
    if [str(v) for v in table["wide"].to_pylist()] != ["90000000000000000.99", "-92233720368547758.08", "-0.01", "None"]:
        fail("extremes", table)
    chunk = pyarrow.parquet.ParquetFile(path).metadata.row_group(0)
    if (chunk.column(1).statistics.min, chunk.column(1).statistics.max) != (1.0, 2.0):
        fail("extremes", chunk.column(1))
    if duckdb and str(duckdb.connect().execute("SELECT min(wide), max(wide) FROM '%s'" % path).fetchone()) != (
            "(Decimal('-92233720368547758.08'), Decimal('90000000000000000.99'))"):
        fail("extremes", "duckdb")


def main():
    files = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.parquet")
        for count in [0, 1, 8, 1023, 1025, 20011, 122881]:
            rows = rows_of(count)
            load(rows, folder)
            for codec in rng.sample(["none", "snappy", "zstd", ""], 2):
                what = "%d rows, %s" % (count, codec)
                run("sql", "--device", "cpu", "--threads", str(rng.choice([1, 2, 5])), "--db", os.path.join(folder, "db"),
                    "copy (select *, line || '/' || cast(k %% 3 as text) as computed from t order by k) to '%s' (format "
                    "parquet%s)" % (path, codec and ", compression " + codec))
                check_file(what, path, expected(rows), dict(none="UNCOMPRESSED").get(codec, codec.upper() or "ZSTD"))
                if duckdb:
                    check_duckdb(what, path, expected(rows))
                files += 1
        check_extremes(folder)
    print("%d files are read by pyarrow %s%s; seed %d" % (
        files, pyarrow.__version__, " and duckdb " + duckdb.__version__ if duckdb else "", seed))


main()
