"""What tests of columnar files beside other libraries share: rows of many shapes, and loading a file and comparing each
of its rows with those that were written. A Columns is a dict of names and SQL types."""
import csv
import datetime
import decimal
import importlib
import io
import os
import random
import subprocess
import sys

D = decimal.Decimal
UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1)



def imported(name, *parts, needed=False):
    """The module, with parts of it; where it is not installed None, or the test ends as skipped."""
    try:
        for part in ("", *parts):
            importlib.import_module(name + part)
        return sys.modules[name]
    except ImportError:
        print("[  NOT RUN ] %s is not installed (pip install %s)" % (name, name))
        if needed:
            sys.exit(77)


# The columns that every format has.
COLUMNS = dict(flag="BOOLEAN", tiny="INT", small="INT", number="INT", big="BIGINT", day="DATE", moment="TIMESTAMP",
               price="DECIMAL(18,3)", word="TEXT", line="TEXT")


class Shapes:
    """Values as functions of the row."""

    def __init__(self, rng):
        self.rng = rng

    def integer(self, bits, low=None):
        """Integers of some width, with sign unless `low` is 0."""
        rng = self.rng
        high = 2**bits - 1 if low == 0 else 2**(bits - 1) - 1
        low = -2**(bits - 1) if low is None else low
        step, base, run = rng.randint(-100, 100), rng.randint(low // 2, high // 2), rng.randint(1, 700)
        narrow = 2**rng.randint(0, bits - 2)
        clip = lambda v: max(low, min(high, v))
        return rng.choice([
            lambda r: rng.randint(low, high),
            lambda r: clip(base + r * step),
            lambda r: clip(base + r // run),
            lambda r: clip(base // 2 + rng.randint(0, narrow)),
            lambda r: clip(rng.randint(0, 200) + (high // 3 if rng.random() < 0.03 else 0)),
            lambda r: base if r % run else low,
            lambda r: clip(r * r * (1 if step > 0 else -1)),
            lambda r: rng.choice([low, high, 0 if low == 0 else -1, 1]),
        ])

    def null(self):
        rng = self.rng
        run, share = rng.randint(1, 50), rng.random()
        return rng.choice([lambda r: False, lambda r: False, lambda r: True, lambda r: rng.random() < share,
                           lambda r: r // run % 2 == 0, lambda r: r % run == 0])

    def values(self):
        rng = self.rng
        words = ["w%d" % i if i % 5 else "ü" * (i % 7) for i in range(rng.choice([1, 2, 30, 5000]))]
        date, moment, price = self.integer(20), self.integer(46), self.integer(rng.choice([16, 40, 59]))
        fraction = rng.choice([1, 1000, 1000000])
        return {
            "flag": lambda r: rng.random() < 0.5, "tiny": self.integer(8), "small": self.integer(16),
            "number": self.integer(32), "big": self.integer(64),
            "day": lambda r: datetime.date(1970, 1, 1) + datetime.timedelta(days=date(r)),
            # one second before 1970 is where ORC's files are ambiguous
            "moment": lambda r: EPOCH + datetime.timedelta(microseconds=max(2000000, abs(moment(r)) // fraction * fraction)
                                                           * (1 if r % 3 else -1)),
            "price": lambda r: D(price(r)).scaleb(-3),
            "word": lambda r: rng.choice(words), "line": lambda r: "%d:%s" % (r, "z" * rng.randint(0, 30)),
        }

    def rows(self, count, more=None):
        values = dict(self.values(), **(more(self) if more else {}))
        nulls = {n: self.null() for n in values}
        return [{n: None if nulls[n](r) else values[n](r) for n in values} for r in range(count)]


def shown(name, value):
    """As tessera sql writes CSV."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        text = "%04d-%02d-%02d %02d:%02d:%02d" % value.timetuple()[:6]
        return text + (".%06d" % value.microsecond if value.microsecond else "")
    if name == "price":
        return format(value.quantize(D("0.001")), "f")
    return str(value)


class Peers:
    def __init__(self, tessera, seed, columns):
        self.tessera, self.seed, self.columns, self.files = tessera, seed, columns, 0
        self.rng = random.Random(seed)

    def load(self, path, folder, threads):
        database, schema = os.path.join(folder, "db"), os.path.join(folder, "t.sql")
        with open(schema, "w") as file:
            file.write("CREATE TABLE t (%s)" % ", ".join("%s %s" % c for c in self.columns.items()))
        loaded = subprocess.run([self.tessera, "load", "--force", "--db", database, "--schema", schema, "--threads",
                                 str(threads), "t=" + path], capture_output=True, text=True)
        if loaded.returncode:
            sys.exit("seed %d, %s: %s" % (self.seed, path, loaded.stderr))
        answer = subprocess.run([self.tessera, "sql", "--db", database, "--device", "cpu", "--format", "csv",
                                 "select * from t"], capture_output=True, text=True, check=True).stdout
        return list(csv.reader(io.StringIO(answer)))[1:]

    def compare(self, what, path, folder, rows):
        names = list(self.columns)
        expected = [[shown(n, row[n]) for n in names] for row in rows]
        found = self.load(path, folder, self.rng.choice([1, 2, 5]))
        self.files += 1
        if found == expected:
            return
        for r, (x, y) in enumerate(zip(found, expected)):
            for n, a, b in zip(names, x, y):
                if a != b and not (self.columns[n] == "DOUBLE" and a and b and float(a) == float(b)):
                    sys.exit("seed %d, %s, row %d, column %s: %r instead of %r" % (self.seed, what, r + 1, n, a, b))
        if len(found) != len(expected):
            sys.exit("seed %d, %s: %d rows instead of %d" % (self.seed, what, len(found), len(expected)))
