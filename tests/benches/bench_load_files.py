#!/usr/bin/env python3
"""Loads Parquet files into Tessera and into DuckDB, by turns, and prints the least seconds of each.

    bench_load_files.py --tessera build/release/tessera --folder /tmp/files [--rows 4000000] [--threads 2] [--rounds 5]

Makes the files once, in the folder: `orders` has 17 columns as SSB's lineorder has them, most of them whole numbers of few
different values; `events` has a key, times, doubles, decimals with two digits, NULLs, and strings, half of which are there once
or twice. Each is written by DuckDB (snappy; zstd with pages of version 2) and, if it is installed, by pyarrow (snappy). DuckDB loads
by CREATE TABLE AS into a new file, and CHECKPOINT follows, which is timed, too. Row counts and sums of both must agree."""
import argparse
import os
import resource
import subprocess
import time

import duckdb

try:
    import pyarrow.parquet
except ImportError:
    pyarrow = None

TABLES = {
    "orders": ("""SELECT (i // 4 * 8 + i % 8)::INT AS orderkey, (1 + i % 7)::INT AS linenumber,
        (1 + hash(i) % 30000)::INT AS custkey, (1 + hash(i, 1) % 200000)::INT AS partkey, (1 + hash(i, 2) % 2000)::INT AS suppkey,
        (19920101 + hash(i // 4) % 7 * 10000 + hash(i // 4, 1) % 12 * 100 + hash(i // 4, 2) % 28)::INT AS orderdate,
        ['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'][(1 + hash(i // 4, 3) % 5)::INT] AS priority, '0' AS ship,
        (1 + hash(i, 3) % 50)::INT AS quantity, (90000 + hash(i, 4) % 10400000)::INT AS price,
        (85000 + hash(i // 4, 5) % 55000000)::INT AS total, (hash(i, 5) % 11)::INT AS discount,
        (81000 + hash(i, 6) % 10300000)::INT AS revenue, (54000 + hash(i, 7) % 72000)::INT AS cost, (hash(i, 8) % 9)::INT AS tax,
        (19920131 + hash(i, 9) % 7 * 10000)::INT AS commitdate,
        ['AIR', 'FOB', 'MAIL', 'RAIL', 'REG AIR', 'SHIP', 'TRUCK'][(1 + hash(i, 10) % 7)::INT] AS mode FROM range({rows}) t(i)""",
               "sum(orderkey), sum(revenue)"),
    "events": ("""SELECT i AS id, TIMESTAMP '2020-01-01' + INTERVAL (i * 7) SECOND + INTERVAL (hash(i) % 1000000) MICROSECOND AS at,
        (hash(i) % 1000000) / 7.0::DOUBLE AS ratio, (hash(i, 1) % 100000000 / 100.0)::DECIMAL(18,2) AS paid,
        CASE WHEN i % 3 > 0 THEN (hash(i, 2) % 1000)::INT END AS pieces, 'user-' || (hash(i, 3) % 3000000) AS who,
        'https://example.com/' || (hash(i, 4) % 50000) || '/page' AS url,
        ['view', 'click', 'order', 'return'][(1 + hash(i, 5) % 4)::INT] AS kind,
        DATE '1992-01-01' + (hash(i, 6) % 2500)::INT AS day, hash(i, 7) % 2 = 0 AS flag FROM range({rows}) t(i)""",
               "sum(id), sum(paid), count(pieces), count(distinct url)"),
}
SQL_TYPES = {"INTEGER": "INT", "VARCHAR": "TEXT"}


def make(folder, table, rows):
    """Writes the table's files and schema, if they are not there; gives their paths."""
    query = TABLES[table][0].format(rows=rows)
    path = lambda end: os.path.join(folder, "%s-%d-%s" % (table, rows, end))
    files = {"DuckDB": path("duckdb.parquet"), "DuckDB, zstd, v2": path("duckdb-zstd.parquet")}
    if pyarrow:
        files["pyarrow"] = path("pyarrow.parquet")
    connection = duckdb.connect()
    if not all(map(os.path.exists, files.values())):
        connection.execute("CREATE TABLE made AS " + query)
        connection.execute("COPY made TO '%s' (FORMAT parquet)" % files["DuckDB"])
        connection.execute("COPY made TO '%s' (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd)" % files["DuckDB, zstd, v2"])
        if pyarrow:
            pyarrow.parquet.write_table(connection.sql("FROM made").to_arrow_table(), files["pyarrow"])
    columns = connection.execute("DESCRIBE SELECT * FROM '%s'" % files["DuckDB"]).fetchall()
    with open(path("schema.sql"), "w") as file:
        file.write("CREATE TABLE %s (%s);" % (table, ", ".join("%s %s" % (c[0], SQL_TYPES.get(c[1], c[1])) for c in columns)))
    return files, path("schema.sql")


def processor():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime, own.ru_utime + own.ru_stime


def load_tessera(asked, table, schema, file):
    database = os.path.join(asked.folder, "bench.tessera")
    begin, used = time.time(), processor()[0]
    subprocess.run([asked.tessera, "load", "--force", "--device", "cpu", "--threads", str(asked.threads), "--db", database,
                    "--schema", schema, "%s=%s" % (table, file)], check=True, capture_output=True)
    took, used = time.time() - begin, processor()[0] - used
    answer = subprocess.run([asked.tessera, "sql", "--device", "cpu", "--format", "csv", "--db", database,
                             "select count(*), %s from %s" % (TABLES[table][1], table)], check=True, capture_output=True,
                            text=True).stdout.split("\n")[1]
    return (took, used), answer


def load_duckdb(asked, table, file):
    database = os.path.join(asked.folder, "bench.duckdb")
    for left in (database, database + ".wal"):
        if os.path.exists(left):
            os.remove(left)
    connection = duckdb.connect(database)
    connection.execute("SET threads = %d" % asked.threads)
    begin, used = time.time(), processor()[1]
    connection.execute("CREATE TABLE %s AS FROM '%s'" % (table, file))
    made = time.time() - begin
    connection.execute("CHECKPOINT")
    took, used = time.time() - begin, processor()[1] - used
    answer = ",".join(map(str, connection.execute("SELECT count(*), %s FROM %s" % (TABLES[table][1], table)).fetchone()))
    connection.close()
    return (made, took, used), answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tessera", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--rows", type=int, default=4000000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    os.makedirs(asked.folder, exist_ok=True)
    print("%-8s %-18s %8s %10s %8s %10s %10s %6s" % ("table", "written by", "Tessera", "processor", "DuckDB", "checkpoint",
                                                     "processor", "ratio"))
    for table in TABLES:
        files, schema = make(asked.folder, table, asked.rows)
        for writer, file in files.items():
            own, other = [], []
            for _ in range(asked.rounds):
                seconds, answer = load_tessera(asked, table, schema, file)
                own.append(seconds)
                seconds, expected = load_duckdb(asked, table, file)
                other.append(seconds)
                if answer != expected:
                    raise SystemExit("%s: %s instead of %s" % (file, answer, expected))
            own, other = [min(x) for x in zip(*own)], [min(x) for x in zip(*other)]
            print("%-8s %-18s %8.2f %10.2f %8.2f %10.2f %10.2f %6.2f" % (table, writer, *own, *other, other[0] / own[0]))


main()
