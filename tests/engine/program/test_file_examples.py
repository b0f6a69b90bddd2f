#!/usr/bin/env python3
"""Runs docs/examples/files/run.py with few rows, as docs/examples.md says: every step ends well, and where the module duckdb
is installed, its answers are the same. The files are also made without pyarrow.

    test_file_examples.py TESSERA
"""
import os
import subprocess
import sys
import tempfile

program = os.path.abspath(sys.argv[1])
FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3, "docs", "examples", "files")


def run(*arguments, **options):
    done = subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                          **options)
    if done.returncode:
        sys.exit("%s\n%s" % (arguments, done.stdout))
    return done.stdout


def main():
    printed = run(os.path.join(FILES, "run.py"), "--rows", "6000", "--rounds", "2", "--tessera", program)
    if "not installed" in printed:
        print("[  NOT RUN ] duckdb is not installed (pip install duckdb)")
    for text in ("--- taxi: infer, ", "600 rows of trips were replaced", "access.parquet: ", "--- retail: copy out, ",
                 "| 6000 rows each | taxi | DuckDB | logs | DuckDB | retail | DuckDB |\n",
                 "| **from files to the first answer, s** | **",
                 "| lines typed for all steps | 15 | ", "--- logs: ask the files, "):
        if text not in printed:
            sys.exit("'%s' is not in\n%s" % (text, printed))
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    alone["PATH"] = os.path.dirname(program) + ":" + alone["PATH"]
    with tempfile.TemporaryDirectory() as folder:  # by COPY, unless pyarrow is the interpreter's own
        run(os.path.join(FILES, "make.py"), folder, "300", env=alone)
        run(os.path.join(FILES, "run.py"), "--folder", folder, "--only", "taxi", "--tessera", program, env=alone)
    print("three data sets from files to answers")


main()
