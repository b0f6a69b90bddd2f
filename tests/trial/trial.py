#!/usr/bin/env python3
"""The trial: makes a shop's nasty data, loads it, and asks what analysts ask.

    python3 tests/trial/trial.py build/release/tessera                      20,000 rows, some seconds
    python3 tests/trial/trial.py build/release/tessera --rows 5000000       minutes, 1 GB in the folder
    python3 tests/trial/trial.py build/release/tessera --keep               writes answers.json anew (needs DuckDB)

DuckDB is the judge if its module can be imported (`--judge PYTHON` runs the trial with another interpreter that has
it); without it, and with the default rows and seed, the answers are those of answers.json. It prints how many questions
of each topic were answered right, the sentence of each refusal, and each wrong answer beside the right one. The exit
code is 1 if an answer is wrong, if nobody knows the right one, or if fewer than --least are right.
"""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import answers
import data

ROWS, SEED = 20000, 16
SETTINGS = ["set default_null_order = 'nulls_first_on_asc_last_on_desc'", "set integer_division = true"]


def questions():
    """(topic, title, SQL) of each question in queries.sql."""
    found = []
    with open(os.path.join(HERE, "queries.sql"), encoding="utf-8") as file:
        for line in file:
            head = re.match(r"-- ([a-z ]+): (.*)", line)
            if head:
                found.append([head.group(1), head.group(2), ""])
            elif found:
                found[-1][2] += line
    return [(topic, title, sql.strip().rstrip(";")) for topic, title, sql in found] + long_questions()


def long_questions():
    """Statements as report generators write them."""
    sums = ", ".join("sum(case when quantity = %d then paid end) as q%d" % (i, i) for i in range(140))
    conditions = " and ".join("paid <> %d.5" % i for i in range(70))
    terms = ["quantity > %d" % i for i in range(18)]
    return [("limits", "140 aggregates", "select %s from sales" % sums),
            ("limits", "70 conditions", "select count(*) from sales where " + conditions),
            ("limits", "18 groups", "select %s, count(*) from sales group by %s order by count(*) desc, sum(sale_id)" % (
                ", ".join(terms), ", ".join(terms)))]


def is_ordered(sql):
    depth, text = 0, ""
    for c in sql.lower():
        depth += (c == "(") - (c == ")")
        text += c if depth == 0 else " "
    return "order by" in text


class Tessera:
    def __init__(self, program, folder, options):
        self.program, self.database, self.options = program, os.path.join(folder, "db"), options

    def call(self, *arguments):
        return subprocess.run([self.program, *arguments], capture_output=True, text=True, encoding="utf-8", errors="replace")

    def load(self, folder):
        """Loads all tables; columns of types that the loader does not know yet are left out and named."""
        types = {name: self.accepts(folder, name) for name in data.TRIAL_TYPES}
        left_out = []
        schema = os.path.join(folder, "star.sql")
        with open(schema, "w") as file:
            for table, columns in data.TABLES.items():
                kept = []
                for name, type_name, rest in columns:
                    if type_name == "SMALLINT" and not types["SMALLINT"]:
                        type_name = "INT"
                    if types.get(type_name, True):
                        kept.append("%s %s %s" % (name, type_name, rest))
                    else:
                        left_out.append("%s.%s" % (table, name))
                file.write("CREATE TABLE %s (%s);\n" % (table, ", ".join(kept)))
        files = []
        for table, columns in data.TABLES.items():
            path = os.path.join(folder, table + ".csv")
            if any(name.startswith(table + ".") for name in left_out):
                path = self.without(path, table, left_out)
            files.append("%s=%s" % (table, path))
        begin = time.time()
        run = self.call("load", "--force", "--db", self.database, "--schema", schema, *files)
        if run.returncode:
            sys.exit("the data cannot be loaded: " + run.stderr)
        return left_out, time.time() - begin

    def accepts(self, folder, type_name):
        schema, rows = os.path.join(folder, "probe.sql"), os.path.join(folder, "probe.csv")
        with open(schema, "w") as file:
            file.write("CREATE TABLE probe (k INT, x %s);" % type_name)
        with open(rows, "w") as file:
            file.write("k,x\n1,2\n2,3\n")
        probe = os.path.join(folder, "probe.db")
        return self.call("load", "--force", "--db", probe, "--schema", schema, "probe=" + rows).returncode == 0

    @staticmethod
    def without(path, table, left_out):
        names = [name for name, _, _ in data.TABLES[table]]
        keep = [i for i, name in enumerate(names) if "%s.%s" % (table, name) not in left_out]
        out = path[:-4] + "-less.csv"
        with open(path, encoding="utf-8", newline="") as source, open(out, "w", encoding="utf-8", newline="") as target:
            for row in answers.read_csv(source.read()):
                target.write(",".join(data.field(row[i]) for i in keep) + "\n")
        return out

    def ask(self, sql):
        """(rows, None), or (None, the sentence)."""
        run = self.call("sql", "--db", self.database, "--format", "csv", *self.options, sql)
        if run.returncode == 0:
            return answers.read_csv(run.stdout)[1:], None
        sentence = run.stderr.strip().replace("\n", " ")
        if run.returncode not in (1, 2, 3):
            sentence = "ended with %d: %s" % (run.returncode, sentence)
        return None, re.sub(r"^tessera: ", "", sentence)

    def milliseconds(self, sql, runs):
        """The fastest of some runs in one process, from reading the statement to writing the last byte."""
        run = self.call("sql", "--db", self.database, "--format", "csv", "--timer", *self.options, ";\n".join([sql] * runs))
        return min(float(total) for total in re.findall(r"; total ([0-9.]+)", run.stderr))


