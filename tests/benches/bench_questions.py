#!/usr/bin/env python3
"""Asks questions of many kinds, of Tessera and of DuckDB by turns in one process, and compares answers and times.

    tests/benches/bench_questions.py --folder DIR [--set ssb|tpch|tpcds] [--sf 1] [--shuffled] [--build build/release]
                                     [--device cpu] [--kernel auto] [--threads N] [--only REGEX]
                                     [--rounds 5] [--seconds 20] [--repeated] [--memory] [--format table|json]

The questions of `ssb` are those of questions.sql; a kind has several. Those of `tpch` and `tpcds` are the benchmarks'
own, of which each is its own kind. The data are made in DIR, where the next run finds them; those of TPC need the
extensions of DuckDB that tests/tpc.sh installs, once (its folder can be named here: build/tpc). With --shuffled the
rows of all tables of `ssb` are in another order, and all tables and columns have other names.

Times are milliseconds from the text to the rows in memory, after one run of each that is not timed. The process keeps
what is freed for the next statement, as the program does (engine/program/main.c). A statement is planned each time, as
DuckDB does; with --repeated Tessera keeps plans (its default). The ratio is DuckDB's median by Tessera's. --seconds
ends the rounds of a question after the second one. With --memory each question is asked once by a process of its own,
and the table has their peaks in MB instead, less that of one that asks for a row without a table.

Exit code 0: all answers are equal; 1: one differs or is refused; 3: the Python package duckdb is missing.
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(HERE), str(ROOT / "tests" / "trial"), str(ROOT / "tests" / "tpc")]
import answers
import bench_duckdb
import bench_latency
import compare
import tpc

SLOW = 0.9      # a ratio below it is told
SEED = 29       # of the other order of rows
SETTINGS = tpc.SETTINGS
NOTHING = "select 1"


def read_questions(path=HERE / "questions.sql"):
    """(kind, name, SQL) of each."""
    found = re.findall(r"^-- ([a-z ]+): (.+)\n((?:(?!-- ).*\n)+)", path.read_text(), re.M)
    return [(kind, name, sql.strip().rstrip(";")) for kind, name, sql in found]


def other_names():
    """What tables and columns are called where rows are shuffled."""
    names = {}
    for t, (table, columns) in enumerate(bench_duckdb.TABLES.items(), 1):
        names[table] = f"t{t}"
        names.update({column: f"t{t}_c{c:02d}" for c, column in enumerate(columns.split(), 1)})
    return names


def renamed(sql, names):
    """The statement with other names; strings stay."""
    parts = re.split(r"('(?:[^']|'')*')", sql)
    parts[::2] = [re.sub(r"\w+", lambda word: names.get(word.group(), word.group()), part) for part in parts[::2]]
    return "".join(parts)


class Ssb:
    """The data of the Star Schema Benchmark at one scale factor, and the questions."""

    def __init__(self, options):
        folder = pathlib.Path(options.folder) / f"sf{options.sf}"
        folder.mkdir(parents=True, exist_ok=True)
        text, (self.tessera,) = bench_duckdb.generate(program(options), folder, options.sf)
        self.duckdb = folder / "duckdb"
        bench_duckdb.load_duckdb(text, self.duckdb, options.threads).close()
        self.questions = read_questions()
        if options.shuffled:
            self.shuffle(options, folder / "shuffled")

    def shuffle(self, options, folder):
        names = other_names()
        plain, self.duckdb, self.tessera = self.duckdb, folder / "duckdb", folder / "tessera"
        self.questions = [(kind, name, renamed(sql, names)) for kind, name, sql in self.questions]
        if (folder / "complete").exists():
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        connection = bench_duckdb.duckdb.connect(str(self.duckdb), config={"threads": options.threads})
        connection.execute(f"attach '{plain}' as plain (read_only)")
        script, files = "", []
        for table, columns in bench_duckdb.TABLES.items():
            columns = columns.split()
            items = ", ".join(f"{column} as {names[column]}" for column in columns)
            connection.execute(f"create table {names[table]} as select {items} from plain.{table} order by hash(rowid + {SEED})")
            connection.execute(f"copy {names[table]} to '{folder / names[table]}.csv' (header true)")
            script += f"create table {names[table]} ({', '.join(self.declared(column, names, columns) for column in columns)});\n"
            files.append(f"{names[table]}={folder / names[table]}.csv")
        connection.execute("checkpoint")
        connection.close()
        (folder / "schema.sql").write_text(script)
        subprocess.run([program(options), "load", "--db", self.tessera, "--schema", folder / "schema.sql", "--header", "yes",
                        *files], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for file in files:
            os.unlink(file.partition("=")[2])
        (folder / "complete").touch()

    @staticmethod
    def declared(column, names, columns):
        """Of CREATE TABLE, with the keys and references that `tessera ssb load` declares."""
        text = f"{names[column]} {bench_duckdb.type_of(column)}"
        if column == columns[0] and not column.startswith("lo_"):
            text += " primary key"
        to = bench_duckdb.REFERENCES.get(column)
        return text + (f" references {names[to]} ({names[bench_duckdb.TABLES[to].split()[0]]})" if to else "")

    @staticmethod
    def difference(ours, theirs, _judge, _sql):
        rows = [[answers.of_duckdb(cell) for cell in row] for row in theirs]
        return None if answers.same(ours, rows, True) else "the answers differ"


class Tpc:
    """One of the benchmarks that DuckDB generates, with the references that TPC declares."""

    def __init__(self, options):
        chosen = argparse.Namespace(folder=str(options.folder), sf=options.sf, tessera=str(program(options)), threads=options.threads)
        benchmark = tpc.Benchmark(options.set, chosen, [True])
        benchmark.judge.connection.close()
        self.duckdb, self.tessera = benchmark.duckdb(), benchmark.database(True)
        self.questions = [(options.set, f"{options.set}:{number}", text) for number, text in sorted(benchmark.texts.items())]

    @staticmethod
    def difference(ours, _theirs, judge, sql):
        return compare.Answer(judge, sql).difference(ours)


class DuckDB(tpc.DuckDB):
    def ask(self, sql):
        """Milliseconds from the text to the rows in memory, and the rows."""
        begin = time.perf_counter()
        rows = self.fetch(sql)
        return (time.perf_counter() - begin) * 1e3, rows


def program(options):
    return pathlib.Path(options.build).resolve() / "tessera"


def keep_freed_memory():
    """As the function of that name of engine/program/main.c; malloc.h has the numbers."""
    trim_threshold, top_pad, mmap_threshold = -1, -2, -3
    libc = ctypes.CDLL(None)
    libc.mallopt(mmap_threshold, 64 << 20)
    libc.mallopt(trim_threshold, 512 << 20)
    libc.mallopt(top_pad, 4 << 20)


def engine_of(name, options, data):
    if name == "duckdb":
        return DuckDB(str(data.duckdb), options.threads)
    return bench_latency.Tessera(argparse.Namespace(build=options.build, db=str(data.tessera), device=options.device,
                                                    threads=options.threads, kernel=options.kernel,
                                                    plan_cache=None if options.repeated else "0"))


def measure(options, question, tessera, duckdb, data):
    """The times of one question and what is wrong with Tessera's answer, or None."""
    kind, name, sql = question
    theirs = duckdb.ask(sql)[1]
    result = {"kind": kind, "question": name, "duckdb_ms": [], "tessera_ms": []}
    try:
        result["wrong"] = data.difference(tessera.ask(sql)[1], theirs, duckdb, sql)
        begin = time.perf_counter()
        for turn in range(options.rounds):
            if turn >= 2 and time.perf_counter() - begin > options.seconds:
                break
            result["duckdb_ms"].append(duckdb.ask(sql)[0])
            result["tessera_ms"].append(tessera.ask(sql)[0])
        result["ratio"] = statistics.median(result["duckdb_ms"]) / statistics.median(result["tessera_ms"])
    except RuntimeError as refusal:
        result["wrong"] = str(refusal)
    return result


