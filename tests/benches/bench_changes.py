#!/usr/bin/env python3
"""Measures what appends, deletes and compaction of SSB cost, and what they leave for the 13 queries to pay.

    tests/benches/bench_changes.py --folder DIR [--sf 1] [--build build/release] [--device auto] [--threads N]
                                   [--appends 100] [--rounds 3] [--keep]

It generates the tables in DIR and makes databases there: of all rows but the last percent of lineorder, to which that percent
is appended together with one percent more rows of customer, supplier and part, which it references; of the first of these
rows, to which the others are appended in as many parts of a thousandth as --appends says, then compacted; and two of
which rows are deleted: a month, and one order of a hundred. It prints how long each change takes, what it takes as a
percentage of the load, how many bytes it adds; and for each database the 13 queries, asked of `tessera sql`, from the
text to the rows: milliseconds, the least of all rounds, and their ratio to those of the database as it was loaded. All
answers to the same rows are compared. Exit code 1: two differ. --keep leaves the databases there.
"""
import argparse
import itertools
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import bench_duckdb

KEYS = {2: "customer", 3: "part", 4: "supplier"}  # fields of lineorder
REPEATS = 6                                       # of the 13 in a process; the first is not timed
MONTH = "lo_orderdate between 19940101 and 19940131"
HUNDREDTH = "lo_orderkey % 100 = 7"


def schema():
    """The tables as `tessera ssb load` declares them."""
    script = ""
    for table, columns in bench_duckdb.TABLES.items():
        columns, items = columns.split(), []
        for column in columns:
            to = bench_duckdb.REFERENCES.get(column)
            items.append(f"{column} {bench_duckdb.type_of(column)} not null" +
                         (" primary key" if column == columns[0] and table != "lineorder" else "") +
                         (f" references {to} ({bench_duckdb.TABLES[to].split()[0]})" if to else ""))
        script += f"create table {table} ({', '.join(items)});\n"
    return script


def lines_of(path):
    with open(path, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 24), b""))


def cut(path, to, counts):
    """Writes the first lines of a file, the next ones and so on into files of their own."""
    with open(path, "rb") as file:
        for target, count in zip(to, counts):
            with open(target, "wb") as out:
                out.writelines(itertools.islice(file, count))


