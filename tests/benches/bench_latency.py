#!/usr/bin/env python3
"""Measures what a program waits for from a statement's text to its last row, through the library, in one process.

    tests/benches/bench_latency.py --db DIR [--build build/release] [--device auto] [--threads N] [--repeat 50]
                                   [--duckdb FILE] [--only REGEX] [--kernel auto|general|specialised]
                                   [--format table|json]
    tests/benches/bench_latency.py --db DIR --users 1,4,16,64 [--seconds 3] [--duckdb FILE] ...
    tests/benches/bench_latency.py --db DIR --opening [--repeat 50]

The database is one of `tessera ssb load`. The questions are the 13 of the Star Schema Benchmark and 30 of other kinds,
each with several constants. For each it prints, in milliseconds:

    first      the text for the first time in this process, with nothing compiled before (the cache of kernels is a new
               folder, NVRTC's own cache is off); all columns were named by other statements before
    disk       the same in a second process, which finds the kernels on the disk
    other      the same text with other constants: the median of them
    repeated   the same text again: the median of --repeat times

and the same of DuckDB over the same rows with --duckdb FILE, a database that bench_duckdb.py has made (it must hold all
columns that the questions name), on all threads. Answers of both are compared. The last lines are geometric means, and
the wall time of a process that asks Q1.1 with a cache of kernels on the disk. Exit code 1: answers differ.

With --users it prints instead how many of the 13 are answered in a second when so many threads of one program ask them
over one open database, each one after the other (build the program bench_users for it). With --opening it prints how long
tessera_open takes on the CPU when the database's pages are not in memory (they are dropped before each of five times)
and when they are.
"""
import argparse
import ctypes
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import bench_duckdb

ROOT = bench_duckdb.ROOT
sys.path.insert(0, str(ROOT / "tests" / "trial"))
import answers

