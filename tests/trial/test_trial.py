#!/usr/bin/env python3
"""Runs the trial, which must have no wrong answer, and checks that it fails where an answer is wrong.

    python3 tests/trial/test_trial.py build/release/tessera                        some seconds on one core
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import answers

LEAST = 175  # of the questions that have been answered, none may be refused again


def trial(*options):
    run = subprocess.run([sys.executable, os.path.join(HERE, "trial.py"), program, "--device", "cpu", "--quiet", *options],
                         capture_output=True, text=True, encoding="utf-8")
    return run.returncode, run.stdout + run.stderr


class Trial(unittest.TestCase):
    def test_all_answers_are_right(self):
        code, text = trial("--least", str(LEAST))
        self.assertEqual(code, 0, text)

    def test_too_few_answers_fail(self):
        code, text = trial("--topic", "casts", "--least", "1000")
        self.assertEqual(code, 1, text)

    def test_a_wrong_answer_fails(self):
        with open(os.path.join(HERE, "answers.json"), encoding="utf-8") as file:
            kept = json.load(file)
        sql = next(sql for sql in kept if sql.startswith("select count(*) from products where launched"))
        kept[sql]["rows"][0][0][1] += "1"
        self.assertIn("WRONG  dates: current_date", self.failure_with(kept))

    def test_a_question_without_an_answer_fails(self):
        self.assertIn("has no kept answer", self.failure_with({}))

    def failure_with(self, kept):
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
            json.dump(kept, file)
            file.flush()
            code, text = trial("--no-judge", "--topic", "dates", "--answers", file.name)
        self.assertEqual(code, 1, text)
        return text


class Judge(unittest.TestCase):
    """`mine` is Tessera's CSV, `right` the judge's cells."""

    def same(self, mine, right, ordered=True):
        found = answers.same(mine, right, ordered)
        self.assertEqual(found, answers.same_as_kept(mine, answers.keep(right, ordered), ordered))
        return found

    def test_cells(self):
        for mine, right in [("1.50", ("i", "1.5")), (None, ("n", "")), ("", ("s", "")), ("1", ("b", "true")),
                            ("0.30000000000000004", ("f", answers.double(0.3))), ("nan", ("f", "nan")),
                            ("2024-02-29 00:00:00", ("d", "2024-02-29"))]:
            self.assertTrue(self.same([[mine]], [[right]]), mine)
        for mine, right in [("1.51", ("i", "1.5")), ("", ("n", "")), (None, ("s", "")), ("0", ("b", "true")),
                            ("0.3000001", ("f", answers.double(0.3))), ("2024-02-28", ("d", "2024-02-29")),
                            ("x", ("i", "1")), ("A", ("s", "a"))]:
            self.assertFalse(self.same([[mine]], [[right]]), mine)

    def test_rows(self):
        one, two = ("i", "1"), ("i", "2")
        self.assertTrue(self.same([["2"], ["1"]], [[one], [two]], ordered=False))
        self.assertFalse(self.same([["2"], ["1"]], [[one], [two]], ordered=True))
        self.assertFalse(self.same([["1"]], [[one], [one]], ordered=False))
        self.assertFalse(self.same([["1", "2"]], [[one]]))

    def test_answers_that_are_kept_as_a_hash(self):
        right = [[("i", str(i))] for i in range(1000)]
        mine = [[str(i)] for i in range(1000)]
        self.assertTrue(self.same(mine, right))
        mine[700] = ["699"]
        self.assertFalse(self.same(mine, right))


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()
