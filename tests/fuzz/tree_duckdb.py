#!/usr/bin/env python3
"""Asks DuckDB what test_tree_fuzz asks SQLite: random statements over the same tables.

    tests/fuzz/tree_duckdb.py build/release --seed 29 --statements 1000

BUILD has the programs test_tree_fuzz, which makes tables and statements, and tessera. It prints each statement whose
answers are different, and at the end how many were alike, how many either engine refused, and how many took DuckDB too
long; the exit code is 1 if one is different. DuckDB's module must be there. Divisions of whole numbers and the place of
NULLs in an order are set to be Tessera's. Answers are compared without order: test_tree_fuzz compares it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "trial"))
sys.dont_write_bytecode = True
import answers
import duckdb

WORLD = 250     # statements of the same tables, as in test_tree_fuzz.c
SECONDS = 10    # for a statement, each
ROWS = 20000    # longer answers are left out
SETTINGS = ["set default_null_order = 'nulls_first_on_asc_last_on_desc'", "set integer_division = true", "set threads = 1",
            "set memory_limit = '2GB'"]


def make(build, folder, seed, statements):
    """Tables and statements in the folder; the test's own verdict is for its own run."""
    subprocess.run([os.path.join(build, "test_tree_fuzz")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env=dict(os.environ, TESSERA_TREE_FOLDER=folder, TESSERA_TREE_SEED=str(seed),
                            TESSERA_TREE_STATEMENTS=str(statements)), check=False)
    with open(os.path.join(folder, "statements.sql"), encoding="utf-8") as file:
        return [line.rstrip().rstrip(";") for line in file]


def load(build, folder):
    schema, database = os.path.join(folder, "schema.sql"), os.path.join(folder, "db")
    names = [name[:-4] for name in sorted(os.listdir(folder)) if name.endswith(".csv")]
    subprocess.run([os.path.join(build, "tessera"), "load", "--force", "--db", database, "--schema", schema,
                    *["%s=%s" % (name, os.path.join(folder, name + ".csv")) for name in names]],
                   check=True, capture_output=True)
    connection = duckdb.connect()
    for setting in SETTINGS:
        connection.execute(setting)
    for name in names:
        connection.execute("create table %s (n INTEGER, k INTEGER, f INTEGER, a INTEGER, x DOUBLE, s VARCHAR)" % name)
        connection.execute("copy %s from '%s' (header, nullstr '', allow_quoted_nulls false, quote '\"', escape '\"', "
                           "delimiter ',')" % (name, os.path.join(folder, name + ".csv")))
    return database, connection


def ask_duckdb(connection, sql):
    """(rows, None), or (None, why not)."""
    timer = threading.Timer(SECONDS, connection.interrupt)
    timer.start()
    try:
        rows = connection.execute(sql).fetchmany(ROWS + 1)
    except duckdb.InterruptException:
        return None, "too slow"
    except duckdb.Error as error:
        return None, str(error).split("\n")[0]
    finally:
        timer.cancel()
    return ([[answers.of_duckdb(cell) for cell in row] for row in rows], None) if len(rows) <= ROWS else (None, "too long")


def ask_tessera(build, database, threads, sql):
    try:
        run = subprocess.run([os.path.join(build, "tessera"), "sql", "--db", database, "--device", "cpu", "--threads",
                              str(threads), "--format", "csv", sql], capture_output=True, text=True, encoding="utf-8",
                             errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, "too slow"
    return (answers.read_csv(run.stdout)[1:], None) if run.returncode == 0 else (None, run.stderr.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="the folder of the programs")
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--statements", type=int, default=WORLD)
    chosen = parser.parse_args()
    tally, asked, seed, reasons = {"alike": 0, "different": 0, "left out": 0, "refused": 0}, 0, chosen.seed, {}
    while asked < chosen.statements:
        with tempfile.TemporaryDirectory(prefix="tessera-tree-") as folder:
            statements = make(chosen.build, folder, seed, min(WORLD, chosen.statements - asked))
            database, connection = load(chosen.build, folder)
            for number, sql in enumerate(statements):
                rows, why = ask_duckdb(connection, sql)
                mine, sentence = (None, None) if why else ask_tessera(chosen.build, database, 1 + number % 2, sql)
                verdict = ("left out" if why or sentence == "too slow" else "refused" if sentence else
                           "alike" if answers.same(mine, rows, False) else "different")
                tally[verdict] += 1
                if why:
                    reasons[why[:60]] = reasons.get(why[:60], 0) + 1
                if verdict in ("different", "refused"):
                    print("%s, seed %d, statement %d: %s;" % (verdict, seed, number, sql))
                    print("    %s" % (sentence or "ours, then DuckDB's: %d and %d rows" % (len(mine), len(rows))), flush=True)
            connection.close()
        asked, seed = asked + len(statements), seed + 1
    for why, count in sorted(reasons.items(), key=lambda item: -item[1])[:12]:
        print("%6d left out: %s" % (count, why))
    print("seeds %d to %d: %s" % (chosen.seed, seed - 1, ", ".join("%d %s" % (count, name) for name, count in tally.items())))
    sys.exit(1 if tally["different"] else 0)


if __name__ == "__main__":
    main()
