#!/usr/bin/env python3
"""test_other_benches.py TESSERA: bench_changes.py, bench_libcudf.py and bench_load_files.py run to their ends on few rows,
and find answers equal.

bench_libcudf.py compares with DuckDB here, on a CPU: libcudf needs a GPU. Without the Python package duckdb it does not run,
and neither does bench_load_files.py.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import bench_duckdb  # noqa: E402

PROGRAM = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
SF = "0.01"


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True)


@unittest.skipUnless(PROGRAM, "it takes the program's path")
class Benches(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def bench(self, name, *words):
        done = run(sys.executable, HERE / name, *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_changes_leave_equal_answers(self):
        out = self.bench("bench_changes.py", "--folder", self.folder.name, "--sf", SF, "--build", PROGRAM.parent,
                         "--device", "cpu", "--threads", "2", "--appends", "3", "--rounds", "1")
        self.assertEqual([int(n) for n in re.findall(r"^\| (\d+) \|", out, re.M)], list(range(1, 14)))
        self.assertEqual(len(re.findall(r"^\| (?:append|3 appends|compaction|delete) .*\d\.\d", out, re.M)), 7, out)

    @unittest.skipUnless(bench_duckdb.duckdb, "the Python package duckdb is missing")
    def test_other_questions_have_duckdbs_answers(self):
        tables, database = pathlib.Path(self.folder.name, "tbl"), pathlib.Path(self.folder.name, "db")
        for words in (["generate", "--sf", SF, "--out", tables], ["load", "--sf", SF, "--db", database]):
            made = run(PROGRAM, "ssb", *words)
            self.assertEqual(made.returncode, 0, made.stderr)
        out = self.bench("bench_libcudf.py", PROGRAM, database, tables, "--no-cudf", "--device", "cpu", "--threads", "2",
                         "--repeat", "1")
        self.assertGreaterEqual(len(out.splitlines()), 33, out)

    @unittest.skipUnless(bench_duckdb.duckdb, "the Python package duckdb is missing")
    def test_files_are_loaded_as_duckdb_loads_them(self):
        out = self.bench("bench_load_files.py", "--tessera", PROGRAM, "--folder", self.folder.name, "--rows", "3000",
                         "--rounds", "1")
        self.assertGreaterEqual(len(re.findall(r"^(?:orders|events) .*\d\.\d\d$", out, re.M)), 4, out)


if __name__ == "__main__":
    if not bench_duckdb.duckdb:
        print("[  NOT RUN ] The Python package duckdb is missing: bench_libcudf.py and bench_load_files.py are not tried")
    sys.exit(0 if unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful() else 1)
