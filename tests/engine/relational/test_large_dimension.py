#!/usr/bin/env python3
"""test_large_dimension.py TESSERA: a table that has many rows, and many more than those which reference it, is joined; a
smaller one is a dimension of their scan. The answers are the same, and right."""
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


with tempfile.TemporaryDirectory() as temporary:
    check(pathlib.Path(temporary) / "small", 5000, False)
    check(pathlib.Path(temporary) / "large", (1 << 18) + 5, True)
