"""Loads Parquet and Arrow files as docs/loading.md says, and compares the rows with what pyarrow wrote.

    python3 test_parquet.py TESSERA LIBTESSERA.SO

Skipped (77) where pyarrow is not installed."""
import csv
import datetime
import decimal
import io
import os
import subprocess
import sys
import tempfile

try:
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.feather as feather
    import pyarrow.parquet as pq
except ImportError:
    print("[  NOT RUN ] pyarrow is not installed (pip install pyarrow)")
    sys.exit(77)

program, library = sys.argv[1], sys.argv[2]
os.environ["TESSERA_LIBRARY"] = library
source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(source, "docs", "examples"))
import tessera_files  # noqa: E402

ROWS = 100003
SCHEMA = """CREATE TABLE shops (id INT PRIMARY KEY, name TEXT, "Größe" DECIMAL(8,2));
    CREATE TABLE sales (shop INT REFERENCES shops(id) ON DELETE CASCADE, at TIMESTAMP WITH TIME ZONE, day DATE,
        paid NUMERIC(9,2) CHECK (paid >= 0), kind VARCHAR(9), pieces BIGINT, online BOOLEAN);"""


def tables():
    shops = pa.table({"id": pa.array(range(1, 41), pa.int16()), "name": [f"Shop {i}" for i in range(40)],
                      "unused": [0.5] * 40,
                      "Größe": pa.array([decimal.Decimal(i) / 4 for i in range(40)], pa.decimal128(8, 2))})
    start = datetime.datetime(2024, 2, 28, 23, 59, 58, 123456)
    sales = pa.table({
        "pieces": pa.array([None if i % 9 == 0 else i * 10**10 for i in range(ROWS)], pa.int64()),
        "kind": pa.array([("web", "Läden", None)[i % 3] for i in range(ROWS)]).dictionary_encode(),
        "at": pa.array([start + datetime.timedelta(seconds=i) for i in range(ROWS)], pa.timestamp("ns", "Europe/Rome")),
        "shop": pa.array([1 + i % 40 for i in range(ROWS)], pa.int64()),
        "day": pa.array([datetime.date(1999, 12, 31) + datetime.timedelta(days=i % 999) for i in range(ROWS)]),
        "paid": pa.array([decimal.Decimal(i) / 100 for i in range(ROWS)], pa.decimal128(12, 2)),
        "online": pa.array([i % 2 == 0 for i in range(ROWS)])})
    return shops, sales


def ask(database, question):
    answer = subprocess.run([program, "sql", "--device", "cpu", "--db", database, "--format", "csv", question],
                            capture_output=True, check=True, encoding="utf-8").stdout
    return list(csv.reader(io.StringIO(answer)))[1:]


def check(database, sales):
    rows = ask(database, "select pieces, kind, at, day, paid, online from sales")
    assert len(rows) == ROWS
    columns = [sales[name].to_pylist() for name in ("pieces", "kind", "day", "paid", "online")]
    at = sales["at"].cast(pa.timestamp("us", "UTC")).to_pylist()
    for i, row in enumerate(rows):
        expected = ["" if columns[0][i] is None else str(columns[0][i]), columns[1][i] or "",
                    at[i].strftime("%Y-%m-%d %H:%M:%S.%f+00"), str(columns[2][i]), f"{columns[3][i]:.2f}",
                    "true" if columns[4][i] else "false"]
        assert row == expected, (i, row, expected)
    assert ask(database, 'select sum("Größe") from sales join shops on id = shop where shop = 40') == [["24375.00"]]


shops, sales = tables()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for part in range(3):
        pq.write_table(sales.slice(part * 40000, 40000), f"sales-{part}.parquet", row_group_size=7001)
    pq.write_table(shops, "shops.parquet")
    feather.write_feather(sales, "sales.feather", compression="lz4")
    with pa.OSFile("shops.arrow", "wb") as file, pa.ipc.new_file(file, shops.schema) as writer:
        writer.write_table(shops)
    with open("star.sql", "w", encoding="utf-8") as script:
        script.write(SCHEMA)
    parquet = {"sales": ds.dataset([f"sales-{part}.parquet" for part in range(3)], format="parquet"),
               "shops": pq.read_table("shops.parquet")}
    assert tessera_files.load("parquet.db", SCHEMA, parquet) == ROWS + 40
    check("parquet.db", sales)
    subprocess.run([sys.executable, os.path.join(source, "docs", "examples", "tessera_files.py"), "arrow.db", "star.sql",
                    "sales=sales.feather", "shops=shops.arrow"], check=True)
    check("arrow.db", sales)
    bad = sales.slice(0, 5).set_column(5, "paid", pa.array([decimal.Decimal("-1.00")] * 5, pa.decimal128(9, 2)))
    for tables, said in (({"sales": bad}, "CHECK"), ({"sales": sales.drop_columns("day")}, "has no column day")):
        try:
            tessera_files.load("parquet.db", SCHEMA, tables, tessera_files.APPEND)
            raise SystemExit("rows were loaded that should have been refused")
        except RuntimeError as error:
            assert said in str(error), error
    check("parquet.db", sales)

    # Tables that exist are replaced or added to only if that is asked for.
    try:
        tessera_files.load("parquet.db", SCHEMA, parquet)
        raise SystemExit("tables were replaced that nobody asked to replace")
    except RuntimeError as error:
        assert "shops" in str(error) or "sales" in str(error), error
    check("parquet.db", sales)
    tool = [sys.executable, os.path.join(source, "docs", "examples", "tessera_files.py")]
    with pa.OSFile("sales.arrows", "wb") as file, pa.ipc.new_stream(file, sales.schema) as writer:
        writer.write_table(sales.slice(0, 7))
    count = "select count(*) from sales"
    for options, files, code, said, rows in (
            ([], "sales=sales.feather", 2, "", ROWS),
            (["--append"], "sales=sales.arrows", 0, "7 rows", ROWS + 7),
            (["--append"], "sales=sales-0.parquet,sales-2.parquet", 0, "60003 rows", 2 * ROWS - 39993),
            (["--append", "--force"], "sales=sales.arrows", 2, "not allowed with", 2 * ROWS - 39993),
            (["--append"], "sales=star.sql", 2, "star.sql: not Parquet and not Arrow", 2 * ROWS - 39993),
            (["--append"], "sales=none.parquet", 2, "none.parquet", 2 * ROWS - 39993),
            (["--force"], "sales=sales.feather", 0, f"{ROWS} rows", ROWS)):
        ran = subprocess.run(tool + options + ["arrow.db", "star.sql", files], capture_output=True, encoding="utf-8")
        assert ran.returncode == code and said in ran.stdout + ran.stderr, (options, files, ran)
        assert "Traceback" not in ran.stderr, ran.stderr
        assert ask("arrow.db", count) == [[str(rows)]], (options, files)
    check("arrow.db", sales)
