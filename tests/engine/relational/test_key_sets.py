#!/usr/bin/env python3
"""test_key_sets.py TESSERA [EMULATOR]: subqueries with so many keys that they are bitmaps from the scan that finds them to the
condition that asks them, sides of joins whose keys become such conditions, and groups that become dimensions
(engine/relational/fold.c, reduce.c, dimension.c). All are
answered as by SQLite, on one thread and on two, with little memory and, where there is the emulated GPU, on it."""
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile

TESSERA, EMULATOR = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
LINES, KEYS = 160_000, 100_003
SCHEMA = """CREATE TABLE bills (bill INTEGER PRIMARY KEY, town INTEGER, due DATE);
CREATE TABLE lines (bill INTEGER REFERENCES bills (bill), near INTEGER, far BIGINT, price DECIMAL(12,1), paid INTEGER, day DATE);"""
# {k}: a key that is dense, from below 0 on; one of which NULL is; one that is a reference; one far apart; a decimal.
KEYED = ["near", "far", "bill", "price"]
QUESTIONS = """
select count(*), sum(paid) from lines where {k} in (select {k} from lines where paid < 70)
select count(*), sum(paid) from lines where {k} not in (select {k} from lines where paid < 70 and {k} is not null)
select count(*) from lines where {k} not in (select {k} from lines where paid < 90)
select count(*) from lines a where exists (select 1 from lines b where b.{k} = a.{k} and b.paid >= 60) and a.paid < 60
select count(*) from lines a where not exists (select 1 from lines b where b.{k} = a.{k} and b.paid >= 20)
select count(*), min({k}), max({k}) from lines where {k} in (select {k} from lines group by {k} having count(*) > 1 and sum(paid) > 50)
select sum(case when {k} in (select {k} from lines where paid < 80) then paid else 1 end), count(*) from lines where paid > 3
select count(*) from lines where paid = 7 or {k} in (select {k} from lines where paid between 10 and 90)
select count(*) from lines where {k} in (select {k} from lines where paid > 1000)
select count(*) from lines where {k} in (select {k} + 1 from lines where paid < 70)
select count(*) from lines where {k} * 2 in (select {k} from lines where paid < 70)
select count(*), sum(g.m) from lines a join (select {k} k, max(paid) m, count(*) n from lines group by {k}) g on a.{k} = g.k where a.paid < 5
select count(*), sum(a.paid - b.paid) from lines a join lines b on a.{k} = b.{k} where a.paid < 3 and b.paid > 50
select count(*), count(b.paid) from (select {k} k from lines where paid < 2) a left join lines b on b.{k} = a.k and b.paid > 90
""".strip().splitlines()
# Groups that become dimensions, of which one has NULL as its key; the last has a value that would mean NULL in one.
DIMENSIONS = """
select count(*), sum(g.m) from lines a join (select nullif(near, 77) k, max(paid) m from lines where near not between -9 and 9 group by nullif(near, 77)) g on a.near = g.k
select count(*), sum(a.paid), min(a.day) from lines a join (select {k} k, max(paid) m from lines group by {k}) g on a.{k} = g.k and a.paid = g.m
select count(*), count(g.k), sum(g.m), max(g.d) from lines a left join (select {k} k, sum(paid) m, max(day) d from lines where paid > 9 group by {k}) g on a.{k} = g.k
select count(*), min(g.m) from lines a join (select {k} k, min(case when paid = 7 then -9223372036854775807 - 1 else paid end) m from lines group by {k}) g on a.{k} = g.k
""".strip().splitlines()
OTHERS = """
select count(*) from bills where bill in (select bill from lines where paid < 90)
select count(*) from bills where bill not in (select bill from lines where paid < 40)
select town, count(*) from bills where not exists (select 1 from lines where lines.bill = bills.bill and paid > 30) group by town order by town
select count(*) from lines where day in (select due from bills where town = 3)
select count(*) from lines where near in (select far from lines where paid < 70)
select count(*) from lines where far in (select near from lines where paid < 70)
select count(*) from lines where near in (select price from lines where paid < 70)
select count(*) from lines where near + 0.5 in (select price from lines)
select count(*) from lines where near in (select bill from bills) and bill in (select near from lines)
select count(*) from (select distinct near from lines where paid < 90) t where near not in (select bill from lines where paid > 50 and bill is not null)
""".strip().splitlines()


