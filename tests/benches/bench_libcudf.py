#!/usr/bin/env python3
"""Asks questions of libcudf (pylibcudf) and of Tessera on one GPU, and compares whole answers and times.

    tests/benches/bench_libcudf.py TESSERA DB TBL [--only REGEX] [--device cuda] [--repeat 6] [--kernel specialised]
                                                  [--no-cudf] [--threads N] [--out FILE.json]

DB is a database of `tessera ssb load` and TBL a folder of `tessera ssb generate`, both of the same scale factor. The
questions are the benchmark's 13, and 20 of questions.sql of different kinds. libcudf is what most GPU
engines stand on (Sirius, Spark RAPIDS, the GPU engine of Polars), and gets every advantage: columns uncompressed on the
device as int32, codes instead of words, a pool of memory, conditions that are translated once, plans made by hand, and
of several plans the fastest. Its times end when the answer is in the device's memory; Tessera's are from the text to
the rows on the host as CSV (`total` of --timer), and for the 13 also those of the scan (`ssb run`). All times are the
best of the repeats, but the scan's, which is the median, in milliseconds; a ratio is libcudf's time by Tessera's.

libcudf works in a process of its own, which has ended before Tessera starts, so that each has the whole GPU.
With --no-cudf DuckDB answers in its stead, and nothing needs a GPU if the device is cpu: to test this program.

Exit code 0: all answers are equal; 1: one differs, or a question failed; 3: a Python package is missing.
"""
import argparse
import ast
import bisect
import decimal
import itertools
import json
import math
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "trial")]
import answers
import bench_duckdb

RELATIVE = 1e-9     # doubles may differ by it: engines add in different orders
SHOWN = 6           # rows of an answer that differs
TIMEOUT = 300       # seconds that Tessera may take for all repeats of a question
COMPARISONS = {ast.Eq: "EQUAL", ast.Lt: "LESS", ast.LtE: "LESS_EQUAL", ast.Gt: "GREATER", ast.GtE: "GREATER_EQUAL"}
MODES = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"]

# What libcudf has of each table. Words become codes in the words' order.
COLUMNS = {
    "lineorder": "lo_orderkey lo_linenumber lo_custkey lo_partkey lo_suppkey lo_orderdate lo_quantity lo_extendedprice "
                 "lo_discount lo_revenue lo_supplycost lo_tax lo_commitdate lo_shipmode",
    "customer": "c_custkey c_city c_nation c_region",
    "supplier": "s_suppkey s_city s_nation s_region",
    "part": "p_partkey p_mfgr p_category p_brand1",
    "date": "d_datekey d_year d_yearmonthnum d_weeknuminyear d_dayofweek",
}


def source(folder, table):
    """The text file as something that DuckDB selects from. Each line ends with |, after which is one more column."""
    names = bench_duckdb.TABLES[table].split()
    types = {name: bench_duckdb.type_of(name) for name in names}
    return (f"read_csv('{pathlib.Path(folder) / table}.tbl', delim='|', header=false, quote='', auto_detect=false, "
            f"columns={dict(types, tail_='VARCHAR')})")


