#!/usr/bin/env python3
"""Compares Tessera on a CPU with DuckDB: the same rows, the same 13 statements, the same number of threads.

    tests/benches/bench_duckdb.py --program build/tessera --sf 1 [--folder DIR] [--threads N] [--codec auto]
                                  [--repeat 3] [--format table|json] [--skew] [--clustered]

It generates the .tbl files and the database in DIR, where the next run finds them, and loads the files into native
DuckDB tables there. Then it runs every statement warm and by turns with Tessera, compares the answers, and prints
the medians and their ratio. With --skew the rows are skewed; with --clustered they are also in a database that was loaded
with --cluster-by auto, which takes turns with the others. DuckDB gets the statements as the queries' sources have them and tables after `ANALYZE`.
JSON also has the ratio of each turn's medians. Exit code 0: all answers are equal; 1: one differs; 2: bad usage; 3: the
Python package duckdb is missing.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import duckdb
except ImportError:
    duckdb = None

ROUNDS = 5  # turns of each program on each query
ROOT = pathlib.Path(__file__).resolve().parents[2]

# All columns of the .tbl files in order.
TABLES = {
    "date": "d_datekey d_date d_dayofweek d_month d_year d_yearmonthnum d_yearmonth d_daynuminweek d_daynuminmonth "
            "d_daynuminyear d_monthnuminyear d_weeknuminyear d_sellingseason d_lastdayinweekfl d_lastdayinmonthfl "
            "d_holidayfl d_weekdayfl",
    "customer": "c_custkey c_name c_address c_city c_nation c_region c_phone c_mktsegment",
    "supplier": "s_suppkey s_name s_address s_city s_nation s_region s_phone",
    "part": "p_partkey p_name p_mfgr p_category p_brand1 p_color p_type p_size p_container",
    "lineorder": "lo_orderkey lo_linenumber lo_custkey lo_partkey lo_suppkey lo_orderdate lo_orderpriority "
                 "lo_shippriority lo_quantity lo_extendedprice lo_ordtotalprice lo_discount lo_revenue lo_supplycost "
                 "lo_tax lo_commitdate lo_shipmode",
}
WORDS = set("d_date d_dayofweek d_month d_yearmonth d_sellingseason c_name c_address c_city c_nation c_region c_phone "
            "c_mktsegment s_name s_address s_city s_nation s_region s_phone p_name p_mfgr p_category p_brand1 p_color "
            "p_type p_container lo_orderpriority lo_shipmode".split())
REFERENCES = {"lo_custkey": "customer", "lo_partkey": "part", "lo_suppkey": "supplier", "lo_orderdate": "date"}


def statements():
    """The SQL text of each query file: the adjacent string literals after the name in SSB_QUERY."""
    found = {}
    for path in sorted((ROOT / "ssb" / "queries").glob("q[0-9][0-9].c")):
        name, literals = re.search(r'SSB_QUERY\(\s*\w+,\s*"(q\d\.\d)",((?:\s*"[^"]*")+)\)', path.read_text()).groups()
        found[name] = "".join(re.findall(r'"([^"]*)"', literals))
    return found


def generate(program, folder, sf, skew=False, clustered=False):
    """Folder of the .tbl files, and Tessera's databases: in generated order, and clustered if that is asked for."""
    text, databases = folder / "tbl", [folder / "tessera"]
    rows = ["--sf", sf] + ["--skew"] * skew
    if not (text / "complete").exists():
        subprocess.run([program, "ssb", "generate", *rows, "--out", text], check=True,
                       stdout=subprocess.DEVNULL)
        (text / "complete").touch()
    if clustered:
        databases.append(folder / "clustered")
    for database in databases:
        if not database.exists():
            order = ["--cluster-by", "auto"] * (database.name == "clustered")
            subprocess.run([program, "ssb", "load", *rows, *order, "--db", database], check=True,
                           stdout=subprocess.DEVNULL)
    return text, databases


def type_of(column):
    return "VARCHAR" if column in WORDS else "INTEGER"


def load_duckdb(text, path, threads):
    connection = duckdb.connect(str(path), config={"threads": threads})
    columns = sum(len(names.split()) for names in TABLES.values())
    if connection.execute("select count(*) from duckdb_columns() where not internal").fetchone()[0] == columns:
        return connection
    for table, names in TABLES.items():
        types = {name: type_of(name) for name in names.split()}
        connection.execute(
            f"create or replace table {table} as select * exclude (tail_) from read_csv('{text / (table + '.tbl')}', "
            f"delim='|', header=false, quote='', auto_detect=false, null_padding=true, "
            f"columns={dict(types, tail_='VARCHAR')})")
    connection.execute("analyze")
    connection.execute("checkpoint")
    return connection


