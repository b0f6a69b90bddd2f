#!/usr/bin/env python3
"""Reads Arrow files and streams that COPY writes with pyarrow, pandas and DuckDB: their values and types, and where the
buffers of batches are.

    test_arrow_written.py TESSERA [SEED]

Ends with 77 (skipped) where pyarrow is not installed."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from written_peers import QUERY, Written, imported  # noqa: E402

pyarrow = imported("pyarrow", ".feather", ".ipc", needed=True)
pandas, duckdb = imported("pandas"), imported("duckdb")

tessera, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20261128
TYPES = dict(k="int64", flag="bool", big="int64", day="date32[day]", moment="timestamp[us]", price="decimal128(19, 3)",
             word="large_string", line="large_string", ratio="double", computed="large_string")
BATCH_ROWS = 65536


def check_table(written, what, table, rows):
    table.validate(full=True)
    types = {f.name: str(f.type) for f in table.schema}
    if types != TYPES or not all(f.nullable for f in table.schema):
        written.fail(what, table.schema)
    written.check_values(what, table.to_pylist(), rows)
    for name in TYPES:
        if table.column(name).null_count != sum(row[name] is None for row in rows):
            written.fail(what, name, table.column(name).null_count, "NULLs")


def check_file(written, what, path, rows, plain):
    with pyarrow.memory_map(path) as mapped:
        reader = pyarrow.ipc.open_file(mapped)
        if reader.num_record_batches != (len(rows) + BATCH_ROWS - 1) // BATCH_ROWS:
            written.fail(what, reader.num_record_batches, "batches")
        for b in reversed(range(reader.num_record_batches)):  # by the footer
            batch = reader.get_batch(b)
            first, last = b * BATCH_ROWS, min((b + 1) * BATCH_ROWS, len(rows)) - 1
            if batch.column(0)[0].as_py() != first or batch.column(0)[-1].as_py() != last:
                written.fail(what, "batch", b)
            for column in batch.columns if plain else []:
                if any(buffer and buffer.size and buffer.address % 64 for buffer in column.buffers()):
                    written.fail(what, "a buffer is not aligned")
        check_table(written, what, reader.read_all(), rows)
    check_table(written, what, pyarrow.feather.read_table(path), rows)
    if pandas and len(pandas.read_feather(path)) != len(rows):
        written.fail(what, "pandas")


def check_duckdb(written, what, table, rows):
    connection = duckdb.connect()
    connection.register("arrow_table", table)
    found = connection.execute("SELECT * FROM arrow_table ORDER BY k").fetchall()
    written.check_values(what + ", duckdb", [dict(zip(TYPES, row)) for row in found], rows)


def check_shapes(written):
    """Long strings make more batches; names that are there twice and long ones; all digits of a number; no rows."""
    path = os.path.join(written.folder, "x.arrow")
    written.copy("with recursive n(i) as (select 1 union all select i + 1 from n where i < 90) select i, "
                 "repeat(cast(i % 10 as text), 1000000) as s, case when i % 2 = 0 then repeat('ü', 100 * i) end as t "
                 "from n order by i", path, "format arrow, compression zstd", 3)
    table = pyarrow.ipc.open_file(path).read_all()
    if [len(chunk) for chunk in table["s"].chunks] != [17, 17, 17, 17, 17, 5]:
        written.fail("long strings", [len(chunk) for chunk in table["s"].chunks])
    if table["s"].to_pylist() != [str(i % 10) * 1000000 for i in range(1, 91)] or table["t"].to_pylist() != [
            None if i % 2 else "ü" * 100 * i for i in range(1, 91)]:
        written.fail("long strings", "differ")
    name = "ü" * 300
    written.copy('select 1 as a, 2 as a, 3 as "%s", 4 as "%s"' % (name, name), path, "format arrow")
    if pyarrow.ipc.open_file(path).schema.names != ["a", "a_1", name, name + "_1"]:
        written.fail("names", pyarrow.ipc.open_file(path).schema.names)
    written.copy("select * from (values (9223372036854775807, 90000000000000000.99, 'nan'::double, date '0001-01-01'), "
                 "(-9223372036854775807 - 1, -92233720368547758.08, -5e-324, date '9999-12-31'), (null, null, null, null)) "
                 "v(whole, wide, real, day)", path, "format arrow")
    shown = [[str(v) for v in column.to_pylist()] for column in pyarrow.ipc.open_file(path).read_all().columns]
    if shown != [["9223372036854775807", "-9223372036854775808", "None"],
                 ["90000000000000000.99", "-92233720368547758.08", "None"], ["nan", "-5e-324", "None"],
                 ["0001-01-01", "9999-12-31", "None"]]:
        written.fail("extremes", shown)


def main():
    files = 0
    with tempfile.TemporaryDirectory() as folder:
        written = Written(tessera, folder, seed)
        for count in [0, 1, 8, 31, 1023, 1025, BATCH_ROWS, 2 * BATCH_ROWS + 5]:
            rows = written.load(count)
            for codec in ["none", "lz4", "zstd"] if count < 2000 else [written.rng.choice(["lz4", "zstd"]), ""]:
                what = "%d rows, %s" % (count, codec)
                path, stream = os.path.join(folder, "t.arrow"), os.path.join(folder, "t.arrows")
                options = codec and ", compression " + codec
                written.copy(QUERY, path, "format arrow" + options, written.rng.choice([1, 2, 5]))
                check_file(written, what, path, rows, codec in ("none", ""))
                written.copy(QUERY, stream, "format arrows" + options, written.rng.choice([1, 2, 5]))
                with open(stream, "rb") as opened:
                    table = pyarrow.ipc.open_stream(opened).read_all()
                check_table(written, what + ", stream", table, rows)
                if duckdb:
                    check_duckdb(written, what, table, rows)
                files += 2
        check_shapes(written)
    print("%d files are read by pyarrow %s%s%s; seed %d" % (
        files, pyarrow.__version__, ", pandas " + pandas.__version__ if pandas else "",
        " and duckdb " + duckdb.__version__ if duckdb else "", seed))


main()