def peak_of(options, engine, sql):
    """MB of a process that asks one statement."""
    child = subprocess.Popen([sys.executable, __file__, *sys.argv[1:], "--child", engine], stdin=subprocess.PIPE)
    child.stdin.write(sql.encode())
    child.stdin.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss / 1024 if not child.returncode else float("nan")


def ask_as_child(options, data):
    engine_of(options.child, options, data).ask(sys.stdin.read())


def show_peaks(options, data, asked):
    engines = ("duckdb", "tessera")
    nothing = {engine: peak_of(options, engine, NOTHING) for engine in engines}
    peaks = [(kind, name, *(peak_of(options, engine, sql) - nothing[engine] for engine in engines)) for kind, name, sql in asked]
    if options.format == "json":
        json.dump([dict(zip(("kind", "question", "duckdb_mb", "tessera_mb"), line)) for line in peaks], sys.stdout, indent=1)
        print()
        return 0
    print("| kind | question | DuckDB MB | Tessera MB |\n|---|---|---|---|")
    for kind, name, theirs, ours in peaks:
        print(f"| {kind} | {name} | {theirs:.0f} | {ours:.0f} |")
    return 0


def print_line(result):
    cells = [min(result["duckdb_ms"]), statistics.median(result["duckdb_ms"]), min(result["tessera_ms"]),
             statistics.median(result["tessera_ms"])] if "ratio" in result else []
    print(f"| {result['kind']} | {result['question']} | " + " | ".join(f"{cell:.2f}" for cell in cells) +
          (f" | {result['ratio']:.2f} |" if cells else "refused | | | | |") +
          (f" {result['wrong']}" if result["wrong"] else ""), flush=True)


