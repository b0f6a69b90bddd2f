#!/usr/bin/env python3
"""Asks Parquet files of many row groups, by pyarrow and DuckDB, and an ORC file of many stripes, with random conditions, and
compares each answer with DuckDB's over the same rows in a table of its own: parts of files that cannot have rows are not read,
and no row is lost by that. Then EXPLAIN must say that only few were read where a condition is about few.

    test_file_parts.py TESSERA [SEED [STATEMENTS]]

Ends with 77 (skipped) where pyarrow or duckdb is not installed."""
import csv
import datetime
import io
import os
import random
import re
import subprocess
import sys
import tempfile

try:
    import duckdb
    import pyarrow
    import pyarrow.orc
    import pyarrow.parquet
except ImportError as missing:
    print("[  NOT RUN ] %s is not installed (pip install pyarrow duckdb)" % missing.name)
    sys.exit(77)

TESSERA = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 20261129
STATEMENTS = int(sys.argv[3]) if len(sys.argv) > 3 else 120
ROWS = 6000
rng = random.Random(SEED)


def rows():
    """Columns whose values follow the row's number, so that row groups differ, and one that does not."""
    day, moment, D = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1), __import__("decimal").Decimal
    some = lambda values, share: [None if rng.random() < share else v for v in values]
    n = range(ROWS)
    types = {"k": pyarrow.int64(), "i": pyarrow.int32(), "u": pyarrow.uint32(), "w": pyarrow.uint64(), "d": pyarrow.float64(),
             "f": pyarrow.float32(), "x": pyarrow.float64(), "p": pyarrow.decimal128(9, 2), "q": pyarrow.decimal128(38, 2),
             "s": pyarrow.string(), "z": pyarrow.string(), "dt": pyarrow.date32(), "ts": pyarrow.timestamp("us"),
             "tz": pyarrow.timestamp("ms", tz="UTC"), "tn": pyarrow.timestamp("ns"), "b": pyarrow.bool_(),
             "e": pyarrow.int64(), "r": pyarrow.int64()}
    values = {"k": n, "i": some([v // 50 - 60 + rng.randrange(9) for v in n], 0.03), "u": [v * 700000 for v in n],
              "w": [v * 1500000000000 for v in n], "d": some([v / 4 - 500 for v in n], 0.02), "f": [v / 3 for v in n],
              "x": [float("nan") if v == 4500 or 1500 <= v < 1503 else -0.0 if v == 2000 else (v - 2000) / 7 for v in n],
              "p": [D(v) / 100 - 20 for v in n], "q": [D(v) / 100 - 20 for v in n],
              "s": some(sorted("w%05d" % (v // 37) + "x" * (v % 5) for v in n), 0.01),
              "z": ["é" * (v // 2000) + "a%04d" % v for v in n], "dt": [day + datetime.timedelta(v // 20) for v in n],
              "ts": [moment + datetime.timedelta(minutes=7 * v) for v in n],
              "tz": [moment + datetime.timedelta(minutes=7 * v) for v in n], "tn": [v * 60000007000 + 5000 for v in n],
              "b": [v > 3000 for v in n], "e": [None if v // 1000 % 2 else v for v in n],
              "r": [rng.randrange(1000) for v in n]}
    return pyarrow.table({c: pyarrow.array(list(values[c]), types[c]) for c in types})


def write(table):
    """Files with statistics of all kinds, and without some, also two of one pattern."""
    put = pyarrow.parquet.write_table
    put(table, "a.parquet", row_group_size=500)
    put(table, "b.parquet", row_group_size=333, data_page_version="2.0", compression="zstd", use_dictionary=False,
        store_decimal_as_integer=True)
    put(table, "c.parquet", row_group_size=500, write_statistics=["k", "s"], use_deprecated_int96_timestamps=True)
    put(table.slice(0, 0), "m0.parquet")
    put(table.slice(0, 2900), "m1.parquet", row_group_size=250)
    put(table.slice(2900), "m2.parquet", row_group_size=400)
    connection = duckdb.connect()
    connection.execute("COPY (FROM 'a.parquet') TO 'd.parquet' (ROW_GROUP_SIZE 2048)")
    for number, name in enumerate(table.column_names):
        if name in "uw":  # ORC has numbers with sign alone
            table = table.set_column(number, name, table[name].cast(pyarrow.int64()))
    pyarrow.orc.write_table(table, "e.orc", stripe_size=1024, batch_size=256)


# ---- Statements ----

def number(low, high, digits=0):
    return "%.*f" % (digits, rng.uniform(low, high))


def literal(column):
    when = "2020-%02d-%02d" % (rng.randint(1, 3), rng.randint(1, 28))
    return {"k": lambda: number(-500, 6500), "i": lambda: number(-70, 80), "u": lambda: number(-10, 4.3e9),
            "w": lambda: number(-10, 9.1e15), "d": lambda: number(-600, 1100, 2), "f": lambda: number(-5, 2100, 3),
            "x": lambda: rng.choice([number(-300, 600, 2), "'nan'::double", "'inf'::double", "0.0", "5"]),
            "p": lambda: number(-25, 45, rng.randrange(4)), "q": lambda: number(-25, 45, 2),
            "s": lambda: "'%s'" % rng.choice(["w%05d" % rng.randrange(170) + "x" * rng.randrange(5), "w", "x", "", "w0010~"]),
            "z": lambda: "'" + "é" * rng.randrange(4) + "a%04d'" % rng.randrange(6500),
            "dt": lambda: "date '%d-%02d-%02d'" % (rng.choice([2019, 2020, 2021]), rng.randint(1, 12), rng.randint(1, 28)),
            "ts": lambda: "timestamp '%s %02d:00:00'" % (when, rng.randrange(24)),
            "tz": lambda: "timestamp with time zone '%s %02d:00:00+00'" % (when, rng.randrange(24)),
            "tn": lambda: "timestamp '1970-01-%02d %02d:00:00'" % (rng.randint(1, 6), rng.randint(1, 23)),
            "e": lambda: number(-5, 6500), "r": lambda: number(-5, 1005)}[column]()


def simple():
    column, kind = rng.choice("k i u w d f x p q s z dt ts tz tn e r".split()), rng.random()
    if kind < 0.45:
        return "%s %s %s" % (column, rng.choice(["=", "<", "<=", ">", ">=", "<>"]), literal(column))
    if kind < 0.5:
        return "%s %s %s" % (literal(column), rng.choice(["=", "<", ">="]), column)
    if kind < 0.65:
        return "%s %sbetween %s and %s" % (column, rng.choice(["", "not "]), literal(column), literal(column))
    if kind < 0.78:
        return "%s %sin (%s)" % (column, rng.choice(["", "", "not "]),
                                 ", ".join(literal(column) for _ in range(rng.randint(1, 4))))
    if kind < 0.88:
        return "%s is %snull" % (column, rng.choice(["", "not "]))
    return rng.choice(["b", "not b", "b = true", "k % 7 = 3", "k + r < 300", "k - i * 50 > 3010", "extract(month from ts) = 1",
                       "d * 2 > 1500", "abs(d) < 10", "x + d > 900", "case when k < 100 then true else i > 50 end",
                       "coalesce(e, -1) = -1", "e + 1 = 2500", "cast(k as varchar) = '77'", "s like 'w0001%'",
                       "lower(s) = 'w00100'", "s || 'x' = 'w00100x'", "s < z", "cast(ts as date) = date '2020-01-12'", "x = x"])


def condition(depth=0):
    kind = rng.random()
    if depth < 3 and kind < 0.6:
        return "(%s %s %s)" % (condition(depth + 1), "or" if kind < 0.3 else "and", condition(depth + 1))
    return "not (%s)" % condition(depth + 1) if depth < 3 and kind < 0.68 else simple()


def statement(file):
    totals, kind, where = "count(*), sum(k), min(r), max(s), count(d)", rng.random(), condition()
    if kind < 0.5:
        return "select %s from %s where %s" % (totals, file, where)
    if kind < 0.6:
        return "select %s from (select *, r + 1 as r1 from %s where %s) t where %s" % (totals, file, condition(), where)
    if kind < 0.7:
        return "with w as (select * from %s) select %s from w where %s" % (file, totals, where)
    if kind < 0.75:
        return ("with w as (select * from %s where %s) select count(*), sum(a.k), sum(b.k) from (select * from w where k < 500) a "
                "join (select * from w where r < 100) b on a.k = b.r" % (file, condition()))
    if kind < 0.85:
        return ("select count(*), sum(a.k), sum(b.k), count(b.s) from (select * from %s where %s) a %s (select * from %s where %s) "
                "b on a.k = b.k and b.r < 600 %s" % (
                    file, where, rng.choice(["left join", "join", "full join", "right join"]), file, condition(),
                    rng.choice(["", "where a.k < 2000", "where b.k < 2000", "where b.k is null",
                                "where coalesce(b.k, a.k) > 4500"])))
    if kind < 0.9:
        return ("select count(*), sum(k) from %s a where k < 900 and %sexists (select 1 from %s b where b.r = a.k and b.k > %d)" % (
            file, rng.choice(["", "not "]), file, rng.randrange(6000)))
    if kind < 0.95:
        return "select count(*), sum(k) from %s where k %sin (select r from %s where %s)" % (
            file, rng.choice(["", "not "]), file, where)
    return "select count(*), sum(n) from (select r, count(*) as n from %s where %s group by r) t where r < 500" % (file, where)


# ---- Answers ----

def ask(statements):
    done = subprocess.run([TESSERA, "sql", "--device", "cpu", "--threads", "1", "--format", "csv"], capture_output=True,
                          input=";\n".join(statements) + ";\n", encoding="utf-8")
    if done.returncode:
        sys.exit("seed %d: %s" % (SEED, done.stderr))
    return list(csv.reader(io.StringIO(done.stdout)))


def shown(value):
    text = "" if value is None else str(value)
    try:
        return "%.9g" % float(text)
    except ValueError:
        return text


def compare(statements, expected):
    """All are asked in one program, which keeps what it has read."""
    found = [row for row in ask(statements) if not row[0].startswith("count(")]
    for text, right, row in zip(statements, expected, found):
        if [shown(v) for v in row] != [shown(v) for v in right]:
            sys.exit("seed %d: %s\n%s instead of %s" % (SEED, text, row, right))
    if len(found) != len(expected):
        sys.exit("seed %d: %d answers instead of %d" % (SEED, len(found), len(expected)))


# Row groups of 12; first those without any, because a table that has more of what is wanted is used again.
FEW = {"k < 0": 0, "extract(year from ts) = 2021": 0, "s > 'y'": 0, "'y' < s": 0, "k = 77": 1, "k in (77, 5000)": 2,
       "k >= 500 and k < 1000": 1, "s = 'w00100'": 1, "u < 1000": 1,
       "w = 0": 1, "d is not null and d < -400": 1, "p between -20 and -19": 1, "q < -19": 1, "dt = date '2020-01-02'": 1,
       "ts < timestamp '2020-01-02 00:00:00'": 1, "tz < timestamp with time zone '2020-01-02 00:00:00+00'": 1,
       "tn < timestamp '1970-01-01 01:00:00'": 1, "e is not null and k < 2000": 2, "x = 3.0": 1, "x between 500 and 600": 1, "f < 1": 1,
       "z = 'a0001'": 1, "k = 1 or k = 2": 1, "k + 1 = 700": 1}


def main():
    write(rows())
    connection = duckdb.connect()
    connection.execute("SET threads = 1; SET TimeZone = 'UTC'; CREATE TABLE t AS FROM 'a.parquet'")
    files = ["'a.parquet'", "'b.parquet'", "'c.parquet'", "'d.parquet'", "'e.orc'", "'m?.parquet'"]
    statements = [statement(file) for file in rng.choices(files, k=STATEMENTS)]
    expected = [connection.execute(re.sub("'[abcdem]\\??[.][a-z]*'", "t", text)).fetchone() for text in statements]
    compare(statements, expected)
    plans = "\n".join(row[0] for row in ask(["explain select sum(r) from 'a.parquet' where " + text for text in FEW]))
    for text, plan in zip(FEW, plans.split("plan\n")[1:]):
        if "a.parquet, %d of 12 row groups" % FEW[text] not in plan:
            sys.exit("%s reads other than %d row groups:\n%s" % (text, FEW[text], plan))
    stripes = pyarrow.orc.ORCFile("e.orc").nstripes
    for text in ("k < 0", "'y' < s", "k = 77", "dt = date '2020-01-02'", "d < -499", "s = 'w00100'"):
        plan = "\n".join(row[0] for row in ask(["explain select sum(r) from 'e.orc' where " + text]))
        found = re.search("e.orc, ([01]) of %d stripes" % stripes, plan)
        if not found:
            sys.exit("%s reads more than one of %d stripes:\n%s" % (text, stripes, plan))
    print("%d statements as DuckDB %s; seed %d" % (len(statements), duckdb.__version__, SEED))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
