#!/usr/bin/env python3
"""test_large_dimension.py TESSERA: a table that has many rows, and many more than those which reference it, is joined; a
smaller one is a dimension of their scan. An answer with many rows that has few different keys is a condition on what it is
joined with. The answers are the same, and right."""
import pathlib
import subprocess
import sys
import tempfile

TESSERA = sys.argv[1]
RETURNS = 1000
SCHEMA = """CREATE TABLE shops (shop_id INTEGER PRIMARY KEY, city VARCHAR(9));
CREATE TABLE sales (id INTEGER PRIMARY KEY, shop INTEGER REFERENCES shops (shop_id), paid INTEGER);
CREATE TABLE returns (sale INTEGER REFERENCES sales (id), back INTEGER);"""
FROM = {"inner": "returns, sales, shops where sale = id and shop = shop_id and paid > 10",
        "left": "returns left join sales on sale = id left join shops on shop = shop_id"}


def ask(folder, sql):
    return subprocess.run([TESSERA, "sql", "--device", "cpu", "--db", folder / "db", "--format", "csv", sql], check=True,
                          capture_output=True, text=True).stdout


def check(folder, sales, joined):
    """Asks over so many sales; every seventh has no shop, every fifth return no sale."""
    folder.mkdir()
    shop = ["" if i % 7 == 0 else i % 3 for i in range(sales)]
    sale = ["" if i % 5 == 0 else i * 7919 % sales for i in range(RETURNS)]
    (folder / "schema.sql").write_text(SCHEMA)
    (folder / "shops.csv").write_text("".join(f"{i},city {i}\n" for i in range(3)))
    (folder / "sales.csv").write_text("".join(f"{i},{shop[i]},{i % 100}\n" for i in range(sales)))
    (folder / "returns.csv").write_text("".join(f"{sale[i]},{i}\n" for i in range(RETURNS)))
    subprocess.run([TESSERA, "load", "--db", folder / "db", "--schema", folder / "schema.sql", "--header", "no",
                    *(f"{table}={folder / table}.csv" for table in ("shops", "sales", "returns"))], check=True,
                   capture_output=True)
    for kind, source in FROM.items():
        sums = {}
        for row, of in enumerate(sale):
            city = f"city {shop[of]}" if of != "" and shop[of] != "" else ""
            if kind == "left" or (city and of % 100 > 10):
                count, total = sums.get(city, (0, 0))
                sums[city] = (count + 1, total + row)
        sql = f"select city, count(*), sum(back) from {source} group by city order by city nulls first"
        expected = "".join(f"{city},{count},{total}\n" for city, (count, total) in sorted(sums.items()))
        answer = ask(folder, sql).partition("\n")[2]
        assert answer == expected, f"{sales} sales, {kind}: {answer} instead of {expected}"
        plan = ask(folder, "explain " + sql)
        assert plan.splitlines()[1].startswith('"device:') != joined, f"{sales} sales, {kind}:\n{plan}"


def check_few_keys(folder, bills, apart):
    """Each bill has eight lines, and the bills' numbers are so far apart that they make no array."""
    folder.mkdir()
    (folder / "schema.sql").write_text("CREATE TABLE lines (bill INTEGER, line INTEGER);")
    (folder / "lines.csv").write_text("".join(f"{bill * apart},{line}\n" for bill in range(bills) for line in range(8)))
    subprocess.run([TESSERA, "load", "--db", folder / "db", "--schema", folder / "schema.sql", "--header", "no",
                    f"lines={folder / 'lines.csv'}"], check=True, capture_output=True)
    sql = ("select count(*), sum(l.bill) from lines l join (select bill k, max(line) m from lines group by bill) t "
           "on l.bill = k where line = m")
    answer, expected = ask(folder, sql).partition("\n")[2], f"{bills},{apart * bills * (bills - 1) // 2}\n"
    assert answer == expected, f"{answer} instead of {expected}"
    plan = ask(folder, "explain analyze " + sql)
    assert "line between 7 and 7" in plan, plan


