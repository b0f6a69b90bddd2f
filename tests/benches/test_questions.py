#!/usr/bin/env python3
"""test_questions.py TESSERA LIBRARY (of one folder): bench_questions.py asks all of its questions of some rows, in both orders.

It checks that each is answered as DuckDB answers it, and that the parts of the bench do what their heads say. Without
the Python package duckdb the questions are read and no more.
"""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bench_duckdb  # noqa: E402
import bench_questions  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve().parent if len(sys.argv) > 1 else None
SF = "0.01"


class Questions(unittest.TestCase):
    def test_every_question_is_read(self):
        questions = bench_questions.read_questions()
        text = (bench_questions.HERE / "questions.sql").read_text()
        self.assertEqual(len(questions), text.count(";\n"))
        self.assertGreaterEqual(len(questions), 60)
        self.assertEqual(len({(kind, name) for kind, name, _ in questions}), len(questions))

    def test_other_names_leave_strings_alone(self):
        names = bench_questions.other_names()
        self.assertEqual(bench_questions.renamed("select part.p_name, 'part' from part where x = 'it''s date'", names),
                         "select t4.t4_c02, 'part' from t4 where x = 'it''s date'")

    def test_a_summary_counts_what_is_slower(self):
        def result(kind, theirs, ours):
            return {"kind": kind, "duckdb_ms": [theirs], "tessera_ms": [ours], "ratio": theirs / ours}
        sums = bench_questions.summary([result("a", 8.0, 1.0), result("a", 1.0, 2.0), result("b", 2.0, 1.0), {"kind": "b"}])
        self.assertEqual((sums["a"]["questions"], sums["a"]["slow"], sums["a"]["least"]), (2, 1, 0.5))
        self.assertAlmostEqual(sums["a"]["mean"], 2.0)
        self.assertAlmostEqual(sums["all"]["mean"], 2.0)
        self.assertEqual((sums["b"]["questions"], sums["all"]["tessera_ms"]), (1, 4.0))


@unittest.skipUnless(BUILD and bench_duckdb.duckdb, "the Python package duckdb is missing")
class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def asked(self, *arguments):
        written = io.StringIO()
        with contextlib.redirect_stdout(written):
            code = bench_questions.main(["--folder", self.folder.name, "--sf", SF, "--build", str(BUILD), "--threads", "2",
                                         "--rounds", "1", "--format", "json", *arguments])
        found = json.loads(written.getvalue())
        return code, found

    def test_both_orders_are_answered_as_duckdb_answers(self):
        for order in ([], ["--shuffled"]):
            code, found = self.asked(*order)
            self.assertEqual([result for result in found["results"] if result["wrong"]], [])
            self.assertEqual((code, len(found["results"])), (0, len(bench_questions.read_questions())))

    def test_a_wrong_answer_fails(self):
        options = bench_questions.options_of(["--folder", self.folder.name, "--sf", SF, "--build", str(BUILD)])
        data = bench_questions.Ssb(options)
        self.assertIsNone(data.difference([["1", None]], [(1, None)], None, ""))
        for ours in ([["2", None]], [["1", "0"]], [], [["1"]]):
            self.assertIsNotNone(data.difference(ours, [(1, None)], None, ""))
        self.assertIsNotNone(data.difference([["1"], ["2"]], [(2,), (1,)], None, ""))


if __name__ == "__main__":
    if not bench_duckdb.duckdb:
        print("[  NOT RUN ] The Python package duckdb is missing: questions are not asked")
    sys.exit(0 if unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful() else 1)
