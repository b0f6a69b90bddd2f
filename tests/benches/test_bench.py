#!/usr/bin/env python3
"""Tests how tests/bench judges figures: which have fallen, and which are kept. Runs no program, measures nothing."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
BENCHES = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCHES))
from bench_steps import MEAN, Series, table_rows  # noqa: E402

loader = importlib.machinery.SourceFileLoader("bench", str(BENCHES.parent / "bench"))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
loader.exec_module(bench)


def fell(series, kept):
    with contextlib.redirect_stdout(io.StringIO()):
        return set(bench.compare("codecs, SF 1", series, kept, True)[0])


def kept_of(series):
    return bench.entry_of(series, "machine", "tests/bench")


class Judgement(unittest.TestCase):
    def test_the_same_again_is_as_kept(self):
        series = [Series("plain / auto", [{"q1.1": 2.0, "q1.2": 3.0}] * 3)]
        self.assertEqual(fell(series, kept_of(series)), set())

    def test_six_percent_fell_and_four_did_not(self):
        kept = kept_of([Series("plain / auto", [{"q1.1": 1.0}] * 3)])
        self.assertEqual(fell([Series("plain / auto", [{"q1.1": 0.94}] * 3)], kept), {("plain / auto", "q1.1")})
        self.assertEqual(fell([Series("plain / auto", [{"q1.1": 0.96}] * 3)], kept), set())

    def test_of_times_more_is_worse(self):
        kept = kept_of([Series("ms", [{"q1.1": 1.0}], less_is_better=True)])
        self.assertEqual(fell([Series("ms", [{"q1.1": 1.1}], less_is_better=True)], kept), {("ms", "q1.1")})
        self.assertEqual(fell([Series("ms", [{"q1.1": 0.5}], less_is_better=True)], kept), set())

    def test_the_spread_of_the_rounds_is_allowed_on_top(self):
        kept = kept_of([Series("plain / auto", [{"q1.1": 1.0}])])
        steady, spread = [{"q1.1": 0.9}] * 3, [{"q1.1": 0.8}, {"q1.1": 0.9}, {"q1.1": 1.0}]
        self.assertEqual(len(fell([Series("plain / auto", steady)], kept)), 1)
        self.assertEqual(len(fell([Series("plain / auto", spread)], kept)), 0)

    def test_what_is_unsteady_excuses_queries_and_not_their_mean(self):
        kept = kept_of([Series("plain / auto", [{"q1.1": 1.0, "q1.2": 1.0}])])
        now = Series("plain / auto", [{"q1.1": 0.9, "q1.2": 0.9}], unsteady=0.1)
        self.assertEqual(fell([now], kept), {("plain / auto", MEAN)})

    def test_what_was_never_kept_cannot_fall(self):
        self.assertEqual(fell([Series("plain / auto", [{"q1.1": 0.1}])], {}), set())


class Files(unittest.TestCase):
    def test_figures_are_read_back_as_written(self):
        entry = kept_of([Series("plain / auto", [{"q1.1": 2.0, "q1.2": 3.0}])])
        figures = {"A CPU, 2 threads": {"codecs, SF 1": entry}, "A GPU": {}}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "performance.json"
            bench.write_figures(path, figures)
            self.assertEqual(json.loads(path.read_text()), figures)
            self.assertEqual([file.name for file in pathlib.Path(folder).iterdir()], ["performance.json"])

    def test_tables_of_the_benches_are_found_below_their_heading(self):
        heading, rows = table_rows("cycles a value\n\n   decode\ncodec   4  8\nplain 0.1 0.2\n\nnsf 0.3 0.4\n", "codec")
        self.assertEqual((heading, rows), (["codec", "4", "8"], [["plain", "0.1", "0.2"], ["nsf", "0.3", "0.4"]]))


if __name__ == "__main__":
    unittest.main()