def day_of(number):
    return f"{1990 + number % 400 // 48:04d}-{1 + number % 12:02d}-{1 + number % 28:02d}"


def make(folder):
    """Writes the files, and gives SQLite's connection with the same rows."""
    rng = random.Random(29)
    bills = [(b, rng.randrange(7), day_of(rng.randrange(400))) for b in range(1, KEYS + 1)]
    lines = []
    for _ in range(LINES):
        key = rng.randrange(KEYS)
        lines.append((None if key % 97 == 0 else key + 1, key - KEYS // 2, key * 1_000_003, (key - 9) / 2, rng.randrange(100),
                      day_of(rng.randrange(400))))
    lines.sort(key=lambda line: line[1] // 5)  # nearly in order, so that runs of a key are broken
    (folder / "schema.sql").write_text(SCHEMA)
    for name, rows in (("bills", bills), ("lines", lines)):
        (folder / f"{name}.csv").write_text("".join(",".join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows))
    subprocess.run([TESSERA, "load", "--db", folder / "db", "--schema", folder / "schema.sql", "--header", "no",
                    *(f"{table}={folder / table}.csv" for table in ("bills", "lines"))], check=True, capture_output=True)
    judge = sqlite3.connect(":memory:")
    judge.execute("create table bills (bill integer primary key, town, due)")
    judge.execute("create table lines (bill integer, near integer, far integer, price, paid, day)")
    judge.executemany("insert into bills values (?, ?, ?)", bills)
    judge.executemany("insert into lines values (?, ?, ?, ?, ?, ?)", lines)
    for key in KEYED:
        judge.execute(f"create index lines_{key} on lines ({key}, paid)")
    return judge


def ask(folder, statements, options, environment=None):
    """The answers of all, in one process."""
    run = subprocess.run([TESSERA, "sql", "--db", folder / "db", "--format", "csv", *options],
                         input="".join(statement + ";\n" for statement in statements), capture_output=True, text=True,
                         env={**os.environ, **(environment or {})})
    assert run.returncode == 0, run.stderr
    return run.stdout


def cell(value):
    return "" if value is None else f"{value:.1f}" if isinstance(value, float) else str(value)


def expected(judge, statements):
    text = ""
    for statement in statements:
        cursor = judge.execute(statement)
        text += "\n".join(",".join(cell(value) for value in row) for row in cursor.fetchall()) + "\n"
    return text


def without_heads(statements, output):
    """The rows of all answers: heads go, and empty lines between answers."""
    heads = {"count(*)", "town,count(*)"}
    lines = [line for line in output.splitlines() if line]
    return "\n".join(line for line in lines if not line[0].isalpha() and line not in heads) + "\n"


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    judge = make(folder)
    statements = [question.format(k=key) for key in KEYED for question in QUESTIONS + DIMENSIONS] + OTHERS
    ways = [(["--device", "cpu", "--threads", "1"], None, statements),
            (["--device", "cpu", "--threads", "2"], None, statements),
            (["--device", "cpu", "--threads", "2", "--memory", "600K"], None, statements)]
    if EMULATOR:  # it takes a second for each
        few = [question.format(k="near") for question in QUESTIONS[:6:2] + [QUESTIONS[5]] + DIMENSIONS[:2]] + OTHERS[:2]
        ways.append((["--device", "cuda", "--kernel", "general"], {"TESSERA_LIBCUDA": EMULATOR}, few))
    for options, environment, asked in ways:
        right = expected(judge, asked).splitlines()
        output = without_heads(asked, ask(folder, asked, options, environment)).splitlines()
        assert len(output) == len(right), f"{options}: {len(output)} rows instead of {len(right)}"
        for answer, row in zip(output, right):
            assert answer == row, f"{options}: {answer} instead of {row}"
    plan = ask(folder, ["explain analyze select count(*) from lines where near in (select near from lines where paid < 90)"],
               ["--device", "cpu"])
    assert "a bitmap of" in plan, plan
    for question, found in zip(DIMENSIONS, (True, True, True, False)):
        plan = ask(folder, ["explain analyze " + question.format(k="near")], ["--device", "cpu"])
        assert ("join by" in plan) != found, plan
