#!/usr/bin/env python3
"""Checks that compare.py finds what is different, and nothing else; tests/tpc.sh needs it, DuckDB is not needed here."""
import os
import sys
import types
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "trial")]
sys.modules.setdefault("duckdb", types.SimpleNamespace(Error=Exception))
import compare


class Judge:
    """Has rows of (a, b) for `select a, b from t order by b [limit n]`."""

    def __init__(self, rows, limit=None):
        self.rows, self.limit = rows, limit

    def fetch(self, sql):
        ordered = sorted(self.rows, key=lambda row: row[1])
        if sql.startswith("describe"):
            return [("a",), ("b",)]
        if "dense_rank" in sql:
            ranks = sorted({row[1] for row in self.rows})
            return [(*row, ranks.index(row[1]) + 1) for row in ordered]
        return ordered[:self.limit]

    def answer(self):
        return compare.Answer(self, "select a, b from t order by b" + (" limit %d" % self.limit if self.limit else ""))


class Compare(unittest.TestCase):
    def setUp(self):
        self.rows = [(1, 1.0), (2, 2.0), (3, 2.0), (4, 3.0)]

    def difference(self, cells, limit=None):
        return Judge(self.rows, limit).answer().difference(cells)

    def test_ties_come_in_any_order(self):
        self.assertIsNone(self.difference([["1", "1"], ["3", "2"], ["2", "2"], ["4", "3"]]))
        self.assertIsNotNone(self.difference([["2", "2"], ["1", "1"], ["3", "2"], ["4", "3"]]))

    def test_a_limit_may_cut_ties(self):
        for second in ("2", "3"):
            self.assertIsNone(self.difference([["1", "1"], [second, "2"]], limit=2))
        for cells in ([["1", "1"], ["4", "3"]], [["1", "1"], ["1", "1"]], [["1", "1"]], [["1", "1"], ["2", "2"], ["3", "2"]]):
            self.assertIsNotNone(self.difference(cells, limit=2))

    def test_doubles(self):
        for text, same in [("1.0000000001", True), ("1.00000001", False), (None, False), ("x", False)]:
            found = self.difference([["1", text], ["2", "2"], ["3", "2"], ["4", "3"]])
            self.assertEqual(found is None, same, text)

    def test_columns_and_no_rows(self):
        self.assertIsNotNone(self.difference([["1"], ["2"], ["3"], ["4"]]))
        self.assertIsNone(Judge([]).answer().difference([]))
        self.assertIsNotNone(Judge([]).answer().difference([["1", "1"]]))

    def test_parts_of_a_statement(self):
        self.assertEqual(compare.split("select a from (select 1 order by 1 limit 2) order by a, (b) limit 10;"),
                         ("select a from (select 1 order by 1 limit 2) ", "a, (b)", 10))
        self.assertEqual(compare.split("select ' order by ' -- limit 3\n"), ("select ' order by ' -- limit 3", "", None))
        self.assertEqual(compare.terms_of("t.a desc, f(b, c), 2"), ["a desc", "f(b, c)", "2"])


if __name__ == "__main__":
    unittest.main()