# Text and the constants of each variant.
YEARS = [(1993,), (1994,), (1995,), (1996,), (1997,)]
QUESTIONS = {
    "count": ("select count(*) from lineorder where lo_quantity < {}", [(25,), (10,), (30,), (41,)]),
    "sum": ("select sum(lo_revenue), min(lo_supplycost) from lineorder where lo_discount = {}", [(3,), (4,), (5,)]),
    "extrema": ("select min(lo_revenue), max(lo_revenue) from lineorder where lo_tax >= {}", [(3,), (5,), (7,)]),
    "average": ("select avg(lo_extendedprice) from lineorder where lo_quantity between {} and {}",
                [(5, 9), (10, 30), (20, 22)]),
    "years": ("select d_year, count(*) from lineorder, date where lo_orderdate = d_datekey and lo_discount > {} "
              "group by d_year order by d_year", [(5,), (6,), (7,)]),
    "regions": ("select c_region, s_region, sum(lo_revenue) from lineorder, customer, supplier where lo_custkey = "
                "c_custkey and lo_suppkey = s_suppkey and lo_quantity > {} group by c_region, s_region order by 1, 2",
                [(40,), (41,), (30,)]),
    "customers of a nation": ("select c_city, sum(lo_revenue) from lineorder, customer where lo_custkey = c_custkey "
                              "and c_nation = '{}' group by c_city order by 2 desc",
                              [("FRANCE",), ("CHINA",), ("PERU",)]),
    "brands": ("select p_brand1, sum(lo_revenue) from lineorder, part where lo_partkey = p_partkey and p_category = "
               "'{}' group by p_brand1 order by p_brand1", [("MFGR#12",), ("MFGR#25",), ("MFGR#41",)]),
    "share of a region": ("select sum(case when s_region = '{}' then lo_revenue else 0 end) * 1.0 / sum(lo_revenue) "
                          "from lineorder, supplier where lo_suppkey = s_suppkey", [("ASIA",), ("EUROPE",)]),
    "distinct customers": ("select count(distinct lo_custkey) from lineorder where lo_discount = {}", [(1,), (2,)]),
    "top orders": ("select lo_orderkey, lo_revenue from lineorder where lo_quantity = {} order by lo_revenue desc, "
                   "lo_orderkey limit 10", [(50,), (49,), (48,)]),
    "first rows": ("select lo_orderkey, lo_linenumber from lineorder where lo_discount = {} order by lo_orderkey, "
                   "lo_linenumber limit 20", [(7,), (8,)]),
    "by month": ("select d_yearmonthnum, sum(lo_revenue) from lineorder, date where lo_orderdate = d_datekey and "
                 "d_year = {} group by d_yearmonthnum order by 1", YEARS),
    "having": ("select s_city, sum(lo_revenue) r from lineorder, supplier where lo_suppkey = s_suppkey group by s_city "
               "having sum(lo_revenue) > {} order by 2 desc", [(1000000,), (2000000,)]),
    "in list": ("select count(*) from lineorder, date where lo_orderdate = d_datekey and d_yearmonthnum in ({}, {}, "
                "{})", [(199401, 199403, 199505), (199212, 199301, 199802)]),
    "like": ("select count(*), sum(lo_revenue) from lineorder, part where lo_partkey = p_partkey and p_brand1 like "
             "'{}%'", [("MFGR#1",), ("MFGR#22",)]),
    "or over dimensions": ("select sum(lo_revenue) from lineorder, customer, supplier where lo_custkey = c_custkey and "
                           "lo_suppkey = s_suppkey and (c_region = '{}' or s_region = '{}')",
                           [("ASIA", "EUROPE"), ("AFRICA", "AMERICA")]),
    "profit": ("select sum(lo_revenue - lo_supplycost) from lineorder where lo_quantity < {} and lo_tax = {}",
               [(20, 3), (30, 4)]),
    "buckets": ("select lo_quantity % {}, count(*) from lineorder group by 1 order by 1", [(10,), (5,)]),
    "date range": ("select sum(lo_revenue) from lineorder, date where lo_orderdate = d_datekey and d_datekey between "
                   "{} and {}", [(19940101, 19940131), (19960301, 19960630)]),
    "subquery": ("select count(*) from lineorder where lo_revenue > (select avg(lo_revenue) * {} from lineorder)",
                 [(2,), (3,)]),
    "semi-join": ("select sum(lo_revenue) from lineorder where lo_suppkey in (select s_suppkey from supplier where "
                  "s_nation = '{}')", [("CHINA",), ("KENYA",)]),
    "anti-join": ("select count(*) from customer where c_custkey not in (select lo_custkey from lineorder where "
                  "lo_quantity = {})", [(50,), (1,)]),
    "two facts of years": ("select a.d_year, a.r, b.n from (select d_year, sum(lo_revenue) r from lineorder, date "
                           "where lo_orderdate = d_datekey and lo_discount = {} group by d_year) a join (select d_year, "
                           "count(*) n from lineorder, date where lo_orderdate = d_datekey group by d_year) b on "
                           "a.d_year = b.d_year order by 1", [(1,), (2,)]),
    "running sum": ("select d_year, r, sum(r) over (order by d_year) from (select d_year, sum(lo_revenue) r from "
                    "lineorder, date where lo_orderdate = d_datekey and lo_quantity < {} group by d_year) x order by 1",
                    [(10,), (20,)]),
    "rank of cities": ("select * from (select c_city, sum(lo_revenue) r, rank() over (order by sum(lo_revenue) desc) k "
                       "from lineorder, customer where lo_custkey = c_custkey and c_region = '{}' group by c_city) x "
                       "where k <= 5 order by k", [("ASIA",), ("AMERICA",)]),
    "union": ("select 'c', count(*) from customer where c_region = '{}' union all select 's', count(*) from supplier "
              "where s_region = '{}' order by 1", [("ASIA", "ASIA"), ("EUROPE", "AFRICA")]),
    "with": ("with y as (select d_year, sum(lo_revenue) r from lineorder, date where lo_orderdate = d_datekey group by "
             "d_year) select count(*) from y where r > (select avg(r) from y) * {}", [("0.9",), ("1.0",)]),
    "cities of both": ("select c_city from customer where c_region = '{}' intersect select s_city from supplier order "
                       "by 1", [("ASIA",), ("EUROPE",)]),
    "quantiles": ("select median(lo_quantity) from lineorder where lo_discount = {}", [(3,), (9,)]),
}


def ssb_questions():
    """Each statement of the benchmark; its constants are changed where that leaves it the same question."""
    found = {}
    years = {"1992": "1993", "1993": "1994", "1994": "1995", "1997": "1996", "1998": "1997"}
    for name, text in bench_duckdb.statements().items():
        other = re.sub(r"\b(199[0-9])\b", lambda year: years.get(year.group(), year.group()), text)
        regions = {"ASIA": "EUROPE", "AMERICA": "ASIA", "EUROPE": "AFRICA"}
        other = re.sub("'(ASIA|AMERICA|EUROPE)'", lambda region: f"'{regions[region.group(1)]}'", other)
        found[name] = [text, other.replace("UNITED STATES", "CHINA").replace("UNITED KI", "JORDAN   "),
                       other.replace("MFGR#12", "MFGR#23").replace("MFGR#14", "MFGR#31")]
    return found