class Trial:
    def __init__(self, options):
        self.options = options
        self.program = str(pathlib.Path(options.build).resolve() / "tessera")
        self.folder = pathlib.Path(options.folder).resolve() / f"changes-sf{options.sf}"
        self.text = self.folder / "tbl"
        self.script = self.folder / "star.sql"
        self.databases = []

    def run(self, *words, **more):
        """Seconds that the program takes."""
        begin = time.perf_counter()
        done = subprocess.run([self.program, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more)
        if done.returncode:
            sys.exit(f"bench_changes.py: tessera {' '.join(map(str, words))}: {done.stderr.strip()}")
        return time.perf_counter() - begin

    def threads(self):
        return ["--threads", self.options.threads] if self.options.threads else []

    def generate(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.run("ssb", "generate", "--sf", self.options.sf, "--out", self.text)
        self.script.write_text(schema())

    def database(self, name):
        return self.folder / name

    def bytes_of(self, name):
        return sum(path.stat().st_size for path in self.database(name).rglob("*") if path.is_file())

    def load(self, name, rows):
        """A database of these files: {table: file}."""
        folder = self.folder / f"{name}.from"
        folder.mkdir()
        for table in bench_duckdb.TABLES:
            (folder / f"{table}.tbl").symlink_to(rows.get(table, self.text / f"{table}.tbl"))
        return self.run("ssb", "load", "--db", self.database(name), "--from", folder, "--sf", self.options.sf, *self.threads())

    def append(self, name, rows):
        return self.run("load", "--append", "--db", self.database(name), "--schema", self.script,
                        *(f"{table}={file}" for table, file in rows.items()), *self.threads())

    def copy(self, name, to):
        shutil.copytree(self.database(name), self.database(to))

    def delete(self, name, condition):
        return self.run("delete", "--db", self.database(name), "lineorder", condition)

    def ask(self, name):
        """The least milliseconds of each of the 13, and their answers."""
        texts = [text.rstrip(";") + ";\n" for _, text in sorted(bench_duckdb.statements().items())]
        done = subprocess.run([self.program, "sql", "--db", self.database(name), "--device", self.options.device, "--format", "csv",
                               "--timer", *map(str, self.threads())], input="".join(texts * REPEATS), capture_output=True, text=True)
        totals = [float(total) for total in re.findall(r"; total ([0-9.]+)", done.stderr)]
        if done.returncode or len(totals) != REPEATS * len(texts):
            sys.exit(f"bench_changes.py: {name}: {done.stderr[-1000:].strip()}")
        answers = done.stdout.splitlines()
        return [min(totals[q::len(texts)][1:]) for q in range(len(texts))], sorted(answers[:len(answers) // REPEATS])


def new_rows(trial):
    """The files of rows to load and of those to append: {table: file} of both. New rows of dimensions are their first percent
    with keys of their own, which every second of lineorder's last percent of rows references."""
    first, last, keys = {}, {}, {}
    for field, table in KEYS.items():
        first[table], last[table] = trial.text / f"{table}.tbl", trial.folder / f"{table}.new"
        lines = lines_of(first[table])
        keys[field] = (lines, max(lines // 100, 1))
        with open(first[table], "rb") as rows, open(last[table], "wb") as new:
            for key, row in enumerate(itertools.islice(rows, keys[field][1]), lines + 1):
                new.write(b"%d|%s" % (key, row.split(b"|", 1)[1]))
    first["lineorder"], last["lineorder"] = trial.folder / "lineorder.first", trial.folder / "lineorder.new"
    lines = lines_of(trial.text / "lineorder.tbl")
    cut(trial.text / "lineorder.tbl", (first["lineorder"], trial.folder / "lineorder.last"), (lines - lines // 100, lines // 100))
    with open(trial.folder / "lineorder.last", "rb") as rows, open(last["lineorder"], "wb") as new:
        for number, row in enumerate(rows):
            fields = row.split(b"|")
            for field, (old, added) in keys.items() if number % 2 else ():
                fields[field] = b"%d" % (old + 1 + number % added)
            new.write(b"|".join(fields))
    return first, last


def tell(name, seconds, load, more=""):
    print(f"| {name} | {seconds:.3f} | {100 * seconds / load:.2f} % | {more} |", flush=True)


def changes(trial):
    """Makes the databases and tells what that takes; their names."""
    options = trial.options
    trial.generate()
    print("| change | seconds | of the load | bytes |\n|---|---|---|---|")
    first, last = new_rows(trial)
    load = trial.load("loaded", first)
    tell("load of 99 %", load, load, trial.bytes_of("loaded"))
    trial.copy("loaded", "appended")
    seconds = trial.append("appended", last)
    tell("append of 1 %, dimensions too", seconds, load, f"+{trial.bytes_of('appended') - trial.bytes_of('loaded')}")
    rows = first["lineorder"]
    lines = lines_of(rows)
    part = lines // 1000
    base = lines - part * options.appends
    files = [trial.folder / f"part{number}" for number in range(options.appends + 1)]
    cut(rows, files, [base] + [part] * options.appends)
    trial.load("parts", {**first, "lineorder": files[0]})
    seconds = sum(trial.append("parts", {"lineorder": file}) for file in files[1:])
    tell(f"{options.appends} appends of 0.1 %", seconds, load, f"+{trial.bytes_of('parts') - trial.bytes_of('loaded')} to all at once")
    trial.copy("parts", "compacted")
    tell("compaction of them", trial.run("compact", "--db", trial.database("compacted"), *trial.threads()), load)
    for name, condition in (("month", MONTH), ("hundredth", HUNDREDTH)):
        trial.copy("loaded", name)
        before = trial.bytes_of(name)
        seconds = trial.delete(name, condition)
        tell(f"delete where {condition}", seconds, load, f"+{trial.bytes_of(name) - before}")
        trial.copy(name, name + " left")
        tell("compaction after it", trial.run("compact", "--db", trial.database(name + " left"), *trial.threads()), load)
    return ["loaded", "parts", "compacted", "month", "month left", "hundredth", "hundredth left"]


def queries(trial, names):
    """Asks the 13 of all databases by turns; exit code."""
    least, answers = {}, {}
    for _ in range(trial.options.rounds):
        for name in names:
            times, answers[name] = trial.ask(name)
            least[name] = [min(pair) for pair in zip(times, least.get(name, times))]
    print("\n| query | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for q in range(len(least["loaded"])):
        print(f"| {q + 1} | " + " | ".join(f"{least[name][q]:.3f} ({least[name][q] / least['loaded'][q]:.2f})" for name in names) + " |")
    means = {name: statistics.geometric_mean(least[name]) for name in names}
    print("| geometric mean | " + " | ".join(f"{means[name]:.3f} ({means[name] / means['loaded']:.3f})" for name in names) + " |")
    same = [("loaded", "parts"), ("loaded", "compacted"), ("month", "month left"), ("hundredth", "hundredth left")]
    wrong = [pair for pair in same if answers[pair[0]] != answers[pair[1]]]
    for pair in wrong:
        print(f"the answers of {pair[0]} and {pair[1]} differ")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True, help="where the data are made")
    parser.add_argument("--sf", default="1")
    parser.add_argument("--build", default=str(bench_duckdb.ROOT / "build" / "release"))
    parser.add_argument("--device", default="auto", help="as of tessera sql")
    parser.add_argument("--threads", type=int, default=0, help="0: all processors")
    parser.add_argument("--appends", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="the databases stay")
    trial = Trial(parser.parse_args())
    code = queries(trial, changes(trial))
    if not trial.options.keep:
        shutil.rmtree(trial.folder)
    return code


if __name__ == "__main__":
    sys.exit(main())