class Cudf:
    """The columns on the device, and the operators of plans. A column is named, or is what an operator returned."""

    def __init__(self, folder):
        import cupy
        import duckdb
        import numpy
        import pylibcudf
        import rmm
        self.cupy, self.numpy, self.plc = cupy, numpy, pylibcudf
        self.columns, self.words, self.conditions = {}, {"lo_shipmode": MODES}, {}
        connection = duckdb.connect()
        for table in COLUMNS:
            self.read(connection, table, source(folder, table))
        size = cupy.cuda.runtime.memGetInfo()[0] * 8 // 10 // 256 * 256
        self.pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=size)
        rmm.mr.set_current_device_resource(self.pool)

    def read(self, connection, table, text):
        names, selected = COLUMNS[table].split(), []
        for name in names:
            if name == "lo_shipmode":
                selected.append(f"(list_position({MODES}, {name}) - 1)::integer as {name}")
            elif name in bench_duckdb.WORDS:
                selected.append(f"(dense_rank() over (order by {name}) - 1)::integer as {name}")
                found = connection.execute(f"select distinct {name} from {text} order by {name}").fetchall()
                self.words[name] = [word for word, in found]
            else:
                selected.append(name)
        arrays = connection.execute(f"select {', '.join(selected)} from {text}").fetchnumpy()
        for name in names:
            array = self.numpy.ascontiguousarray(self.numpy.asarray(arrays.pop(name)), dtype=self.numpy.int32)
            self.columns[name] = self.plc.Column.from_cuda_array_interface(self.cupy.asarray(array))

    def wait(self):
        self.cupy.cuda.Device().synchronize()

    def column(self, column):
        return self.columns[column] if isinstance(column, str) else column

    def table(self, columns):
        return self.plc.Table([self.column(column) for column in columns])

    def type(self, name):
        return self.plc.types.DataType(self.plc.types.TypeId[name])

    def code(self, name, word, compared):
        """The word's code; for one that the column does not have, a number that compares as the word does."""
        words = self.words[name]
        at = bisect.bisect_left(words, word)
        if at < len(words) and words[at] == word:
            return at
        return -1 if isinstance(compared, ast.Eq) else at - isinstance(compared, (ast.LtE, ast.Gt))

    def expression(self, node, at):
        """libcudf's expression of Python's; `at` has the place of each column's name."""
        e = self.plc.expressions
        if isinstance(node, ast.Name):
            return e.ColumnReference(at[node.id])
        if isinstance(node, ast.Constant):
            return e.Literal(self.plc.Scalar.from_numpy(self.numpy.int32(node.value)))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            return e.Operation(e.ASTOperator.SUB, self.expression(node.left, at), self.expression(node.right, at))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            operator, right = e.ASTOperator[COMPARISONS[type(node.ops[0])]], node.comparators[0]
            if isinstance(right, ast.Constant) and isinstance(right.value, str):
                right = ast.Constant(self.code(node.left.id, right.value, node.ops[0]))
            return e.Operation(operator, self.expression(node.left, at), self.expression(right, at))
        if isinstance(node, ast.BoolOp):
            operator = e.ASTOperator.LOGICAL_AND if isinstance(node.op, ast.And) else e.ASTOperator.LOGICAL_OR
            parts = [self.expression(value, at) for value in node.values]
            whole = parts[0]
            for part in parts[1:]:
                whole = e.Operation(operator, whole, part)
            return whole
        raise ValueError("a condition cannot have " + ast.dump(node))

    def holds(self, condition, **more):
        """A column of truth values."""
        if condition not in self.conditions:
            tree = ast.parse(condition, mode="eval")
            names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
            self.conditions[condition] = names, self.expression(tree.body, {name: i for i, name in enumerate(names)})
        names, expression = self.conditions[condition]
        return self.plc.transform.compute_column(self.table([more.get(name, name) for name in names]), expression)

    def kept(self, columns, truth):
        return list(self.plc.stream_compaction.apply_retention_mask(self.table(columns), truth).columns())

    def rows(self, columns, condition, **more):
        """The columns' rows where the condition holds. More columns for it have the names of their arguments."""
        return self.kept(columns.split() if isinstance(columns, str) else columns, self.holds(condition, **more))

    def gather(self, columns, places):
        bounds = self.plc.copying.OutOfBoundsPolicy.DONT_CHECK
        return list(self.plc.copying.gather(self.table(columns), places, bounds).columns()) if columns else []

    def join(self, left_keys, left, right_keys, right):
        """The columns of both sides, where the keys are equal."""
        unequal = self.plc.types.NullEquality.UNEQUAL
        places = self.plc.join.inner_join(self.table(left_keys), self.table(right_keys), unequal)
        return self.gather(left, places[0]) + self.gather(right, places[1])

    def with_partner(self, left_keys, right_keys, anti=False):
        """The places of the left rows whose keys are at the right, or (anti) are not."""
        join = self.plc.join.left_anti_join if anti else self.plc.join.left_semi_join
        return join(self.table(left_keys), self.table(right_keys), self.plc.types.NullEquality.UNEQUAL)

    def group(self, keys, *requests):
        """The keys' columns, then one of each aggregate of the requests (column, "sum count")."""
        request = self.plc.groupby.GroupByRequest
        found, values = self.plc.groupby.GroupBy(self.table(keys)).aggregate([
            request(self.column(column), [getattr(self.plc.aggregation, name)() for name in names.split()])
            for column, names in requests])
        return list(found.columns()) + [column for table in values for column in table.columns()]

    def distinct(self, columns):
        types, any_one = self.plc.types, self.plc.stream_compaction.DuplicateKeepOption.KEEP_ANY
        found = self.plc.stream_compaction.distinct(self.table(columns), list(range(len(columns))), any_one,
                                                    types.NullEquality.EQUAL, types.NanEquality.ALL_EQUAL)
        return list(found.columns())

    def sort(self, columns, keys, directions="", stable=False):
        """The columns, ordered by the keys; directions has + or - for each, by default +."""
        types, sorting = self.plc.types, self.plc.sorting
        order = [types.Order.DESCENDING if direction == "-" else types.Order.ASCENDING
                 for direction in directions.ljust(len(keys), "+")]
        by_key = sorting.stable_sort_by_key if stable else sorting.sort_by_key
        nulls = [types.NullOrder.AFTER] * len(keys)
        return list(by_key(self.table(columns), self.table(keys), order, nulls).columns())

    def first(self, columns, keys, directions, count, top):
        """The first rows of an order. With top, which asks for a descending first key, few rows are sorted."""
        columns, keys = [self.column(c) for c in columns], [self.column(k) for k in keys]
        if top and keys[0].size() > count:
            least = self.reduced(self.plc.sorting.top_k(keys[0], count), "min", keys[0].type())
            operator = self.plc.binaryop.BinaryOperator.GREATER_EQUAL
            enough = self.plc.binaryop.binary_operation(keys[0], least, operator, self.type("BOOL8"))
            few = self.kept(columns + keys, enough)
            columns, keys = few[:len(columns)], few[len(columns):]
        ordered = self.plc.Table(self.sort(columns, keys, directions))
        return list(self.plc.copying.slice(ordered, [0, min(count, ordered.num_rows())])[0].columns())

    def compute(self, left, operator, right, type_name):
        operands = [self.column(o) if not isinstance(o, self.numpy.generic) else self.plc.Scalar.from_numpy(o)
                    for o in (left, right)]
        operator = self.plc.binaryop.BinaryOperator[operator]
        return self.plc.binaryop.binary_operation(*operands, operator, self.type(type_name))

    def reduced(self, column, aggregate, result):
        return self.plc.reduce.reduce(self.column(column), getattr(self.plc.aggregation, aggregate)(), result)

    def value(self, column, aggregate="sum", type_name="INT64"):
        return self.reduced(column, aggregate, self.type(type_name)).to_py()

    def fetch(self, answer):
        """Rows of Python's values. A part of an answer is a value, a column, or a column and whose codes it has."""
        parts = []
        for part in answer:
            column, words = part if isinstance(part, tuple) else (part, None)
            values = self.host(column) if isinstance(column, self.plc.Column) else [column]
            parts.append([words[v] for v in values] if isinstance(words, list) else
                         [self.words[words][v] for v in values] if words else values)
        return [list(row) for row in zip(*parts)]

    def host(self, column):
        if column.size() == 0:
            return []
        if column.null_count():
            raise ValueError("a column of the answer has NULLs")
        kinds = {"INT32": "int32", "INT64": "int64", "FLOAT64": "float64"}
        kind = kinds[self.plc.types.TypeId(column.type().id()).name]
        width, offset = self.numpy.dtype(kind).itemsize, column.offset()
        values = self.cupy.asarray(column.data()).view("uint8")
        return values[offset * width:(offset + column.size()) * width].view(kind).get().tolist()


