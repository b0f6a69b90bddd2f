#!/usr/bin/env python3
"""Asks TPC-H and TPC-DS, and compares every cell with DuckDB's answer; tests/tpc.sh runs it.

The data of each scale factor are made once: a file of DuckDB, and a database of Tessera with and one without the
references that TPC declares, as they are asked for. It prints a line a statement: seconds of both, rows, and whether they are equal.
Exit code 1: an answer differs, or a statement is refused. docs/trust.md says what equal means.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "trial"))
import answers
import compare
import schema

GENERATORS = {"tpch": ("dbgen", 22), "tpcds": ("dsdgen", 99)}
SETTINGS = ["set default_null_order = 'nulls_first_on_asc_last_on_desc'", "set integer_division = true"]
PARTS_SF, PARTS_MOST = 3, 32

# A process that makes a part of TPC-H.
PART = """
import sys
sys.path.insert(0, %r)
import tpc
sf, parts, part, folder = %r, %d, %d, %r
judge = tpc.DuckDB(":memory:", 1, read_only=False)
judge.load_generator("tpch")
judge.connection.execute("call dbgen(sf = %%s, children = %%d, step = %%d)" %% (sf, parts, part))
for table in judge.tables():
    judge.connection.execute("copy %%s to '%%s/%%s.%%d.csv' (header true, nullstr '')" %% (table, folder, table, part))
"""


class DuckDB:
    def __init__(self, file, threads, read_only=True):
        import duckdb
        self.connection = duckdb.connect(file, read_only=read_only)
        for setting in SETTINGS + (["set threads = %d" % threads] if threads else []):
            self.connection.execute(setting)

    def load_generator(self, benchmark):
        """The extension of that name, of the same version."""
        import duckdb
        import importlib
        package = importlib.import_module("duckdb_extension_" + benchmark)
        self.connection.execute("load '%s'" % os.path.join(
            os.path.dirname(package.__file__), "extensions", "v" + duckdb.__version__, benchmark + ".duckdb_extension"))

    def fetch(self, sql):
        return self.connection.execute(sql).fetchall()

    def tables(self):
        """{table: [(column, type), ...]} in the order of its columns."""
        found = {}
        for table, column, type_name in self.fetch(
                "select table_name, column_name, data_type from duckdb_columns() where not internal "
                "order by table_name, column_index"):
            found.setdefault(table, []).append((column, type_name))
        return found


class Benchmark:
    """The data and the texts of one benchmark at one scale factor."""

    def __init__(self, name, chosen, kinds=(True, False)):
        """`kinds`: which databases of Tessera there must be, with references (True) or without."""
        self.name, self.chosen = name, chosen
        self.folder = os.path.join(chosen.folder, "%s-sf%s" % (name, chosen.sf))
        self.parts = min(PARTS_MOST, os.cpu_count()) if name == "tpch" and float(chosen.sf) >= PARTS_SF else 1
        if not os.path.exists(self.statements()):
            self.make()
        self.load([references for references in kinds if not os.path.exists(self.database(references))])
        self.judge = DuckDB(self.duckdb(), chosen.threads)
        with open(self.statements(), encoding="utf-8") as file:
            self.texts = {int(number): text for number, text in json.load(file).items()}
        if len(self.texts) != GENERATORS[name][1]:
            sys.exit("DuckDB has %d statements of %s" % (len(self.texts), name))

    def make(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        say("making the data of %s at scale factor %s" % (self.name, self.chosen.sf))
        judge = DuckDB(self.duckdb(), self.chosen.threads, read_only=False)
        judge.load_generator(self.name)
        if self.parts == 1:
            judge.connection.execute("call %s(sf = %s)" % (GENERATORS[self.name][0], self.chosen.sf))
        else:
            self.make_parts(judge)
        texts = dict(judge.fetch("select query_nr, query from %s_queries()" % self.name))
        judge.connection.close()
        with open(self.statements(), "w", encoding="utf-8") as file:
            json.dump(texts, file)

    def make_parts(self, judge):
        """Large data of TPC-H are made in parts, a process each: the generator has one thread."""
        judge.connection.execute("call dbgen(sf = 0)")
        running = [subprocess.Popen([sys.executable, "-c", PART % (HERE, self.chosen.sf, self.parts, part, self.folder)])
                   for part in range(self.parts)]
        if any([process.wait() for process in running]):
            sys.exit("the data cannot be made")
        for table in judge.tables():
            judge.connection.execute("insert into %s select * from read_csv(%r, header = true)" % (table, self.csv(table)))

    def load(self, kinds):
        """Makes the databases of Tessera of these kinds."""
        if not kinds:
            return
        judge = DuckDB(self.duckdb(), self.chosen.threads)
        tables = judge.tables()
        for table in tables:
            if not os.path.exists(self.csv(table)[0]): # they are gone since other databases were loaded
                self.parts = 1
                judge.connection.execute("copy %s to '%s' (header true, nullstr '')" % (table, self.csv(table)[0]))
        judge.connection.close()
        for references in kinds:
            script = os.path.join(self.folder, "schema-%s.sql" % word(references))
            with open(script, "w") as file:
                file.write(schema.script(self.name, tables, references))
            run = subprocess.run([self.chosen.tessera, "load", "--db", self.database(references), "--schema", script,
                                  "--header", "yes", *("%s=%s" % (table, ",".join(self.csv(table))) for table in tables)],
                                 capture_output=True, text=True, encoding="utf-8")
            if run.returncode:
                sys.exit("the data cannot be loaded: " + run.stderr)
        for file in (file for table in tables for file in self.csv(table)):
            os.unlink(file)

    def duckdb(self):
        return os.path.join(self.folder, "duckdb")

    def statements(self):
        """The file of the texts. It is written last: without it the data are made anew."""
        return os.path.join(self.folder, "statements.json")

    def csv(self, table):
        """The files of a table's rows, one a part."""
        return [os.path.join(self.folder, "%s.%d.csv" % (table, part)) for part in range(self.parts)]

    def database(self, references):
        return os.path.join(self.folder, "tessera-" + word(references))

    def run(self, sql, references):
        threads = ["--threads", str(self.chosen.threads)] if self.chosen.threads else []
        return subprocess.run([self.chosen.tessera, "sql", "--db", self.database(references), "--format", "csv", "--timer",
                               "--device", self.chosen.device, *threads, sql], capture_output=True, text=True,
                              encoding="utf-8", errors="replace", timeout=self.chosen.timeout)

    def estimates(self, number, references):
        """(expected rows, rows) of each operator, from EXPLAIN ANALYZE."""
        run = self.run("explain (analyze, format json) " + self.texts[number], references)
        if run.returncode:
            sys.exit("%s:%d cannot be explained: %s" % (self.name, number, run.stderr))
        return list(operators(json.loads(answers.read_csv(run.stdout)[1][0])))

    def ask(self, number, references):
        """(rows, seconds, None), or (None, seconds, the sentence)."""
        begin = time.perf_counter()
        try:
            run = self.run(self.texts[number], references)
        except subprocess.TimeoutExpired:
            return None, self.chosen.timeout, "no answer in %g seconds" % self.chosen.timeout
        seconds = time.perf_counter() - begin
        if run.returncode:
            return None, seconds, "exit code %d: %s" % (run.returncode, run.stderr.strip().replace("\n", " "))
        total = re.search(r"; total ([0-9.]+)", run.stderr)
        return answers.read_csv(run.stdout)[1:], float(total.group(1)) / 1e3 if total else seconds, None