class DuckDB:
    def __init__(self, folder, threads):
        import duckdb
        self.connection = duckdb.connect()
        for setting in SETTINGS + (["set threads = %d" % threads] if threads else []):
            self.connection.execute(setting)
        for table, columns in data.TABLES.items():
            self.connection.execute("create table %s (%s)" % (table, ", ".join(
                "%s %s" % (name, type_name) for name, type_name, _ in columns)))
            self.connection.execute("copy %s from '%s' (header, nullstr '', allow_quoted_nulls false, parallel false, quote '\"', "
                                    "escape '\"', delimiter ',')" % (table, os.path.join(folder, table + ".csv")))

    def ask(self, sql):
        return [[answers.of_duckdb(value) for value in row] for row in self.connection.execute(sql).fetchall()]

    def milliseconds(self, sql, runs):
        fastest = math.inf
        for _ in range(runs):
            begin = time.perf_counter()
            self.connection.execute(sql).fetchall()
            fastest = min(fastest, time.perf_counter() - begin)
        return fastest * 1e3


class Kept:
    """The answers of answers.json, by SQL, for the default rows and seed."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.answers = json.load(file)


def show(rows, of_judge):
    text = [" | ".join(("NULL" if cell[0] == "n" else str(cell[1])) if of_judge else ("NULL" if cell is None else cell)
                       for cell in row) for row in rows[:12]]
    return "\n".join("      " + line for line in text) + ("\n      ... %d rows" % len(rows) if len(rows) > 12 else "")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tessera", help="the program")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the two fact tables together")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--judge", help="a Python that has DuckDB's module; the trial is run with it")
    parser.add_argument("--keep", action="store_true", help="write DuckDB's answers to the file of --answers")
    parser.add_argument("--answers", default=os.path.join(HERE, "answers.json"), metavar="FILE", help="the kept answers")
    parser.add_argument("--folder", help="where data is made, and stays; by default a temporary folder")
    parser.add_argument("--topic", help="ask only the questions of this topic")
    parser.add_argument("--least", type=int, default=0, help="fail if fewer answers are right")
    parser.add_argument("--quiet", action="store_true", help="print only the table and wrong answers")
    parser.add_argument("--times", type=int, default=0, metavar="RUNS", help="compare the fastest of RUNS with DuckDB's")
    parser.add_argument("--no-judge", action="store_true", help="do not use DuckDB even if it is there")
    parser.add_argument("--device", default="auto", help="as of tessera sql")
    parser.add_argument("--threads", type=int, default=0, help="of both; 0: all")
    return parser.parse_args()


def judge_of(chosen, folder):
    """DuckDB, or the kept answers; ends the program where neither can judge."""
    if not chosen.no_judge:
        try:
            return DuckDB(folder, chosen.threads)
        except ImportError:
            pass
    if (chosen.rows, chosen.seed) != (ROWS, SEED):
        sys.exit("without DuckDB's module only the default --rows and --seed have kept answers")
    return Kept(chosen.answers)


def judged(judge, tessera, sql):
    """('right' | 'refused' | 'wrong' | 'unknown', what to print)."""
    ordered = is_ordered(sql)
    mine, sentence = tessera.ask(sql)
    kept = expected = None
    if isinstance(judge, Kept):
        kept = judge.answers.get(sql)
        if kept is None:
            return "unknown", "has no kept answer; run the trial with --keep where DuckDB is installed"
    else:
        expected = judge.ask(sql)
    if sentence is not None:
        return ("wrong" if sentence.startswith("ended with") else "refused"), sentence
    if answers.same_as_kept(mine, kept, ordered) if kept else answers.same(mine, expected, ordered):
        return "right", ""
    right = show(kept.get("rows") or kept["first"] if kept else expected, True)
    return "wrong", "Tessera:\n%s\n    right is:\n%s" % (show(mine, False), right)


def trial(chosen, folder):
    program = shutil.which(chosen.tessera) or os.path.abspath(chosen.tessera)
    data.make(folder, chosen.rows, chosen.seed)
    tessera = Tessera(program, folder, ["--device", chosen.device] + (["--threads", str(chosen.threads)] if chosen.threads else []))
    left_out, seconds = tessera.load(folder)
    judge = judge_of(chosen, folder)
    asked = [q for q in questions() if chosen.topic in (None, q[0])]
    if chosen.keep:
        kept = {sql: answers.keep(judge.ask(sql), is_ordered(sql)) for _, _, sql in asked}
        with open(chosen.answers, "w", encoding="utf-8") as file:
            json.dump(kept, file, ensure_ascii=False, separators=(",", ":"), indent=0)
    print("%d rows of facts, loaded in %.2f s; the judge is %s" % (chosen.rows, seconds, type(judge).__name__))
    if left_out:
        print("left out, because their types cannot be loaded: " + ", ".join(left_out))
    totals, ratios = {}, []
    for topic, title, sql in asked:
        verdict, text = judged(judge, tessera, sql)
        totals.setdefault(topic, dict.fromkeys(["right", "refused", "wrong", "unknown"], 0))[verdict] += 1
        if verdict in ("wrong", "unknown") or verdict != "right" and not chosen.quiet:
            print("%s  %s: %s\n    %s\n    %s" % (verdict.upper(), topic, title, sql.replace("\n", "\n    "), text))
        if chosen.times and verdict == "right" and isinstance(judge, DuckDB):
            mine, other = tessera.milliseconds(sql, chosen.times), judge.milliseconds(sql, chosen.times)
            ratios.append(other / mine)
            print("%9.2f ms, DuckDB %9.2f ms, %6.2f times as long  %s: %s" % (mine, other, other / mine, topic, title))
    if ratios:
        print("DuckDB takes %.2f times as long (geometric mean of %d); Tessera is more than 1.2 times slower in %d" % (
            math.exp(sum(map(math.log, ratios)) / len(ratios)), len(ratios), sum(ratio < 1 / 1.2 for ratio in ratios)))
    return table(totals)


def table(totals):
    verdicts = ["right", "refused", "wrong", "unknown"]
    print("\n%-14s%8s%9s%7s%9s" % ("topic", *verdicts))
    for topic, counts in totals.items():
        print("%-14s%8d%9d%7d%9d" % (topic, *[counts[v] for v in verdicts]))
    total = {v: sum(counts[v] for counts in totals.values()) for v in verdicts}
    print("%-14s%8d%9d%7d%9d" % ("all", *[total[v] for v in verdicts]))
    return total


def main():
    chosen = options()
    if chosen.judge:
        arguments = [a for a in sys.argv[1:]]
        at = next(i for i, a in enumerate(arguments) if a.startswith("--judge"))
        del arguments[at:at + (1 if "=" in arguments[at] else 2)]
        os.execv(chosen.judge, [chosen.judge, os.path.abspath(__file__), *arguments])
    folder = chosen.folder or tempfile.mkdtemp(prefix="tessera-trial-")
    try:
        total = trial(chosen, folder)
    finally:
        if not chosen.folder:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if total["wrong"] or total["unknown"] or total["right"] < chosen.least else 0)


if __name__ == "__main__":
    main()