def q1(g, of_lines, of_dates):
    date, price, discount = g.rows("lo_orderdate lo_extendedprice lo_discount", of_lines)
    price, discount = g.join([date], [price, discount], g.rows("d_datekey", of_dates), [])
    return [g.value(g.compute(price, "MUL", discount, "INT64"))]


def q2(g, of_parts, of_suppliers):
    part, brand = g.rows("p_partkey p_brand1", of_parts)
    lines = ["lo_suppkey", "lo_orderdate", "lo_revenue"]
    supplier, date, revenue, brand = g.join(["lo_partkey"], lines, [part], [brand])
    date, revenue, brand = g.join([supplier], [date, revenue, brand], g.rows("s_suppkey", of_suppliers), [])
    revenue, brand, year = g.join([date], [revenue, brand], ["d_datekey"], ["d_year"])
    year, brand, revenue = g.group([year, brand], (revenue, "sum"))
    revenue, year, brand = g.sort([revenue, year, brand], [year, brand])
    return [revenue, year, (brand, "p_brand1")]


def q3(g, of_customers, of_suppliers, of_dates, level):
    customer, c = g.rows(f"c_custkey c_{level}", of_customers)
    supplier, s = g.rows(f"s_suppkey s_{level}", of_suppliers)
    date, year = g.rows("d_datekey d_year", of_dates)
    of_line, day, revenue, c = g.join(["lo_custkey"], ["lo_suppkey", "lo_orderdate", "lo_revenue"], [customer], [c])
    day, revenue, c, s = g.join([of_line], [day, revenue, c], [supplier], [s])
    revenue, c, s, year = g.join([day], [revenue, c, s], [date], [year])
    c, s, year, revenue = g.group([c, s, year], (revenue, "sum"))
    c, s, year, revenue = g.sort([c, s, year, revenue], [year, revenue], "+-")
    return [(c, "c_" + level), (s, "s_" + level), year, revenue]


