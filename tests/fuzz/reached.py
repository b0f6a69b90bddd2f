#!/usr/bin/env python3
"""Which rules of the SQL grammar random statements use: runs the fuzzers of statements with a parser that counts its calls
(gcov), and prints the functions of the parser of queries that were never called; each rule is one.

    tests/fuzz/reached.py [SECONDS [PATTERN]]     of each fuzzer; PATTERN: of other sources, as engine/relational/

It builds in build/reached, and prints what else was reached (tests/fuzz/fuzz_reached.h), of all fuzzers together.
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "reached"
FUZZERS = ["test_from_fuzz", "test_windows_fuzz", "test_levels_fuzz", "test_sql_fuzz", "test_tree_fuzz"]
# As many statements as a fuzzer asks in a second, of the one that is told a number.
TREES_PER_SECOND = 20


def build(pattern):
    subprocess.run(["cmake", "--preset", "release", "-B", BUILD, f"-DTESSERA_COVERAGE={pattern}"], cwd=ROOT,
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "-j", str(os.cpu_count()), "--target", *FUZZERS], check=True,
                   stdout=subprocess.DEVNULL)
    for counts in BUILD.rglob("*.gcda"):
        counts.unlink()


def run(seconds):
    """Runs all fuzzers; the last one says what all have reached."""
    reached = BUILD / "reached"
    reached.unlink(missing_ok=True)
    environment = dict(os.environ, TESSERA_REACHED=str(reached), TESSERA_TREE_STATEMENTS=str(TREES_PER_SECOND * seconds))
    for fuzzer in FUZZERS:
        arguments = [] if fuzzer == "test_tree_fuzz" else [str(seconds), "7"]
        told = subprocess.run([BUILD / fuzzer, *arguments], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if told.returncode != 0:
            sys.exit(f"{told.stdout}\n{fuzzer} failed")
    print("\n".join(line for line in told.stdout.splitlines() if ": reached " in line))


def calls(pattern):
    """Calls of each function, by the name of its source."""
    counted = collections.defaultdict(dict)
    for notes in sorted(BUILD.rglob("*.gcno")):
        told = subprocess.run(["gcov", "--json-format", "--stdout", notes], cwd=BUILD, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for file in json.loads(told.stdout)["files"]:
            source = str((BUILD / file["file"]).resolve().relative_to(ROOT))
            if source.endswith(".c") and re.search(pattern, source):
                for function in file["functions"]:
                    counted[source][function["name"]] = function["execution_count"]
    return counted


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    pattern = sys.argv[2] if len(sys.argv) > 2 else "engine/sql/(aggregates/|functions/|short/|)parse"
    build(pattern)
    run(seconds)
    everything = calls(pattern)
    number = sum(len(functions) for functions in everything.values())
    used = sum(count > 0 for functions in everything.values() for count in functions.values())
    print(f"{pattern}: reached {used} of {number} functions{'; not:' if used < number else ''}")
    for source, functions in everything.items():
        missed = [name for name, count in functions.items() if count == 0]
        if missed:
            print(f"    {source}: {', '.join(missed)}")


if __name__ == "__main__":
    main()