class Tessera:
    """The library by ctypes. Its calls are those of tessera.h."""

    class Error(ctypes.Structure):
        _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 1024)]

    class Options(ctypes.Structure):
        _fields_ = [("size", ctypes.c_size_t), ("device", ctypes.c_char_p), ("threads", ctypes.c_uint),
                    ("gpu_memory", ctypes.c_char_p), ("memory", ctypes.c_char_p), ("spill", ctypes.c_char_p),
                    ("plan_cache", ctypes.c_char_p), ("kernel", ctypes.c_char_p)]

    def __init__(self, options, device=None):
        self.library = ctypes.CDLL(str(pathlib.Path(options.build) / "libtessera.so"))
        self.library.tessera_text.restype = ctypes.c_void_p
        self.library.tessera_rows.restype = ctypes.c_uint64
        self.handle, self.error = ctypes.c_void_p(), self.Error()
        opened = self.Options(size=ctypes.sizeof(self.Options), device=(device or options.device).encode(),
                              threads=options.threads, kernel=options.kernel and options.kernel.encode(),
                              plan_cache=options.plan_cache and options.plan_cache.encode())
        self.check(self.library.tessera_open_with(options.db.encode(), ctypes.byref(opened), ctypes.byref(self.handle),
                                                  ctypes.byref(self.error)))

    def check(self, status):
        if status:
            raise RuntimeError(self.error.text.decode())

    def ask(self, sql):
        """Milliseconds from the text to the rows in memory, and the rows as texts, None for NULL (which are not timed)."""
        statement, result = ctypes.c_void_p(), ctypes.c_void_p()
        text, error = sql.encode(), ctypes.byref(self.error)
        begin = time.perf_counter()
        self.check(self.library.tessera_prepare(self.handle, text, ctypes.byref(statement), error))
        status = self.library.tessera_run(statement, ctypes.byref(result), error)
        self.library.tessera_finalize(statement)
        ms = (time.perf_counter() - begin) * 1e3
        self.check(status)
        rows = self.rows_of(result)
        self.library.tessera_result_free(result)
        return ms, rows

    def rows_of(self, result):
        length = ctypes.c_uint32()
        rows = []
        for row in range(self.library.tessera_rows(result)):
            cells = []
            for column in range(self.library.tessera_columns(result)):
                at = self.library.tessera_text(result, column, ctypes.c_uint64(row), ctypes.byref(length))
                cells.append(ctypes.string_at(at, length.value).decode() if at else None)
            rows.append(cells)
        return rows


def questions(only):
    found = ssb_questions()
    for name, (text, values) in QUESTIONS.items():
        found[name] = [text.format(*constants) for constants in values]
    return {name: texts for name, texts in found.items() if re.search(only, name)}


def measure(ask, asked, repeat):
    """first, other, repeated and the rows of each question."""
    found = {}
    for name, texts in asked.items():
        first, rows = ask(texts[0])
        other = statistics.median(ask(text)[0] for text in texts[1:])
        repeated = statistics.median(ask(texts[0])[0] for _ in range(repeat))
        found[name] = {"first": first, "other": other, "repeated": repeated, "rows": rows}
    return found


WARM = ["select min(lo_orderkey), min(lo_linenumber), min(lo_custkey), min(lo_partkey), min(lo_suppkey), "
        "min(lo_orderdate), max(lo_quantity), max(lo_extendedprice), max(lo_discount), max(lo_revenue), "
        "max(lo_supplycost), max(lo_tax) from lineorder",
        "select count(distinct c_city), count(distinct c_nation), count(distinct c_region) from lineorder, customer "
        "where lo_custkey = c_custkey",
        "select count(distinct s_city), count(distinct s_nation), count(distinct s_region) from lineorder, supplier "
        "where lo_suppkey = s_suppkey",
        "select count(distinct p_mfgr), count(distinct p_category), count(distinct p_brand1) from lineorder, part "
        "where lo_partkey = p_partkey",
        "select count(distinct d_year), count(distinct d_yearmonthnum), count(distinct d_yearmonth), count(distinct "
        "d_weeknuminyear) from lineorder, date where lo_orderdate = d_datekey"]


def measure_tessera(options, asked, repeat):
    tessera = Tessera(options)
    for text in WARM:
        tessera.ask(text)
    return measure(tessera.ask, asked, repeat)


def in_another_process(options, repeat):
    """The same, by a process that begins anew."""
    run = subprocess.run([sys.executable, __file__, "--child", str(repeat), "--db", options.db, "--build", options.build,
                          "--device", options.device, "--threads", str(options.threads), "--only", options.only] +
                         (["--kernel", options.kernel] if options.kernel else []) +
                         (["--plan-cache", options.plan_cache] if options.plan_cache else []),
                         check=True, stdout=subprocess.PIPE)
    return json.loads(run.stdout)


def measure_duckdb(options, asked):
    connection = bench_duckdb.duckdb.connect(options.duckdb, read_only=True, config={"threads": options.threads or os.cpu_count()})

    def ask(sql):
        begin = time.perf_counter()
        rows = connection.execute(sql).fetchall()
        ms = (time.perf_counter() - begin) * 1e3
        return ms, [[answers.of_duckdb(cell) for cell in row] for row in rows]
    return measure(ask, asked, options.repeat)