def operators(node):
    if "rows" in node and "estimated_rows" in node:
        yield node["estimated_rows"], node["rows"]
    for child in node.get("inputs", []):
        yield from operators(child)


def tell_estimates(name, pairs):
    """How far expected rows are from rows; fewer than one count as one."""
    ratios = sorted(max(expected, 1) / max(rows, 1) for expected, rows in pairs)
    factors = sorted(max(ratio, 1 / ratio) for ratio in ratios)
    middle, most = len(pairs) // 2, len(pairs) * 95 // 100
    print("%s: %d operators; expected rows / rows: median %.3g; by a factor of at most %.3g (median), %.3g (95 %%)" % (
        name, len(pairs), ratios[middle], factors[middle], factors[most]))


def word(references):
    return "references" if references else "alone"


def say(text):
    print(text, file=sys.stderr, flush=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tessera", help="the program")
    parser.add_argument("--folder", required=True, help="where data are made, and stay")
    parser.add_argument("--sf", default="0.1", help="the scale factor")
    parser.add_argument("--only", help="tpch, tpcds, or statements of them: tpch:3,tpch:9,tpcds:14")
    parser.add_argument("--references", choices=["yes", "no", "both"], default="both")
    parser.add_argument("--device", default="cpu", help="as of tessera sql")
    parser.add_argument("--threads", type=int, default=0, help="of both; 0: all")
    parser.add_argument("--estimates", action="store_true",
                        help="compare nothing; tell how far the rows that operators were expected to give are from their rows")
    parser.add_argument("--timeout", type=float, default=600, help="seconds of a statement")
    chosen = parser.parse_args()
    chosen.tessera = os.path.abspath(chosen.tessera)
    return chosen


def numbers_of(name, only):
    """The statements of a benchmark that --only names."""
    every = range(1, GENERATORS[name][1] + 1)
    named = [part.partition(":") for part in only.split(",")] if only else [(name, "", "")]
    return [n for n in every if any(part[0] == name and part[2] in ("", str(n)) for part in named)]


def main():
    chosen = options()
    failures, asked, slow = 0, 0, []
    for name in GENERATORS:
        numbers = numbers_of(name, chosen.only)
        if not numbers:
            continue
        kinds = {"yes": [True], "no": [False], "both": [True, False]}[chosen.references]
        benchmark = Benchmark(name, chosen, kinds)
        if chosen.estimates:
            for references in kinds:
                tell_estimates("%s, %s" % (name, word(references)),
                               [pair for number in numbers for pair in benchmark.estimates(number, references)])
            continue
        print("%-10s %-11s %9s %9s %8s  equal" % ("statement", "references", "seconds", "DuckDB's", "rows"))
        for number in numbers:
            begin = time.perf_counter()
            benchmark.judge.fetch(benchmark.texts[number])
            theirs = time.perf_counter() - begin
            right = compare.Answer(benchmark.judge, benchmark.texts[number])
            for references in kinds:
                rows, seconds, why = benchmark.ask(number, references)
                why = why or right.difference(rows)
                asked += 1
                failures += why is not None
                slow.append((seconds, theirs, "%s:%d" % (name, number), word(references)))
                print("%-10s %-11s %9.3f %9.3f %8s  %s" % (
                    "%s:%d" % (name, number), "declared" if references else "none", seconds, theirs,
                    "-" if rows is None else len(rows), why or ("yes" if right.ordered else "yes, order not checked")), flush=True)
    if not asked:
        return False
    print("%d asked, %d equal; the slowest:" % (asked, asked - failures))
    for seconds, theirs, statement, references in sorted(slow, reverse=True)[:5]:
        print("  %s (%s) %.3f s, DuckDB %.3f s" % (statement, references, seconds, theirs))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