def q4(g, of_suppliers, of_parts, of_dates, keys):
    """Groups by d_year and the keys, which are columns of dimensions."""
    dimensions = [("lo_suppkey", "s_suppkey", of_suppliers), ("lo_custkey", "c_custkey", "c_region == 'AMERICA'"),
                  ("lo_partkey", "p_partkey", of_parts), ("lo_orderdate", "d_datekey", of_dates)]
    lines = {name: name for name in [reference for reference, _, _ in dimensions] + ["lo_revenue", "lo_supplycost"]}
    for reference, key, condition in dimensions:
        kept = [name for name in ["d_year"] + keys if name[:2] == key[:2]]
        found = g.rows([key] + kept, condition)
        of_line = lines.pop(reference)
        names = list(lines) + kept
        lines = dict(zip(names, g.join([of_line], list(lines.values()), found[:1], found[1:])))
    profit = g.compute(lines["lo_revenue"], "SUB", lines["lo_supplycost"], "INT32")
    groups = g.group([lines[name] for name in ["d_year"] + keys], (profit, "sum"))
    year, *others = g.sort(groups, groups[:-1])
    return [year] + list(zip(others, keys)) + others[-1:]


def by_discount(g):
    groups = g.group(["lo_discount"], ("lo_revenue", "count sum"))
    return g.sort(groups, groups[:1])


def customers_by_year(g, deduplicated):
    customer, year = g.join(["lo_orderdate"], ["lo_custkey"], ["d_datekey"], ["d_year"])
    if deduplicated:
        customer, year = g.distinct([customer, year])
    groups = g.group([year], (customer, "count" if deduplicated else "nunique"))
    return g.sort(groups, groups[:1])


def customers(g, top):
    customer, count, revenue = g.group(["lo_custkey"], ("lo_revenue", "count sum"))
    return g.first([customer, revenue, count], [revenue, customer], "-+", 10, top)


def parts(g, top):
    part, least, most, count = g.group(["lo_partkey"], ("lo_supplycost", "min"), ("lo_extendedprice", "max count"))
    return g.first([part, least, most, count], [most, part], "-+", 10, top)


def orders(g, top):
    order, price = g.group(["lo_orderkey"], ("lo_extendedprice", "sum"))
    return g.first([order, price], [price, order], "-+", 10, top)


def customers_and_suppliers(g, top):
    customer, supplier, count = g.group(["lo_custkey", "lo_suppkey"], ("lo_revenue", "count"))
    return g.first([customer, supplier, count], [count, customer, supplier], "-++", 10, top)


def three_aggregates(g):
    least, most = g.value("lo_revenue", "min", "INT32"), g.value("lo_extendedprice", "max", "INT32")
    return [least, most, g.value("lo_supplycost")]


def first_of_all(g, top):
    columns = ["lo_orderkey", "lo_linenumber", "lo_revenue"]
    return g.first(columns, ["lo_revenue", "lo_orderkey", "lo_linenumber"], "-++", 20, top)


def medians_of_brands(g):
    part, brand = g.rows("p_partkey p_brand1", "p_mfgr == 'MFGR#3'")
    price, brand = g.join(["lo_partkey"], ["lo_extendedprice"], [part], [brand])
    groups = g.group([brand], (price, "median"))
    brand, median = g.sort(groups, groups[:1])
    return [(brand, "p_brand1"), median]


def grouped_answer(g):
    order, last, count = g.group(["lo_orderkey"], ("lo_linenumber", "max count"))
    order, last = g.rows([order, last], "count == 7", count=count)
    line, last = g.join(["lo_orderkey"], ["lo_linenumber"], [order], [last])
    return [g.rows([line], "line == last", line=line, last=last)[0].size()]


