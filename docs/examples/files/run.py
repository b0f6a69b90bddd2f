#!/usr/bin/env python3
"""Three businesses from their files to answers: infers schemas, loads, asks, appends a month, replaces it, deletes, copies
out.

    python3 docs/examples/files/run.py [--folder DIR] [--rows N] [--only taxi,logs,retail] [--tessera PROGRAM]
        [--rounds N] [--quiet]

Makes the files by make.py, runs taxi.sh, logs.sh and retail.sh beside this file, and shows what they type, what the program
prints, and the seconds of each step. If the Python module duckdb is installed, the same is done with it
(*.duckdb.sql): answers and written files must be the same, and a table has both. Tessera's seconds are those of processes
with their start, DuckDB's those of statements alone. "ask the files" is the first question without loading. Both use all
cores. With --rounds, both work by turns, and each step has the least of its times.

Ends with exit code 1 if a command fails or an answer differs.
"""
import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = os.path.normpath(os.path.join(HERE, *[".."] * 3, "build", "release", "tessera"))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import make  # noqa: E402

FIRST_ANSWER = ("infer", "macro", "load", "ask")


def steps_of(name, mark):
    """Pairs of a step and its text: the lines after '#: step'."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        parts = re.split(r"(?m)^%s: (.*)\n" % mark, file.read())[1:]
    return list(zip(parts[::2], parts[1::2]))


def typed(steps, names):
    """Lines that are typed."""
    return sum(bool(line.strip()) for step, text in steps if step in names for line in text.splitlines())


def size_of(path):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names
               ) if os.path.isdir(path) else os.path.getsize(path)


# ---- Tessera ----

def run_tessera(name, folder, program):
    """Runs the steps in one shell, which prints the time between them; gives seconds and what was printed, by step."""
    steps = steps_of(name + ".sh", "#")
    shutil.rmtree(os.path.join(folder, name + ".db"), ignore_errors=True)
    with tempfile.NamedTemporaryFile("w", suffix=".sh", encoding="utf-8") as script:
        script.write("set -e\n")
        for step, text in steps:
            script.write('echo "#: $EPOCHREALTIME"\n' + text)
        script.write('echo "#: $EPOCHREALTIME"\n')
        script.flush()
        environment = dict(os.environ, PATH=os.path.dirname(program) + ":" + os.environ["PATH"], LC_ALL="C.UTF-8")
        done = subprocess.run(["bash", script.name], cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8")
    if done.returncode:
        sys.exit("%s.sh failed:\n%s" % (name, done.stdout))
    parts = re.split(r"(?m)^#: ([0-9.]+)\n", done.stdout)[1:]
    times, printed = [float(text) for text in parts[::2]], parts[1::2]
    return ({step: (after - before, text) for (step, _), before, after, text in zip(steps, times, times[1:], printed)},
            size_of(os.path.join(folder, name + ".db")))


def rows_of_table(printed):
    """The cells of an answer as the shell prints it: names, a line of dashes for each column, rows."""
    lines = printed.splitlines()
    dashes = next(i for i, line in enumerate(lines) if re.fullmatch(r"-+(  -+)*", line))
    spans = [match.span() for match in re.finditer("-+", lines[dashes])]
    return [[line[begin:end].strip() for begin, end in spans] for line in lines[dashes + 1:]]


# ---- DuckDB ----

def run_duckdb(name, folder, duckdb):
    """Gives seconds and the rows of the last query, by step."""
    database = os.path.join(folder, name + ".duckdb")
    for path in (database, database + ".wal"):
        if os.path.exists(path):
            os.remove(path)
    connection, results, before = duckdb.connect(database), {}, os.getcwd()
    os.chdir(folder)
    for step, text in steps_of(name + ".duckdb.sql", "--"):
        rows, began = None, time.monotonic()
        for statement in text.split(";\n"):
            if statement.strip():
                rows = connection.execute(statement).fetchall()
        results[step] = (time.monotonic() - began, rows)
    connection.close()
    os.chdir(before)
    return results, size_of(database)


def same(a, b):
    """Two values that were printed: numbers to nine digits."""
    try:
        return abs(float(a) - float(b)) <= 1e-9 * max(abs(float(a)), abs(float(b)))
    except ValueError:
        return a == b


def compare(what, ours, theirs):
    theirs = [["" if value is None else str(value) for value in row] for row in theirs]
    if len(ours) != len(theirs) or not all(same(a, b) for x, y in zip(ours, theirs) for a, b in zip(x, y)):
        sys.exit("%s: DuckDB answers otherwise:\n%s\n%s" % (what, ours[:10], theirs[:10]))


def rows_of_file(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


# ---- Both ----

def show(name, results):
    for step, text in steps_of(name + ".sh", "#"):
        seconds, printed = results[step]
        print("\n--- %s: %s, %.2f s" % (name, step, seconds))
        print("".join("$ " + line if line[0] != " " else line for line in text.splitlines(True)) + printed, end="")


def least(rounds):
    """Of several runs: the least seconds of each step, and what the last one gave."""
    return {step: (min(results[step][0] for results in rounds), rounds[-1][step][1]) for step in rounds[0]}


def run_both(name, files, program, duckdb, rounds):
    """Gives steps and bytes of Tessera, and those of DuckDB, or None and 0."""
    ours, theirs, their_bytes = [], [], 0
    for _ in range(rounds):
        results, our_bytes = run_tessera(name, files, program)
        ours.append(results)
        if not duckdb:
            continue
        days = rows_of_file(os.path.join(files, "days.csv"))
        others, their_bytes = run_duckdb(name, files, duckdb)
        theirs.append(others)
        for step in ("ask the files", "ask", "ask more", "ask for local hours"):
            if step in results:
                compare("%s: %s" % (name, step), rows_of_table(results[step][1]), others[step][1])
        compare("%s: days.csv" % name, days, rows_of_file(os.path.join(files, "days.csv")))
    return least(ours), our_bytes, least(theirs) if theirs else None, their_bytes


def figures_of(name, ours, our_bytes, theirs, their_bytes):
    """What each row of the table is called, with the figures of Tessera and DuckDB as they are shown."""
    figures = {}

    def add(what, form, *values):
        figures[what] = [form % value if value is not None else "" for value in values]

    our_steps, their_steps = steps_of(name + ".sh", "#"), steps_of(name + ".duckdb.sql", "--")
    add("**from files to the first answer, s**", "**%.2f**", *(
        sum(results[step][0] for step in FIRST_ANSWER if step in results) if results else None
        for results in (ours, theirs)))
    for step in dict(ours, **theirs or {}):
        if step != "macro":
            add(step + ", s", "%.2f", *(results[step][0] if results and step in results else None
                                        for results in (ours, theirs)))
    add("lines typed for the first answer", "%d", typed(our_steps, FIRST_ANSWER), typed(their_steps, FIRST_ANSWER))
    rest = set(ours) - {"ask the files"}
    add("lines typed for all steps", "%d", typed(our_steps, rest), typed(their_steps, rest | {"macro"}))
    add("database, MB", "%.0f", our_bytes / 1e6, their_bytes / 1e6 if theirs else None)
    return figures


def print_table(rows, tables):
    print("\n| %d rows each | %s |\n|%s" % (rows, " | ".join("%s | DuckDB" % name for name, *_ in tables),
                                           "---|" * (1 + 2 * len(tables))))
    figures = [figures_of(*table) for table in tables]
    for what in dict.fromkeys(what for own in sorted(figures, key=len, reverse=True) for what in own):
        print("| %s | %s |" % (what, " | ".join(cell for own in figures for cell in own.get(what, ("", "")))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", help="where the files are made and kept; without it, they are removed in the end")
    parser.add_argument("--rows", type=int, default=2000000)
    parser.add_argument("--only", default="taxi,logs,retail")
    parser.add_argument("--tessera", default=BUILT if os.access(BUILT, os.X_OK) else shutil.which("tessera") or BUILT)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--quiet", action="store_true", help="the table alone")
    options = parser.parse_args()
    program = os.path.abspath(options.tessera)
    if not os.access(program, os.X_OK):
        sys.exit("%s is not there: run `make build`, or name the program by --tessera" % program)
    os.environ["PATH"] = os.path.dirname(program) + ":" + os.environ["PATH"]
    try:
        import duckdb
    except ImportError:
        duckdb = None
        print("The Python module duckdb is not installed (pip install duckdb), so nothing is compared.")
    with tempfile.TemporaryDirectory() as made:
        folder = os.path.abspath(options.folder or made)
        if not os.path.isdir(os.path.join(folder, "retail")):
            make.make(folder, options.rows)
        tables = []
        for name in options.only.split(","):
            files = os.path.join(folder, name)
            both = run_both(name, files, program, duckdb, options.rounds)
            if not options.quiet:
                show(name, both[0])
            tables.append((name, *both))
        print_table(options.rows, tables)


if __name__ == "__main__":
    main()