def check_few_rows(folder, bills):
    """Of many bills a few are asked whether they have a late line: lines of these alone are answered, and joined. When all
    are asked, the late lines make a list."""
    folder.mkdir()
    late = [bill % 3 == 0 or bill % 50 == 7 for bill in range(bills)]
    (folder / "schema.sql").write_text("CREATE TABLE bills (bill INTEGER PRIMARY KEY, day INTEGER);"
                                       "CREATE TABLE lines (of INTEGER REFERENCES bills (bill), late INTEGER);")
    (folder / "bills.csv").write_text("".join(f"{bill},{bill % 1000}\n" for bill in range(bills)))
    (folder / "lines.csv").write_text("".join(f"{bill},{int(late[bill] and line == 1)}\n" for bill in range(bills)
                                              for line in range(2)))
    subprocess.run([TESSERA, "load", "--db", folder / "db", "--schema", folder / "schema.sql", "--header", "no",
                    f"bills={folder / 'bills.csv'}", f"lines={folder / 'lines.csv'}"], check=True, capture_output=True)
    for days, joined in (3, True), (0, True), (1000, False):
        for negated in False, True:
            sql = (f"select count(*), sum(day) from bills where day < {days} and {'not ' if negated else ''}exists "
                   "(select * from lines where of = bill and late > 0)")
            found = [bill % 1000 for bill in range(bills) if bill % 1000 < days and late[bill] != negated]
            answer, expected = ask(folder, sql).partition("\n")[2], f"{len(found)},{sum(found) if found else ''}\n"
            assert answer == expected, f"{sql}: {answer} instead of {expected}"
            plan = ask(folder, "explain analyze " + sql)
            operator = "anti join by" if negated else "semi join by"
            assert (operator in plan) == joined, plan
    groups = {}
    for bill in range(bills):
        day = bill % 1000
        if 100 <= day < 900 and (day % 7 == 3 or bill > 800000) and day != 500:
            groups[day // 100] = groups.get(day // 100, 0) + 2
    sql = ("select day / 100, count(*) from lines, bills where of = bill and day between 100 and 899 and "
           "(day % 7 = 3 or bill > 800000) and day <> 500 group by day / 100 order by 1")
    assert ask(folder, sql).partition("\n")[2] == "".join(f"{group},{count}\n" for group, count in sorted(groups.items()))


def check_two_columns(folder, roads):
    """Two columns of a dimension are compared with the key of another one: the scan asks that they are equal."""
    folder.mkdir()
    ends = [(i % 61 + i % 3, i % 61) for i in range(roads)]
    walked = [i * 7 % 60 for i in range(5 * roads)]
    (folder / "schema.sql").write_text("CREATE TABLE towns (town INTEGER); CREATE TABLE walks (walked INTEGER);"
                                       "CREATE TABLE roads (road INTEGER, a INTEGER, b INTEGER);")
    (folder / "towns.csv").write_text("".join(f"{i}\n" for i in range(30)))
    (folder / "roads.csv").write_text("".join(f"{i},{a},{b}\n" for i, (a, b) in enumerate(ends)))
    (folder / "walks.csv").write_text("".join(f"{i}\n" for i in walked))
    subprocess.run([TESSERA, "load", "--db", folder / "db", "--schema", folder / "schema.sql", "--header", "no",
                    *(f"{table}={folder / table}.csv" for table in ("towns", "roads", "walks"))], check=True,
                   capture_output=True)
    sql = "select count(*) from towns join roads on town = a join walks on road = walked and town = b"
    expected = sum(ends[road][0] == ends[road][1] < 30 for road in walked)
    answer = ask(folder, sql).partition("\n")[2]
    assert answer == f"{expected}\n", f"{answer} instead of {expected}"


with tempfile.TemporaryDirectory() as temporary:
    check(pathlib.Path(temporary) / "small", 5000, False)
    check(pathlib.Path(temporary) / "large", (1 << 18) + 5, True)
    check_few_keys(pathlib.Path(temporary) / "few", (1 << 18) + 5, 101)
    check_few_rows(pathlib.Path(temporary) / "rows", 900000)
    check_two_columns(pathlib.Path(temporary) / "columns", 1000)