def date_of_commitment(g):
    date, mode = g.rows("lo_commitdate lo_shipmode", "lo_orderdate < lo_commitdate - 100")
    mode, day = g.join([date], [mode], ["d_datekey"], ["d_dayofweek"])
    groups = g.group([day, mode], (mode, "count"))
    day, mode, count = g.sort(groups, groups[:2])
    return [(day, "d_dayofweek"), (mode, "lo_shipmode"), count]


def not_in(g):
    many = g.rows("lo_partkey", "lo_quantity > 40")
    found = g.gather(["p_partkey"], g.with_partner(["p_partkey"], many, anti=True))
    return g.first(found, found, "+", 10, False)


def dearest_line_sorted(g):
    keys = ["lo_orderkey", "lo_extendedprice", "lo_linenumber"]
    order, revenue = g.sort(["lo_orderkey", "lo_revenue"], keys, "+-+")
    keep = g.plc.stream_compaction.DuplicateKeepOption.KEEP_FIRST
    unique = g.plc.stream_compaction.unique(g.table([order, revenue]), [0], keep, g.plc.types.NullEquality.EQUAL)
    return [unique.num_rows(), g.value(unique.columns()[1])]


def dearest_line_hashed(g):
    """A line number has four bits, so that a number has the order of price and line."""
    place = g.compute("lo_extendedprice", "MUL", g.numpy.int64(16), "INT64")
    place = g.compute(place, "SUB", "lo_linenumber", "INT64")
    found = g.gather(["lo_revenue"], g.group(["lo_orderkey"], (place, "argmax"))[1])
    return [found[0].size(), g.value(found[0])]


def running_sum(g, stable):
    """Orders lie in the order of their keys, so that a stable sort by the customer is enough."""
    columns, types = ["lo_custkey", "lo_quantity"], g.plc.types
    keys = ["lo_custkey"] if stable else ["lo_custkey", "lo_orderkey", "lo_linenumber"]
    customer, quantity = g.sort(columns, keys, stable=stable)
    by_customer = g.plc.groupby.GroupBy(g.table([customer]), types.NullPolicy.EXCLUDE, types.Sorted.YES,
                                        [types.Order.ASCENDING], [types.NullOrder.AFTER])
    request = g.plc.groupby.GroupByRequest(quantity, [g.plc.aggregation.sum()])
    running = by_customer.scan([request])[1][0].columns()[0]
    return [g.value(running, "max"), g.value(g.compute(running, "MOD", g.numpy.int64(1000), "INT64"))]


def exists(g):
    lines = g.rows("lo_custkey", "lo_discount == 10 and lo_quantity == 50")
    return [g.with_partner(["c_custkey"], lines).size()]


def dearest_of_each_part(g):
    part, most = g.group(["lo_partkey"], ("lo_revenue", "max"))
    quantity, = g.join(["lo_partkey", "lo_revenue"], ["lo_quantity"], [part, most], [])
    return [quantity.size(), g.value(quantity)]


def classes(g):
    words, scalar = ["few", "many", "some"], lambda word: g.plc.Scalar.from_numpy(g.numpy.int32(words.index(word)))
    choose = g.plc.copying.copy_if_else
    below_40 = choose(scalar("some"), scalar("many"), g.holds("lo_quantity < 40"))
    number = choose(scalar("few"), below_40, g.holds("lo_quantity < 10"))
    groups = g.group([number], ("lo_revenue", "count sum"))
    number, count, revenue = g.sort(groups, groups[:1])
    return [(number, words), count, revenue]


def two_distinct(g, deduplicated):
    if not deduplicated:
        groups = g.group(["lo_discount"], ("lo_custkey", "nunique"), ("lo_suppkey", "nunique"))
        return g.sort(groups, groups[:1])
    counts = []
    for key in ["lo_custkey", "lo_suppkey"]:
        discount, other = g.distinct(["lo_discount", key])
        groups = g.group([discount], (other, "count"))
        counts += g.sort(groups, groups[:1])
    return [counts[0], counts[1], counts[3]]


def deviations(g):
    revenue, year = g.join(["lo_orderdate"], ["lo_revenue"], ["d_datekey"], ["d_year"])
    double = g.compute(revenue, "MUL", g.numpy.float64(1), "FLOAT64")  # libcudf's deviation of whole numbers is no number
    more = g.compute(revenue, "MUL", g.numpy.float64(1.5), "FLOAT64")
    groups = g.group([year], (double, "std"), (more, "mean"))
    return g.sort(groups, groups[:1])