def summary(results):
    """{kind: (questions, geometric mean, least, how many are below SLOW, sums)}, and of all."""
    kinds = list(dict.fromkeys(result["kind"] for result in results))
    found = {}
    for kind in kinds + (["all"] if len(kinds) > 1 else []):
        timed = [result for result in results if "ratio" in result and kind in (result["kind"], "all")]
        if timed:
            ratios = [result["ratio"] for result in timed]
            found[kind] = {"questions": len(ratios), "mean": statistics.geometric_mean(ratios), "least": min(ratios),
                           "slow": sum(ratio < SLOW for ratio in ratios),
                           "duckdb_ms": sum(statistics.median(result["duckdb_ms"]) for result in timed),
                           "tessera_ms": sum(statistics.median(result["tessera_ms"]) for result in timed)}
    return found


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True, help="where data are made, and stay")
    parser.add_argument("--set", choices=["ssb", "tpch", "tpcds"], default="ssb")
    parser.add_argument("--sf", default="1")
    parser.add_argument("--shuffled", action="store_true", help="other orders of rows, other names")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--device", default="cpu", help="as of tessera sql")
    parser.add_argument("--kernel", help="as of tessera sql")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default=".", help="of 'kind: name'")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--repeated", action="store_true", help="Tessera keeps plans")
    parser.add_argument("--memory", action="store_true", help="peaks instead of times")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    parser.add_argument("--child", choices=["tessera", "duckdb"], help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def run(options, data, asked):
    """The results of all questions; a table is printed as they come."""
    duckdb, tessera = engine_of("duckdb", options, data), engine_of("tessera", options, data)
    if options.format == "table":
        print(f"DuckDB {bench_duckdb.duckdb.__version__} and Tessera on {options.device}, {options.threads} threads, scale "
              f"factor {options.sf}{', shuffled' if options.shuffled else ''}; ms\n\n| kind | question | DuckDB best | median | "
              "Tessera best | median | ratio |\n|---|---|---|---|---|---|---|")
    results = []
    for question in asked:
        results.append(measure(options, question, tessera, duckdb, data))
        if options.format == "table":
            print_line(results[-1])
    return results


def main(arguments=None):
    options = options_of(arguments)
    keep_freed_memory()
    if not bench_duckdb.duckdb:
        sys.stderr.write("bench_questions.py: the Python package duckdb is missing; install it: pip install duckdb\n")
        return 3
    data = Ssb(options) if options.set == "ssb" else Tpc(options)
    if options.child:
        return ask_as_child(options, data)
    asked = [question for question in data.questions if re.search(options.only, f"{question[0]}: {question[1]}")]
    if options.memory:
        return show_peaks(options, data, asked)
    results = run(options, data, asked)
    sums = summary(results)
    if options.format == "json":
        json.dump({"duckdb": bench_duckdb.duckdb.__version__, "threads": options.threads, "device": options.device,
                   "sf": options.sf, "results": results, "kinds": sums}, sys.stdout, indent=1)
        print()
    else:
        print(f"\n| kind | questions | geometric mean | least | below {SLOW} | DuckDB ms | Tessera ms |\n|---|---|---|---|---|---|---|")
        for kind, of in sums.items():
            print(f"| {kind} | {of['questions']} | {of['mean']:.2f} | {of['least']:.2f} | {of['slow']} | {of['duckdb_ms']:.0f} | "
                  f"{of['tessera_ms']:.0f} |")
    return 1 if any(result["wrong"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
