#!/usr/bin/env python3
"""docs/format/reader.py, which was written from docs/format.md and docs/codecs.md alone, reads what the program writes:
all values of every codec, type and kind of table, every index, and the kept databases of older versions; and says so if
a file is damaged.

    test_second_reader.py TESSERA [ROWS [SEED [SecondReader.TEST...]]]

ROWS are those of the larger tables, 2,600 by default; 20,000 take a minute. Ends with 77 (skipped) without numpy."""
import atexit
import collections
import contextlib
import csv
import io
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("[  NOT RUN ] numpy is not installed (pip install numpy)")
    sys.exit(77)

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "docs", "format"))
import reader  # noqa: E402

if __name__ != "__main__" or len(sys.argv) < 2:
    sys.exit(__doc__)
PROGRAM = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 2600
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 20261129
FOLDER = tempfile.mkdtemp()
atexit.register(shutil.rmtree, FOLDER)


def tessera(*arguments):
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    if done.returncode:
        raise AssertionError("%s\n%s" % (" ".join(arguments)[:300], done.stderr))
    return done.stdout


def asked(database, statement, *options):
    return tessera("sql", "--db", database, "--device", "cpu", "--format", "csv", *options, statement)


def read(database, table, *columns, codec=None):
    out = io.StringIO()
    with reader.Database(database) as opened:
        reader.print_rows(opened.table(table), columns, codec, None, out)
    return out.getvalue()


def opened(database, table):
    with reader.Database(database) as its:
        return its.table(table)


def write_csv(name, columns):
    """A file of these columns, {name: values}, and its path; None is NULL."""
    path = os.path.join(FOLDER, name + ".csv")
    with open(path, "w", newline="") as file:
        file.write(reader.csv_line(columns))
        file.writelines(reader.csv_line(None if value is None else str(value) for value in row)
                        for row in zip(*columns.values()))
    return path


def load(database, schema, *options, **tables):
    """Makes or replaces a database; its path."""
    path, script = os.path.join(FOLDER, database), os.path.join(FOLDER, database + ".sql")
    shutil.rmtree(path, ignore_errors=True)
    with open(script, "w") as file:
        file.write(schema)
    tessera("load", "--db", path, "--schema", script, *options,
            *("%s=%s" % (name, write_csv(name, columns)) for name, columns in tables.items()))
    return path