def union_all(g):
    first = g.rows("lo_tax lo_revenue", "lo_discount == 1")
    second = g.rows("lo_discount lo_supplycost", "lo_tax == 1")
    key, value = g.plc.concatenate.concatenate([g.table(first), g.table(second)]).columns()
    groups = g.group([key], (value, "sum"))
    return g.sort(groups, groups[:1])


YEARS = "d_year >= 1992 and d_year <= 1997"
TWO_YEARS = "d_year == 1997 or d_year == 1998"
TWO_MAKERS = "p_mfgr == 'MFGR#1' or p_mfgr == 'MFGR#2'"
C_CITIES = "c_city == 'UNITED KI1' or c_city == 'UNITED KI5'"
S_CITIES = "s_city == 'UNITED KI1' or s_city == 'UNITED KI5'"
S_AMERICA, S_STATES = "s_region == 'AMERICA'", "s_nation == 'UNITED STATES'"

# Of each question libcudf's plans, each with the arguments after the columns.
THE_13 = {
    "q1.1": [(q1, "lo_discount >= 1 and lo_discount <= 3 and lo_quantity < 25", "d_year == 1993")],
    "q1.2": [(q1, "lo_discount >= 4 and lo_discount <= 6 and lo_quantity >= 26 and lo_quantity <= 35",
              "d_yearmonthnum == 199401")],
    "q1.3": [(q1, "lo_discount >= 5 and lo_discount <= 7 and lo_quantity >= 26 and lo_quantity <= 35",
              "d_weeknuminyear == 6 and d_year == 1994")],
    "q2.1": [(q2, "p_category == 'MFGR#12'", "s_region == 'AMERICA'")],
    "q2.2": [(q2, "p_brand1 >= 'MFGR#2221' and p_brand1 <= 'MFGR#2228'", "s_region == 'ASIA'")],
    "q2.3": [(q2, "p_brand1 == 'MFGR#2239'", "s_region == 'EUROPE'")],
    "q3.1": [(q3, "c_region == 'ASIA'", "s_region == 'ASIA'", YEARS, "nation")],
    "q3.2": [(q3, "c_nation == 'UNITED STATES'", S_STATES, YEARS, "city")],
    "q3.3": [(q3, C_CITIES, S_CITIES, YEARS, "city")],
    "q3.4": [(q3, C_CITIES, S_CITIES, "d_yearmonthnum == 199712", "city")],
    "q4.1": [(q4, S_AMERICA, TWO_MAKERS, "d_year >= 1992", ["c_nation"])],
    "q4.2": [(q4, S_AMERICA, TWO_MAKERS, TWO_YEARS, ["s_nation", "p_category"])],
    "q4.3": [(q4, S_STATES, "p_category == 'MFGR#14'", TWO_YEARS, ["s_city", "p_brand1"])],
}
OTHERS = {
    "dense groups: by discount": [(by_discount,)],
    "distinct: customers by year": [(customers_by_year, False), (customers_by_year, True)],
    "groups of many keys: customers": [(customers, False), (customers, True)],
    "groups of many keys: parts": [(parts, False), (parts, True)],
    "whole columns: three aggregates": [(three_aggregates,)],
    "first rows: of all by three keys": [(first_of_all, False), (first_of_all, True)],
    "groups of many keys: orders": [(orders, False), (orders, True)],
    "groups of many keys: customers and suppliers": [(customers_and_suppliers, False), (customers_and_suppliers, True)],
    "quantiles: medians of brands": [(medians_of_brands,)],
    "joins: a grouped answer": [(grouped_answer,)],
    "joins: date of the commitment": [(date_of_commitment,)],
    "subqueries: not in": [(not_in,)],
    "windows: dearest line of an order": [(dearest_line_sorted,), (dearest_line_hashed,)],
    "windows: running sum of each customer": [(running_sum, False), (running_sum, True)],
    "subqueries: exists": [(exists,)],
    "joins: the dearest line of each part": [(dearest_of_each_part,)],
    "case: groups by classes": [(classes,)],
    "distinct: two counts by discount": [(two_distinct, False), (two_distinct, True)],
    "doubles: deviations by year": [(deviations,)],
    "sets: union all with groups": [(union_all,)],
}
PLANS = THE_13 | OTHERS


