#!/usr/bin/env python3
"""Writing large answers: Tessera's CSV and JSON against DuckDB's COPY of the same rows, by turns.

    tests/benches/bench_output.py --program build/tessera --sf 0.4 --rows 2000000 [--folder DIR] [--threads N]

Prints medians of wall and processor time in seconds and their ratio, from the rows in the database to the file; the
table and Markdown, which COPY has not, without a ratio. DuckDB's rows are in memory, and have been read once. The CSV
files must be equal. Exit code 0; 1: they differ; 3: the Python package duckdb is missing.
"""
import argparse
import filecmp
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import duckdb
except ImportError:
    sys.stderr.write("bench_output.py: the Python package duckdb is missing; install it with: pip install duckdb\n")
    sys.exit(3)

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROUNDS = 5
COPY = {"csv": "(format csv, header)", "json": "(format json, array true)", "table": None, "markdown": None}


def processor(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def ours(options, database, kind, path):
    """Wall seconds as --timer says them, without the program's start; processor seconds with it."""
    begin = processor(resource.RUSAGE_CHILDREN)
    with open(path, "wb") as out:
        run = subprocess.run(
            [options.program, "sql", "--db", database, "--device", "cpu", "--threads", str(options.threads), "--timer",
             "--format", kind, f"select * from lineorder limit {options.rows}"],
            check=True, stdout=out, stderr=subprocess.PIPE, text=True)
    wall = float(re.search(r"total ([0-9.]+)", run.stderr).group(1)) / 1e3
    return wall, processor(resource.RUSAGE_CHILDREN) - begin


def theirs(connection, kind, path):
    begin, wall = processor(resource.RUSAGE_SELF), time.perf_counter()
    connection.execute(f"copy rows_to_write to '{path}' {COPY[kind]}")
    return time.perf_counter() - wall, processor(resource.RUSAGE_SELF) - begin


def measure(options, folder):
    database = folder / "tessera"
    if not database.exists():
        subprocess.run([options.program, "ssb", "load", "--sf", options.sf, "--db", database], check=True,
                       stdout=subprocess.DEVNULL)
    mine, other = folder / "tessera.out", folder / "duckdb.out"
    ours(options, database, "csv", mine)
    connection = duckdb.connect(config={"threads": options.threads})
    connection.execute(f"create table rows_to_write as select * from read_csv('{mine}', header=true)")
    same = True
    print(f"{options.rows} rows of 17 columns, {options.threads} threads, DuckDB {duckdb.__version__}; seconds, wall "
          f"(processor), medians of {ROUNDS} turns")
    for kind, copy in COPY.items():
        left, right = [], []
        for _ in range(ROUNDS):
            left.append(ours(options, database, kind, mine))
            if copy:
                right.append(theirs(connection, kind, other))
        same = same and (kind != "csv" or filecmp.cmp(mine, other, shallow=False))
        line = [statistics.median(column) for column in zip(*left)]
        text = f"{kind:9} Tessera {line[0]:6.2f} ({line[1]:5.2f})"
        if right:
            reference = [statistics.median(column) for column in zip(*right)]
            text += (f"   DuckDB {reference[0]:6.2f} ({reference[1]:5.2f})   ratio {reference[0] / line[0]:5.2f} "
                     f"({reference[1] / line[1]:5.2f})")
        print(text, flush=True)
    if not same:
        print("the CSV files differ")
    return 0 if same else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=str(ROOT / "build" / "tessera"))
    parser.add_argument("--sf", default="0.4")
    parser.add_argument("--rows", type=int, default=2000000)
    parser.add_argument("--folder", help="where the data is kept (default: a temporary folder, removed at the end)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        return measure(options, folder)


if __name__ == "__main__":
    sys.exit(main())