def duckdb_per_second(connection, users, seconds):
    """Statements a second that so many threads have answers to; each begins with another one."""
    texts = [texts[0] for texts in questions(r"^q\d\.\d$").values()]
    counts = [0] * users
    until = time.perf_counter() + seconds

    def user(number):
        cursor = connection.cursor()
        while time.perf_counter() < until:
            cursor.execute(texts[(number + counts[number]) % len(texts)]).fetchall()
            counts[number] += 1
    begin = time.perf_counter()
    threads = [threading.Thread(target=user, args=(number,)) for number in range(users)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - begin)


def throughput(options):
    users = options.users.split(",")
    run = subprocess.run([str(pathlib.Path(options.build) / "bench_users"), options.db, options.device,
                          str(options.seconds), str(options.threads), *users], check=True, stdout=subprocess.PIPE, text=True)
    peer = bench_duckdb.duckdb.connect(options.duckdb, read_only=True) if options.duckdb else None
    print("| threads | statements a second |" + (" DuckDB |" if peer else "") + "\n|---|---|" + ("---|" if peer else ""))
    for line in run.stdout.splitlines():
        users, ours = line.split()
        theirs = f" {duckdb_per_second(peer, int(users), options.seconds):.1f} |" if peer else ""
        print(f"| {users} | {ours} |{theirs}", flush=True)
    return 0


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def process_ms(options):
    """Wall time of a whole process, the median of five after one."""
    times = []
    for _ in range(6):
        begin = time.perf_counter()
        subprocess.run([str(pathlib.Path(options.build) / "tessera"), "sql", "--db", options.db, "--device", options.device,
                        "--format", "csv", questions("q1.1")["q1.1"][0]], check=True, stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times[1:])


def drop_pages(folder):
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file():
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def opening(options):
    def open_ms():
        begin = time.perf_counter()
        opened = Tessera(options, "cpu")
        ms = (time.perf_counter() - begin) * 1e3
        opened.library.tessera_close(opened.handle)
        return ms

    open_ms()  # loads the library
    cold = []
    for _ in range(5):
        drop_pages(options.db)
        cold.append(open_ms())
    warm = [open_ms() for _ in range(options.repeat)]
    print(f"opening: {statistics.median(cold):.3f} ms from the disk, {statistics.median(warm):.3f} ms from memory")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--db", required=True)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=50)
    parser.add_argument("--duckdb")
    parser.add_argument("--users", help="how many threads ask at once: 1,4,16,64")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--opening", action="store_true", help="how long tessera_open takes")
    parser.add_argument("--only", default=".")
    parser.add_argument("--kernel", choices=["auto", "general", "specialised"], help="of a GPU")
    parser.add_argument("--plan-cache", help="as of tessera sql")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.users:
        return throughput(options)
    if options.opening:
        return opening(options)
    asked = questions(options.only)
    if options.child is not None:
        json.dump(measure_tessera(options, asked, options.child), sys.stdout)
        return 0
    with tempfile.TemporaryDirectory() as kernels:
        os.environ.update(TESSERA_KERNEL_CACHE=kernels, CUDA_CACHE_DISABLE="1")
        found = in_another_process(options, options.repeat)
        for name, again in in_another_process(options, 1).items():
            found[name]["disk"] = again["first"]
        process = process_ms(options)
    theirs = measure_duckdb(options, asked) if options.duckdb else {}
    return report(options, found, theirs, process)


def report(options, found, theirs, process):
    wrong = [name for name in theirs if not answers.same(found[name]["rows"], theirs[name]["rows"], False)]
    columns = ["first", "disk", "other", "repeated"]
    lines = [[name] + [found[name][column] for column in columns] +
             [theirs[name][column] for column in ("first", "other", "repeated") if theirs] for name in found]
    ssb = [line for line in lines if re.fullmatch(r"q\d\.\d", line[0])]
    for title, part in (("the 13, geometric mean", ssb), ("the others", [line for line in lines if line not in ssb])):
        if part:
            lines.append([title] + [mean(values) for values in list(zip(*part))[1:]])
    if options.format == "json":
        json.dump({"lines": lines, "process_ms": process, "wrong": wrong}, sys.stdout)
    else:
        print("| question | " + " | ".join(columns) + (" | DuckDB first | other | repeated |" if theirs else " |"))
        print("|---" * (len(lines[0])) + "|")
        for line in lines:
            print(f"| {line[0]} | " + " | ".join(f"{value:.3f}" for value in line[1:]) + " |")
        print(f"\na process that asks Q1.1: {process:.1f} ms")
        for name in wrong:
            print(f"{name}: the answers differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