def best(run, wait, repeat):
    """(milliseconds, what the last run returned)."""
    fastest, answer = math.inf, None
    for _ in range(repeat):
        answer = None
        wait()
        begin = time.perf_counter()
        answer = run()
        wait()
        fastest = min(fastest, time.perf_counter() - begin)
    return fastest * 1e3, answer


def of_cudf(g, name, repeat):
    """(milliseconds, rows, note). A plan that fails is noted if another does not; all plans must answer alike."""
    found, failures = [], []
    for plan, *arguments in PLANS[name]:
        try:
            ms, answer = best(lambda: plan(g, *arguments), g.wait, repeat)
            found.append((ms, g.fetch(answer)))
        except Exception as failure:
            failures.append(f"{plan.__name__}{tuple(arguments)}: {type(failure).__name__}: {failure}"[:400])
    if not found:
        raise RuntimeError("; ".join(failures))
    if any(rows != found[0][1] for _, rows in found):
        failures.append("libcudf's plans have different answers")
    return *min(found, key=lambda one: one[0]), "; ".join(failures)


def cudf_process(folder, names, repeat, pipe):
    """Sends (name, milliseconds or None, rows or the failure, note) of each question."""
    begin = time.time()
    g = Cudf(folder)
    lines = g.columns["lo_orderkey"].size()
    print(f"# {lines} lines are on the device after {time.time() - begin:.1f} s", file=sys.stderr, flush=True)
    for name in names:
        try:
            pipe.send((name, *of_cudf(g, name, repeat)))
        except Exception as failure:
            pipe.send((name, None, str(failure), ""))
    pipe.close()


def ask_cudf(options, names):
    """What libcudf answers, by name; a process that dies leaves the rest unanswered."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=cudf_process, args=(options.tbl, names, options.repeat, theirs))
    process.start()
    theirs.close()
    found = {}
    while len(found) < len(names):
        try:
            name, ms, rows, note = ours.recv()
        except EOFError:
            break
        found[name] = ms, rows, note
        told = f"{ms:.3f} ms {note}" if ms is not None else rows
        print(f"# libcudf: {name}: {told}", file=sys.stderr, flush=True)
    process.join(60)
    if process.is_alive():
        process.kill()
    missing = f"libcudf's process ended with {process.exitcode}"
    return {name: found.get(name, (None, missing, "")) for name in names}


def ask_duckdb(options, names, statements):
    connection = bench_duckdb.load_duckdb(pathlib.Path(options.tbl), ":memory:", options.threads or os.cpu_count())
    found = {}
    for name in names:
        try:
            ms, rows = best(lambda: connection.execute(statements[name]).fetchall(), lambda: None, options.repeat)
            found[name] = ms, rows, ""
        except Exception as failure:
            found[name] = None, str(failure), ""
    return found


def ask_tessera(options, sql):
    """(milliseconds, rows). One process is asked again and again, and must answer the same each time."""
    command = [options.tessera, "sql", "--db", options.db, "--device", options.device, "--kernel", options.kernel,
               "--format", "csv", "--timer"] + (["--threads", str(options.threads)] if options.threads else [])
    run = subprocess.run(command, input=(sql + ";\n") * options.repeat, timeout=TIMEOUT,
                         capture_output=True, text=True, encoding="utf-8")
    totals = [float(total) for total in re.findall(r"; total ([0-9.]+)", run.stderr)]
    if run.returncode or len(totals) != options.repeat:
        raise RuntimeError(f"Tessera ended with {run.returncode}: {run.stderr.strip()[-300:]}")
    rows = answers.read_csv(run.stdout)
    length = len(rows) // options.repeat
    if rows != rows[:length] * options.repeat:
        raise RuntimeError("Tessera's repeats have different answers")
    return min(totals), rows[1:length]


def scans(options, names):
    """The median time of each query's scan, by name."""
    names = [name for name in names if name in THE_13]
    if not names:
        return {}
    command = [options.tessera, "ssb", "run", "--db", options.db, "--device", options.device, "--verify", "none",
               "--query", ",".join(names), "--repeat", "10", "--format", "json"]
    run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=TIMEOUT)
    if run.returncode:
        print("# ssb run failed: " + run.stderr.strip()[-300:], file=sys.stderr, flush=True)
        return {}
    return {query["query"]: query["total_ms"]["median"] for query in json.loads(run.stdout)["queries"]}