def csv_of(connection, sql):
    cursor = connection.execute(sql)
    lines = [",".join(column[0] for column in cursor.description)]
    lines += [",".join("" if cell is None else str(cell) for cell in row) for row in cursor.fetchall()]
    return "\n".join(lines) + "\n"


def ordered(answer):
    """The answer's lines, sorted, because rows that ORDER BY leaves equal may come in any order (Q3.x)."""
    return sorted(answer.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build" / "tessera"))
    parser.add_argument("--sf", default="1")
    parser.add_argument("--folder", help="where the data is kept (default: a temporary folder, removed at the end)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--codec", default="auto")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each in a turn")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    parser.add_argument("--skew", action="store_true", help="skewed rows (docs/ssb.md)")
    parser.add_argument("--clustered", action="store_true", help="also a clustered database of Tessera")
    options = parser.parse_args()
    if not duckdb:
        sys.stderr.write("bench_duckdb.py: the Python package duckdb is missing; install it: pip install duckdb\n")
        return 3
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.folder or temporary) / f"sf{options.sf}{'-skewed' * options.skew}"
        folder.mkdir(parents=True, exist_ok=True)
        return compare(options, folder)


def take_turns(options, connection, databases, query, sql, answers):
    """Milliseconds of DuckDB and of Tessera, of each database: a list for each turn. Answers are written into the folders of
    these names in `answers`."""
    theirs, ours = [], {database.name: [] for database in databases}
    for _ in range(ROUNDS):
        theirs.append([])
        for _ in range(options.repeat):
            begin = time.perf_counter()
            connection.execute(sql).fetchall()
            theirs[-1].append((time.perf_counter() - begin) * 1e3)
        for database in databases:
            run = subprocess.run(
                [options.program, "ssb", "run", "--db", database, "--device", "cpu", "--query", query, "--codec",
                 options.codec, "--threads", str(options.threads), "--repeat", str(options.repeat), "--warmup",
                 "2", "--verify", "none", "--format", "json", "--answers", answers / database.name],
                check=True, stdout=subprocess.PIPE)
            ours[database.name].append(json.loads(run.stdout)["queries"][0]["total_ms"]["runs"])
    return theirs, ours


def result_of(query, theirs, ours, same):
    duckdb_ms, tessera_ms = statistics.median(sum(theirs, [])), statistics.median(sum(ours["tessera"], []))
    result = {"query": query, "duckdb_ms": duckdb_ms, "tessera_ms": tessera_ms, "ratio": duckdb_ms / tessera_ms,
              "turns": [statistics.median(left) / statistics.median(right)
                        for left, right in zip(theirs, ours["tessera"])],
              "answer": "ok" if same else "wrong"}
    if "clustered" in ours:
        clustered_ms = statistics.median(sum(ours["clustered"], []))
        result.update({"clustered_ms": clustered_ms, "gain": tessera_ms / clustered_ms})
    return result


def compare(options, folder):
    text, databases = generate(options.program, folder, options.sf, options.skew, options.clustered)
    connection = load_duckdb(text, folder / "duckdb", options.threads)
    table = options.format == "table"
    if table:
        print(f"DuckDB {duckdb.__version__} and Tessera ({options.codec}), {options.threads} threads, scale factor "
              f"{options.sf}{', skewed' * options.skew}; milliseconds, median of {ROUNDS} turns of {options.repeat} warm runs\n\n"
              f"{'query':6}{'DuckDB':>10}{'Tessera':>10}{'ratio':>9}"
              f"{'clustered    gain' * options.clustered:>18}  answer")
    results = []
    with tempfile.TemporaryDirectory() as answers:
        for query, sql in statements().items():
            expected = csv_of(connection, sql)
            theirs, ours = take_turns(options, connection, databases, query, sql, pathlib.Path(answers))
            got = [(pathlib.Path(answers) / database.name / f"{query.replace('.', '')}.csv").read_text()
                   for database in databases]
            result = result_of(query, theirs, ours, all(ordered(one) == ordered(expected) for one in got))
            results.append(result)
            if table:
                print(f"{query:6}{result['duckdb_ms']:10.2f}{result['tessera_ms']:10.3f}{result['ratio']:8.1f}x"
                      + (f"{result['clustered_ms']:10.3f}{result['gain']:7.2f}x" if options.clustered else "")
                      + f"  {result['answer']}", flush=True)
    ratios = [result["ratio"] for result in results]
    if table:
        print(f"\ngeometric mean {statistics.geometric_mean(ratios):.1f}x, least {min(ratios):.1f}x")
        if options.clustered:
            gains = [result["gain"] for result in results]
            print(f"clustered to generated order: {statistics.geometric_mean(gains):.2f}x, least {min(gains):.2f}x")
    else:
        json.dump({"duckdb": duckdb.__version__, "threads": options.threads, "codec": options.codec,
                   "skew": options.skew,
                   "queries": results}, sys.stdout, indent=1)
        print()
    return 0 if all(result["answer"] == "ok" for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