def shapes(rng, rows, bits):
    """Columns of integers of 32 or 64 bits that codecs store in different ways."""
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    wide = bits - 12
    far = rng.integers(0, 2**wide, 5)
    outliers = np.where(rng.random(rows) < 0.05, rng.integers(0, 2**wide, rows), rng.integers(0, 16, rows))
    lengths = rng.geometric(0.004, rows)
    jumps = rng.integers(-(2 ** (bits - 14)), 2 ** (bits - 14), rows)
    step = np.where(rng.random(rows) < 0.02, jumps, rng.integers(0, 9, rows))
    some_long = np.where(rng.random(rows) < 0.01, 300, rng.integers(1, 7, rows))
    columns = {
        "same": np.full(rows, -7),
        "one": np.arange(rows) + 5,
        "down": 10**6 - 3 * np.arange(rows),
        "bits1": rng.integers(0, 2, rows),
        "bits4": rng.integers(0, 16, rows),
        "bits13": rng.integers(-4096, 4096, rows),
        "wide": rng.integers(0, 2**wide, rows),
        "whole": rng.integers(low, high, rows, endpoint=True),
        "ends": np.where(np.arange(rows) % 2, low, high),
        "above": outliers,
        "around": np.where(rng.random(rows) < 0.5, outliers, -outliers),
        "short": np.repeat(rng.integers(0, 9, rows), rng.geometric(0.3, rows))[:rows],
        "long": np.repeat(rng.integers(-9, 9, rows), lengths)[:rows],
        "few": far[rng.integers(0, 5, rows)],
        "long_few": far[np.repeat(rng.integers(0, 5, rows), lengths)[:rows]],
        "sizes": rng.integers(0, 2 ** rng.integers(1, 28, rows)),
        "long_sizes": np.repeat(rng.integers(0, 2 ** rng.integers(1, 28, rows)), lengths)[:rows],
        "runs_few": far[np.repeat(rng.integers(0, 5, rows), some_long)[:rows]],
        "orders": np.repeat(10**6 + 9 * np.arange(rows), rng.integers(1, 9, rows))[:rows],
        "near": rng.integers(0, 2**wide, rows)[np.arange(rows) // 3 + rng.integers(0, 4, rows)],
        "saw": np.arange(rows) % 700 * 3 + 2 ** (bits - 4),
        "sorted": np.sort(rng.integers(0, 2**wide, rows)),
        "series": np.cumsum(step) % 2 ** (bits - 2),
        "zeros": np.where(rng.random(rows) < 0.01, rng.integers(0, 300, rows), 0),
    }
    columns["mixed"] = np.concatenate([values[i * 512 % rows :][:512] for i, values in enumerate(columns.values())] * (
        rows // 2000))[:rows]
    return {name: values.astype(np.int64).tolist() for name, values in columns.items()}


def doubles(rng, rows):
    """Prices, measurements, all sorts, and tiles of each."""
    prices = rng.integers(1, 100000, rows) / 100
    anything = rng.standard_normal(rows) * 10.0 ** rng.integers(-300, 300, rows)
    some = np.where(rng.random(rows) < 0.03, anything, prices)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e308, -2.5])[rng.integers(0, 8, rows)]
    mixed = np.where(np.arange(rows) // 1024 % 2, prices, anything)
    return {name: [repr(value) for value in column.tolist()] for name, column in
            (("prices", prices), ("anything", anything), ("some", some), ("special", special), ("mixed", mixed))}


def with_nulls(rng, values, share=0.2):
    return [None if null else value for value, null in zip(values, rng.random(len(values)) < share)]


class SecondReader(unittest.TestCase):
    maxDiff = 500

    @classmethod
    def setUpClass(cls):
        cls.rng = np.random.default_rng(SEED)
        cls.codecs = [line.split(",")[0] for line in tessera("codecs", "--format", "csv").splitlines()[1:]]

    def compare(self, database, table, statement=None):
        """All values of a table as the reader and as the program see them, in the same order."""
        self.assertEqual(read(database, table), asked(database, statement or "select * from %s" % table))

    def test_it_knows_every_codec_and_version(self):
        self.assertEqual(sorted(self.codecs), sorted(name for name, _ in reader.CODECS.values()))
        with open(os.path.join(ROOT, "storage", "database", "catalogue.h")) as file:
            self.assertRegex(file.read(), r"#define CATALOGUE_VERSION +%d\n" % reader.Database.VERSION)

    def codecs_of(self, name, columns, codecs):
        """Loads columns, {type: {name: values}}, appends a third of their rows backwards, and compares all codecs."""
        values = {column: rows for its in columns.values() for column, rows in its.items()}
        database = load(name, "CREATE TABLE f (%s);" % ", ".join(
            "%s %s" % (column, kind) for kind, its in columns.items() for column in its), "--codec", "plain", f=values)
        tessera("load", "--db", database, "--append", "f=" + write_csv(
            "f", {column: rows[: len(rows) // 3][::-1] for column, rows in values.items()}))
        self.compare(database, "f")
        for codec in codecs:
            asked(database, "select * from f limit 1", "--codec", codec)
        table = opened(database, "f")
        for codec in codecs:
            for column in map(table.column, values):
                with self.subTest(codec=codec, column=column["name"]):
                    for its, right in zip(table.stored(column, codec), table.stored(column)):
                        self.assertTrue(np.array_equal(its, right), "other values")

    def test_codecs(self):
        """Tiles of all kinds in every codec."""
        rng = self.rng
        ints, bigs, reals = shapes(rng, ROWS, 32), shapes(rng, ROWS, 64), doubles(rng, ROWS)
        if ROWS < 10000:
            ints, bigs = ({"mixed": self.mixed(its, 512)} for its in (ints, bigs))
            reals = {name: (reals[name] * 10)[: len(ints["mixed"])] for name in ("special", "mixed")}
        ints = {name + "32": values for name, values in ints.items()}
        bigs = {name + "64": values for name, values in bigs.items()}
        ints["null32"], bigs["null64"] = with_nulls(rng, ints["mixed32"]), with_nulls(rng, bigs["mixed64"], 0.5)
        ints["null32"][:1500] = [None] * 1500
        self.codecs_of("codecs", {"INT": ints, "BIGINT": bigs, "DOUBLE": reals},
                       [name for name in self.codecs if name not in ("lane-levels", "plain")])

    @staticmethod
    def mixed(columns, rows):
        """Some rows of each column after one another."""
        return [value for i, values in enumerate(columns.values()) for value in values[i * rows % 2000 :][:rows]]

    def test_chunks(self):
        """Chunks of each kind in the codecs that decide something for a chunk."""
        decoder, plans = reader.CODECS[23], collections.Counter()

        def planner(chunk):
            plans[struct.unpack_from("<I", chunk.directory)[0]] += 1
            return decoder[1](chunk)

        self.addCleanup(reader.CODECS.__setitem__, 23, decoder)
        reader.CODECS[23] = "planner", planner
        self.codecs_of("chunks", {kind: {name + str(bits): values for name, values in shapes(self.rng, ROWS, bits).items()}
                                  for kind, bits in (("INT", 32), ("BIGINT", 64))}, ("planner", "nsf"))
        # All layers, values and lengths of whole bytes and of lengths of their own, also after a dictionary.
        layers = [plan & 15 for plan in plans]
        for layer in (1, 2, 4, 8, 3, 5, 14):  # 14: sums of differences are codes, modulo 2^32
            self.assertTrue(any(its & layer == layer for its in layers), "no plan has the layers %d: %s" % (layer, plans))
        self.assertEqual({plan >> 8 & 255 for plan in plans}, {0, 1, 2, 4, 8})
        self.assertTrue(any(plan & 1 and not plan >> 16 for plan in plans), plans)
        self.assertTrue(any(plan & 3 == 3 and not plan >> 16 for plan in plans), plans)

    def test_blocks_of_byte_streams(self):
        rows = max(ROWS, 34000)
        columns = {"a": np.sort(self.rng.integers(0, 10**6, rows)).tolist(), "b": self.rng.integers(-99, 99, rows).tolist()}
        database = load("blocks", "CREATE TABLE f (a BIGINT, b INT);", f=columns)
        right = asked(database, "select * from f")
        for name in ("deflate", "orc-rle1", "orc-rle2"):
            asked(database, "select * from f limit 1", "--codec", name)
            self.assertTrue(read(database, "f", codec=name) == right, "%s: other values" % name)

    def test_types(self):
        rng, rows = self.rng, min(ROWS, 3000)
        words = ["", " ", "a", "ä", "a,b", 'say "so"', "two\nlines", "NULL", "日本", "z" * 300]
        columns = {
            "i": rng.integers(-(2**31), 2**31, rows), "b": rng.integers(-(2**63), 2**63 - 1, rows),
            "few": [words[i] for i in rng.integers(0, len(words), rows)],
            "many": ["%s number %d" % (words[i % 3], n) for i, n in enumerate(rng.integers(0, 10**9, rows))],
            "m": ["%.2f" % (n / 100) for n in rng.integers(-(10**9) + 1, 10**9, rows)],
            "mm": [reader.decimal_text(n, 4) for n in rng.integers(-(10**18) + 1, 10**18, rows).tolist()],
            "whole": rng.integers(-(10**12), 10**12, rows),
            "day": np.datetime_as_string(rng.integers(-719162, 2932896, rows).astype("datetime64[D]")),
            "at": [text.replace("T", " ") for text in np.datetime_as_string(
                (rng.integers(-62135596800, 253402300799, rows) * 10**6
                 + np.where(rng.random(rows) < 0.5, 0, rng.integers(0, 10**6, rows))).astype("datetime64[us]"))],
            "yes": rng.choice(["true", "false"], rows), "x": doubles(rng, rows)["some"],
        }
        columns["zone"] = [text + "Z" for text in columns["at"][::-1]]
        names = list(columns)
        for name in names:
            columns[name + "_or_null"] = with_nulls(rng, columns[name])
        columns["nothing"] = [None] * rows
        types = dict(i="INT", b="BIGINT", few="TEXT", many="VARCHAR(400)", m="DECIMAL(9,2)", mm="DECIMAL(18,4)",
                     whole="DECIMAL(13,0)", day="DATE", at="TIMESTAMP", yes="BOOLEAN", x="DOUBLE", zone="TIMESTAMPTZ")
        schema = ", ".join("%s %s" % (name, types.get(name, types.get(name.replace("_or_null", ""), "TEXT"))
                                      + (" NOT NULL" if name in types else "")) for name in columns)
        database = load("types", "CREATE TABLE t (%s);" % schema, t=columns)
        self.compare(database, "t")
        found = read(database, "t", "mm_or_null", "nothing").splitlines()
        self.assertEqual(found[1:], ["%s," % (text or "") for text in columns["mm_or_null"]])
        tessera("load", "--db", database, "--append", "t=" + write_csv("t", {
            name: ["new " + str(n) for n in range(50)] if "many" in name or name == "nothing" else values[:50]
            for name, values in columns.items()}))
        self.compare(database, "t")
        self.assertIn("dictionary_blocks", opened(database, "t").column("many"))

    def star(self, name, rows, *options):
        """Sales of shops with levels, of days with a string as key, of parts with two columns as key; staff of staff."""
        rng = self.rng
        shops = {"id": rng.permutation(400), "region": ["r%d" % (i % 4) for i in range(400)],
                 "town": [None if i % 40 == 7 else "t%d" % (i % 40) for i in range(400)]}
        days = {"d": ["day %03d" % i for i in range(90)], "month": [i // 30 for i in range(90)]}
        parts = {"a": [i // 10 for i in range(100)], "b": [i % 10 for i in range(100)],
                 "p": ["part %d" % i for i in range(100)]}
        staff = {"id": range(60), "boss": [None if i < 3 else (i * 7 + 1) % i for i in range(60)]}
        sales = {"shop": with_nulls(rng, rng.integers(0, 400, rows).tolist(), 0.02),
                 "day": ["day %03d" % i for i in rng.integers(0, 90, rows)],
                 "a": rng.integers(0, 10, rows), "b": with_nulls(rng, rng.integers(0, 10, rows).tolist(), 0.05),
                 "n": rng.integers(1, 50, rows), "seller": rng.integers(0, 60, rows)}
        schema = """CREATE TABLE shops (id INT PRIMARY KEY, region TEXT, town TEXT);
            CREATE TABLE days (d TEXT PRIMARY KEY, month INT);
            CREATE TABLE parts (a INT, b INT, p TEXT, PRIMARY KEY (a, b));
            CREATE TABLE staff (id INT PRIMARY KEY, boss INT REFERENCES staff(id));
            CREATE TABLE sales (shop INT REFERENCES shops, day TEXT REFERENCES days, a INT, b INT, n INT NOT NULL,
                seller INT REFERENCES staff, FOREIGN KEY (a, b) REFERENCES parts(a, b));"""
        return load(name, schema, *options, shops=shops, days=days, parts=parts, staff=staff, sales=sales), sales

    def hidden_key(self, database):
        """The rows of parts that sales reference by two columns: the values there are those here."""
        sales, parts = opened(database, "sales"), opened(database, "parts")
        key = next(column for column in sales.fields["columns"] if column.get("of") == [2, 3])
        (positions, valid), rows = sales.stored(key), sales.live_rows()
        rows = rows[valid[rows]]
        for of, other in zip(key["of"], key["key"]):
            here, there = sales.fields["columns"][of], parts.fields["columns"][other]
            self.assertEqual(sales.texts(here, sales.stored(here)[0][rows]),
                             parts.texts(there, parts.stored(there)[0][parts.row_of_position(positions[rows])]))
        return len(rows)

    def test_star_that_changes(self):
        database, sales = self.star("star", ROWS, "--cluster-by", "shop,n", "--index", "n")
        tables = ("shops", "days", "parts", "staff", "sales")
        for step in range(4):
            if step == 1:
                further = {name: list(values)[:700] for name, values in sales.items()}
                further["shop"][:3], further["day"][:3] = [1000, 1001, None], ["a day", "day 100", "day 000"]
                tessera("load", "--db", database, "--append", "sales=" + write_csv("sales", further),
                        "shops=" + write_csv("shops", {"id": [1000, 1001], "region": ["r1", "new"], "town": ["t9", None]}),
                        "days=" + write_csv("days", {"d": ["a day", "day 100"], "month": [3, 3]}))
            elif step == 2:
                tessera("delete", "--db", database, "sales", "n between 10 and 19 or shop is null")
                tessera("delete", "--db", database, "shops", "not exists (select * from sales where shop = id)")
                tessera("delete", "--db", database, "days",
                        "d = 'day 100' and not exists (select * from sales where day = d)")
            elif step == 3:
                tessera("compact", "--db", database)
            for table in tables:
                self.compare(database, table)
            self.assertGreater(self.hidden_key(database), 1000)
            if step == 2:
                right = asked(database, "select shop from sales")
                for name in self.codecs:  # also those of keys: positions with gaps
                    asked(database, "select shop from sales limit 1", "--codec", "shop=" + name)
                    self.assertTrue(read(database, "sales", "shop", codec=name) == right, name)
            self.compare_index(database, "sales", "n")
        self.assertIn("levels", opened(database, "shops").fields)

    def compare_index(self, database, name, column):
        """Each vector has the rows whose stored values are in its bin."""
        table = opened(database, name)
        fields = table.column(column)
        values, valid = table.stored(fields)
        bounds = fields["index"]["bounds"]
        right = [np.flatnonzero(valid & (values >= least) & (values < end)) for least, end in
                 zip(bounds, bounds[1:] + [2**63 - 1])] + [np.flatnonzero(~valid)] * (fields["statistics"]["nulls"] > 0)
        vectors = reader.index_vectors(table, fields)
        self.assertEqual([rows.tolist() for _, rows in vectors], [rows.tolist() for rows in right])
        if fields["index"].get("exact"):
            lines = csv.reader(io.StringIO(asked(database, "select \"%s\", count(*) from %s group by 1" % (column, name))))
            live = set(table.live_rows().tolist())
            counts = [(label or "", sum(row in live for row in rows.tolist())) for label, rows in vectors]
            self.assertEqual(sorted(pair for pair in counts if pair[1]), sorted((a, int(b)) for a, b in list(lines)[1:]))
        return vectors

    def test_planes_apart(self):
        rows = max(ROWS, 60000)
        towns = {"id": range(3000), "region": [i // 750 for i in range(3000)], "town": [i // 25 for i in range(3000)]}
        sales = {"place": self.rng.integers(0, 3000, rows), "n": self.rng.integers(0, 9, rows)}
        database = load("apart", "CREATE TABLE towns (id INT PRIMARY KEY, region INT, town INT);"
                        "CREATE TABLE sales (place INT NOT NULL REFERENCES towns, n INT);", "--cluster-by", "place:2",
                        "--levels", "towns=region,town", "--codec", "place=lane-levels", towns=towns, sales=sales)
        column = opened(database, "sales").column("place")
        with open(os.path.join(database, "tables", "sales", "place.lane-levels.%d" % column["generation"]), "rb") as file:
            self.assertGreater(struct.unpack_from("<Q", file.read(), 4096 + 24)[0], 8)  # bytes of the chunk's directory
        self.compare(database, "sales")

    def test_indexes(self):
        rng, rows = self.rng, max(ROWS, 63 * 1024 + 500)  # two pieces
        values = {"even": rng.integers(0, 40, rows), "runs": np.sort(rng.integers(0, 3, rows)),
                  "rare": np.arange(rows) // 500, "text": ["v%d" % i for i in rng.integers(0, 5, rows)],
                  "null": with_nulls(rng, ["1.50"] * rows, 0.5), "big": rng.integers(-(2**60), 2**60, rows)}
        schema = "CREATE TABLE f (even INT, runs INT, rare INT, text TEXT, \"null\" DECIMAL(5,2), big BIGINT);"
        database = load("indexes", schema, f=values)
        tessera("load", "--db", database, "--append", "f=" + write_csv("f", {n: list(v)[-900:] for n, v in values.items()}))
        pieces = set()
        for column, bins, form in (("even", "auto", "wah64"), ("runs", "values", "wah64"), ("rare", "values", "wah32"),
                                   ("text", "auto", "flat"), ("null", "auto", "wah32"), ("big", "20", "wah64"),
                                   ("even", "7:width", "wah32"), ("runs", "auto", "flat")):
            with self.subTest(column=column, bins=bins, format=form):
                tessera("index", "create", "--db", database, "f." + column, "--bins", bins, "--format", form)
                self.compare_index(database, "f", column)
                path = os.path.join(database, "tables", "f")
                for name in os.listdir(path):
                    if ".index." in name:
                        with open(os.path.join(path, name), "rb") as file:
                            data = file.read()
                        at = struct.unpack_from("<Q", data, 48)[0]
                        pieces |= {form for entry in struct.iter_unpack("<QQQIIII", data[at:-32])
                                   if entry[3] == reader.PIECES}
                tessera("index", "drop", "--db", database, "f." + column)
        self.assertEqual(pieces, {"wah64", "wah32"})

    def test_ssb(self):
        database = os.path.join(FOLDER, "ssb")
        tessera("ssb", "load", "--sf", "0.01" if ROWS > 10000 else "0.001", "--db", database, "--cluster-by", "auto",
                "--index", "lo_discount,lo_orderdate")
        for table in ("lineorder", "customer", "supplier", "part", "date"):
            self.compare(database, table)
        for column in ("lo_discount", "lo_orderdate"):
            self.compare_index(database, "lineorder", column)

    def test_no_rows(self):
        database = load("empty", "CREATE TABLE f (a INT, b TEXT, c DOUBLE);", f={"a": [], "b": [], "c": []})
        self.assertEqual(read(database, "f"), "a,b,c\n")
        tessera("load", "--db", database, "--append", "f=" + write_csv("f", {"a": [1], "b": ["x"], "c": [None]}))
        self.compare(database, "f")

    def test_names_of_files(self):
        database = os.path.join(FOLDER, "names")
        asked(database, "create table \"a.b/c %\" as select 1 as \"ä.x\", 2 as \"$-#_\"")
        self.assertEqual(read(database, "a.b/c %"), "ä.x,$-#_\n1,2\n")

    def test_old_databases(self):
        subprocess.run(["tar", "-xJf", os.path.join(ROOT, "tests", "data", "databases", "versions.tar.xz"), "-C", FOLDER],
                       check=True)
        kept, versions = {}, set()
        for name in ("sales", "shops", "lineorder"):
            with open(os.path.join(FOLDER, name + ".csv"), newline="") as file:
                head, *rows = csv.reader(file)
                kept[name] = [dict(zip(head, row)) for row in rows]
        for name in sorted(name for name in os.listdir(FOLDER) if name[0] == "v" and name[1].isdigit()):
            database = os.path.join(FOLDER, name)
            with open(os.path.join(database, "catalogue")) as file:
                versions.add(int(file.readline().split()[2]))
            for table in ("lineorder",) if name == "v5" else ("sales", "shops"):
                with self.subTest(database=name, table=table):
                    self.compare(database, table)
                    head, *rows = csv.reader(io.StringIO(read(database, table)))
                    right = sorted([row[column] + ("+00" if name == "v11" and column == "at" else "") for column in head]
                                   for row in kept[table])
                    self.assertEqual(sorted(rows), right)
            with reader.Database(database) as its:
                indexed = [(table.name, name) for table in its.tables.values() for name, column in table.columns.items()
                           if "index" in column]
            for table, column in indexed:
                self.compare_index(database, table, column)
        self.assertEqual(versions, set(range(1, reader.Database.VERSION + 1)))

    def run_reader(self, *arguments):
        """Exit code, output and errors of the reader's program."""
        out, err = io.StringIO(), io.StringIO()
        out.reconfigure = lambda **_: None
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            argv, sys.argv = sys.argv, ["reader.py", *arguments]
            try:
                code = reader.main()
            finally:
                sys.argv = argv
        return code, out.getvalue(), err.getvalue()

    def test_damage(self):
        database, _ = self.star("damage", 1500, "--index", "n")
        statements = [(database, table) for table in ("sales", "shops", "days", "parts", "staff")]
        statements.append((database, "sales", "--index", "n"))
        right = [self.run_reader(*statement) for statement in statements]
        self.assertEqual({code for code, _, _ in right}, {0})
        choose, files = random.Random(SEED), []
        for folder, _, names in os.walk(database):
            files += [os.path.join(folder, name) for name in names if not name.startswith("tessera.")]
        refused = 0
        for path in sorted(files):
            with open(path, "rb") as file:
                data = file.read()
            for kind in ("flip", "cut", "gone"):
                place = choose.randrange(len(data))
                with open(path, "wb") as file:
                    file.write(data[:place] + (bytes([data[place] ^ 1 << choose.randrange(8)]) + data[place + 1 :]
                                               if kind == "flip" else b""))
                if kind == "gone":
                    os.remove(path)
                table = os.path.basename(os.path.dirname(path))
                for statement, before in zip(statements, right):
                    if statement[1] == table or table == "damage":
                        code, out, error = self.run_reader(*statement)
                        self.assertIn(code, (0, 2))
                        if code == 0:
                            self.assertEqual(out, before[1])
                        else:
                            refused += 1
                            self.assertRegex(error, r"^reader\.py: .*%s.*\n$" % os.path.basename(database))
            with open(path, "wb") as file:
                file.write(data)
        self.assertGreater(refused, 2 * len(files))

    def test_mistakes(self):
        database = load("mistakes", "CREATE TABLE f (a INT);", f={"a": [1, 2]})
        for arguments, sentence in (((FOLDER, "f"), "is not a database"), ((database, "g"), "has no table g"),
                                    ((database, "f", "b"), "no column b"),
                                    ((database, "f", "--codec", "rle"), "stored in rle"),
                                    ((database, "f", "a", "--codec", "rle"), "is not stored in rle"),
                                    ((database, "f", "--index", "a"), "has no index")):
            code, _, error = self.run_reader(*arguments)
            self.assertEqual(code, 2)
            self.assertIn(sentence, error)
        with open(os.path.join(database, "catalogue"), "r+b") as file:
            text = file.read()
            file.seek(0)
            file.write(text.replace(b"catalogue 1 ", b"catalogue 99 "))
        self.assertIn("has version 99; this reader knows 1 to 11", self.run_reader(database, "f")[2])

    def test_as_a_program(self):
        database = load("program", "CREATE TABLE f (a INT, b TEXT);", f={"a": [3, 1, 2], "b": ["x", None, ""]})
        script = os.path.join(ROOT, "docs", "format", "reader.py")

        def run(*arguments):
            return subprocess.run([sys.executable, script, database, *arguments], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)

        self.assertEqual(run("f", "b", "a", "--rows", "2").stdout, b"b,a\nx,3\n,1\n")
        self.assertIn(b"f: 3 rows\n  a ", run().stdout)
        self.assertEqual(run("g").returncode, 2)
        self.assertEqual(run("g").stderr.count(b"\n"), 1)


print("seed %d, %d rows" % (SEED, ROWS))
unittest.main(argv=sys.argv[:1] + sys.argv[4:])