def same_cell(text, value):
    """Whether the cell of a CSV is the other engine's value."""
    if value is None or text is None:
        return value is None and text is None
    try:
        if isinstance(value, float):
            return math.isclose(float(text), value, rel_tol=RELATIVE)
        if isinstance(value, (int, decimal.Decimal)):
            return decimal.Decimal(text) == value
    except (ValueError, decimal.InvalidOperation):
        return False
    return text == str(value)


def difference(mine, theirs, other):
    """What to print, or nothing if the answers are the same."""
    wrong = [i for i, (a, b) in enumerate(itertools.zip_longest(mine, theirs))
             if a is None or b is None or len(a) != len(b) or not all(same_cell(x, y) for x, y in zip(a, b))]
    if not wrong:
        return ""
    rows = [f"  row {i}: Tessera {mine[i:i + 1]}, {other} {theirs[i:i + 1]}" for i in wrong[:SHOWN]]
    return "\n".join([f"{len(wrong)} rows differ of {len(mine)} and {len(theirs)}"] + rows)


def summary(title, ratios):
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{title}: {len(ratios)} questions, geometric mean {mean:.2f}, least {min(ratios):.2f}", flush=True)


def compare(options, names, statements, found, other):
    """Prints the table and returns the number of questions that failed."""
    scanned, failed, results = scans(options, names), 0, []
    print(f"| question | rows | {other} ms | Tessera ms | ratio | scan ms | ratio |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for name in names:
        theirs_ms, theirs, note = found[name]
        try:
            if theirs_ms is None:
                raise RuntimeError(theirs)
            mine_ms, mine = ask_tessera(options, statements[name])
            wrong = difference(mine, theirs, other)
        except Exception as failure:
            failed += 1
            print(f"| {name} | failed: {' '.join(str(failure).split())} | | | | | |", flush=True)
            continue
        scan = scanned.get(name)
        times = f"{theirs_ms:.3f} | {mine_ms:.3f} | {theirs_ms / mine_ms:.2f}"
        by_scan = f"{scan:.3f} | {theirs_ms / scan:.2f}" if scan else "|"
        print(f"| {name} | {len(mine)} | {times} | {by_scan} |", flush=True)
        if wrong or note:
            failed += 1
            print(f"WRONG {name}: {wrong or note}", flush=True)
        results.append({"question": name, "other_ms": theirs_ms, "tessera_ms": mine_ms, "scan_ms": scan,
                        "same": not wrong})
    for title, some in (("the 13", THE_13), ("the others", OTHERS)):
        chosen = [r for r in results if r["question"] in some and r["same"]]
        summary(f"{title}, {other} / Tessera", [r["other_ms"] / r["tessera_ms"] for r in chosen])
        summary(f"{title}, {other} / scan", [r["other_ms"] / r["scan_ms"] for r in chosen if r["scan_ms"]])
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps({"other": other, "results": results}, indent=1) + "\n")
    return failed


def questions():
    """The SQL of each question, by name."""
    text = (HERE / "questions.sql").read_text(encoding="utf-8")
    found = re.findall(r"^-- ([a-z ]+: .+)\n((?:(?!-- ).*\n)+)", text, re.M)
    return bench_duckdb.statements() | {name: sql.strip().rstrip(";") for name, sql in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tessera", metavar="TESSERA", help="the program")
    parser.add_argument("db", metavar="DB", help="the database")
    parser.add_argument("tbl", metavar="TBL", help="the folder of the .tbl files")
    parser.add_argument("--only", default="", metavar="REGEX", help="only questions whose name it finds")
    parser.add_argument("--device", default="cuda", help="Tessera's")
    parser.add_argument("--kernel", default="specialised", help="as of tessera sql")
    parser.add_argument("--repeat", type=int, default=6, help="runs of each question, of which the best counts")
    parser.add_argument("--threads", type=int, default=0, help="of Tessera and DuckDB; 0: all")
    parser.add_argument("--no-cudf", action="store_true", help="DuckDB answers in libcudf's stead")
    parser.add_argument("--out", metavar="FILE.json", help="also write the times there")
    options = parser.parse_args()
    if bench_duckdb.duckdb is None:
        print("bench_libcudf.py needs the Python package duckdb", file=sys.stderr)
        sys.exit(3)
    statements = questions()
    names = [name for name in PLANS if re.search(options.only, name)]
    found = ask_duckdb(options, names, statements) if options.no_cudf else ask_cudf(options, names)
    sys.exit(1 if compare(options, names, statements, found, "DuckDB" if options.no_cudf else "libcudf") else 0)


if __name__ == "__main__":
    main()
