"""What tests of files that COPY writes share: rows of every type in a table, and comparing what another library reads with
them."""
import math
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "loader", "columnar"))
from columnar_peers import Shapes, imported, shown  # noqa: E402, F401

# With a column that a query computes: its strings are no codes.
SQL = dict(k="BIGINT", flag="BOOLEAN", big="BIGINT", day="DATE", moment="TIMESTAMP", price="DECIMAL(18,3)", word="TEXT",
           line="TEXT", ratio="DOUBLE")
QUERY = "select *, line || '/' || cast(k % 3 as text) as computed from t order by k"


class Written:
    """A folder with a database, from which COPY writes files."""

    def __init__(self, tessera, folder, seed):
        self.tessera, self.folder, self.seed, self.rng = tessera, folder, seed, random.Random(seed)

    def fail(self, what, *more):
        sys.exit("seed %d, %s: %s" % (self.seed, what, " ".join(map(str, more))))

    def run(self, *arguments):
        done = subprocess.run([self.tessera, *arguments], capture_output=True, text=True)
        if done.returncode:
            self.fail(arguments, done.stderr)

    def copy(self, query, path, options, threads=1):
        self.run("sql", "--device", "cpu", "--threads", str(threads), "--db", os.path.join(self.folder, "db"),
                 "copy (%s) to '%s' (%s)" % (query, path, options))

    def load(self, count):
        """Fills the table t; gives the rows that QUERY gives."""
        rng, folder = self.rng, self.folder
        real = Shapes(rng).integer(50)
        rows = Shapes(rng).rows(count, lambda _: {"ratio": lambda r: rng.choice([real(r) / 64, -0.0, math.inf, -1e300])})
        for k, row in enumerate(rows):
            row["k"] = k
        with open(os.path.join(folder, "t.sql"), "w") as file:
            file.write("CREATE TABLE t (%s)" % ", ".join("%s %s" % c for c in SQL.items()))
        with open(os.path.join(folder, "t.csv"), "w", newline="") as file:
            for row in rows:  # NULL is empty, and an empty string is in quotes
                file.write(",".join("" if row[n] is None else '"%s"' % row[n] if n in ("word", "line")
                                    else shown(n, row[n]) for n in SQL) + "\n")
        self.run("load", "--force", "--db", os.path.join(folder, "db"), "--schema", os.path.join(folder, "t.sql"),
                 "t=" + os.path.join(folder, "t.csv"))
        return [dict([(n, row[n]) for n in SQL],
                     computed=None if row["line"] is None else "%s/%d" % (row["line"], row["k"] % 3)) for row in rows]

    def check_values(self, what, found, rows):
        if len(found) != len(rows):
            self.fail(what, len(found), "rows instead of", len(rows))
        for x, y in zip(found, rows):
            if x != y:
                self.fail(what, x, "instead of", y)
