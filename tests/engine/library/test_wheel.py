#!/usr/bin/env python3
"""Makes the wheel of what was built, installs it into an empty folder without a network, and uses it from there as a
program does: PEP 249, loading, Arrow, pandas, the ADBC driver, statements that are stopped.

    python3 tests/engine/library/test_wheel.py build/release

Without pip the package is tried in the source. What needs pyarrow, pandas or adbc-driver-manager is left out without them.
"""

import contextlib
import datetime
import decimal
import gc
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest
import unittest.mock

sys.dont_write_bytecode = True
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
BUILD = os.path.abspath(sys.argv.pop(1))
FOLDER = tempfile.mkdtemp(prefix="test_wheel.")


def install():
    """The folder to import from."""
    if importlib.util.find_spec("pip") is None:
        print("[  NOT RUN ] pip is not installed, so no wheel is made")
        os.environ["TESSERA_LIBRARY"] = os.path.join(BUILD, "libtessera.so")
        os.environ["TESSERA_ADBC_DRIVER"] = os.path.join(BUILD, "libtessera_adbc.so")
        sys.path.insert(0, os.path.join(ROOT, "engine", "adbc", "python"))
        return os.path.join(ROOT, "engine", "library", "python")
    wheels, target = os.path.join(FOLDER, "wheels"), os.path.join(FOLDER, "target")
    environment = dict(os.environ, TESSERA_BUILD=BUILD, PYTHONDONTWRITEBYTECODE="1", PIP_NO_INDEX="1", PIP_NO_CACHE_DIR="1",
                       PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_ROOT_USER_ACTION="ignore")
    for arguments in (["wheel", "--no-deps", "-w", wheels, ROOT],
                      ["install", "--no-deps", "--target", target, "--find-links", wheels, "tessera"]):
        made = subprocess.run([sys.executable, "-m", "pip", *arguments], env=environment, cwd=FOLDER, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if made.returncode:
            sys.exit(f"pip {arguments[0]}: {made.stdout}")
    return target


sys.path.insert(0, install())
import tessera  # noqa: E402


def has(name):
    if importlib.util.find_spec(name):
        return True
    print(f"[  NOT RUN ] {name} is not installed (pip install {name})")
    return False


PYARROW, PANDAS, MANAGER = has("pyarrow"), has("pandas"), has("adbc_driver_manager")
DAY, MOMENT = datetime.date(2024, 2, 29), datetime.datetime(1969, 12, 31, 23, 59, 59, 5)
SCRIPT = """CREATE TABLE things (id INT NOT NULL, name TEXT, day DATE, seen TIMESTAMP, paid DECIMAL(12,2), online BOOLEAN,
                                 weight DOUBLE);"""
THINGS = [(1, "Łódź", DAY, MOMENT, decimal.Decimal("1.25"), True, 0.1),
          (2, None, None, None, None, None, None),
          (3, "", datetime.date(1960, 1, 1), datetime.datetime(2024, 1, 1), decimal.Decimal("-3.50"), False, -1e300)]
NUMBERS = "CREATE TABLE numbers (n BIGINT NOT NULL, half BIGINT, word TEXT);"
STARS = "select count(*) from numbers a join numbers b on a.n < b.n join numbers c on b.n < c.n where a.n + b.n + c.n > 7"


def write(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def load_numbers(path, rows):
    lines = [f"{n},{'' if n % 2 else n // 2},w{n % 7}" for n in range(rows)]
    return tessera.load(path, NUMBERS, {"numbers": write("numbers.csv", "n,half,word\n" + "\n".join(lines) + "\n")}, mode="replace")


class Python(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = os.path.join(FOLDER, "things.db")
        rows = "\n".join(",".join("" if v is None else '""' if v == "" else str(v) for v in row) for row in THINGS)
        loaded = tessera.load(cls.path, SCRIPT, {"things": write("things.csv", f"id,name,day,seen,paid,online,weight\n{rows}\n")})
        assert loaded == len(THINGS), loaded

    def setUp(self):
        self.connection = tessera.connect(self.path, device="cpu", threads=2)

    def tearDown(self):
        self.connection.close()

    def ask(self, sql, *parameters):
        return self.connection.execute(sql, parameters).fetchall()

    def test_module(self):
        self.assertEqual((tessera.apilevel, tessera.threadsafety, tessera.paramstyle), ("2.0", 2, "qmark"))
        self.assertTrue(issubclass(tessera.ProgrammingError, tessera.DatabaseError) and issubclass(tessera.DataError, tessera.Error))
        self.assertEqual(tessera.Date(2024, 2, 29), DAY)
        self.assertIsInstance(tessera.TimestampFromTicks(0), datetime.datetime)

    def test_values_of_every_type(self):
        self.assertEqual(self.ask("select * from things order by id"), THINGS)
        self.assertEqual([type(v) for v in self.ask("select paid, online, seen, day from things where id = 1")[0]],
                         [decimal.Decimal, bool, datetime.datetime, datetime.date])
        # Strings that are made row by row, and so have no codes.
        self.assertEqual(self.ask("select name || '-' || cast(id as text) from things order by id"),
                         [("Łódź-1",), (None,), ("-3",)])

    def test_description(self):
        cursor = self.connection.cursor()
        self.assertIsNone(cursor.description)
        self.assertEqual(cursor.rowcount, -1)
        cursor.execute("select id, name as title, day, paid, weight, online from things")
        self.assertEqual([(c[0], c[1]) for c in cursor.description],
                         [("id", "INTEGER"), ("title", "TEXT"), ("day", "DATE"), ("paid", "DECIMAL"), ("weight", "DOUBLE"),
                          ("online", "BOOLEAN")])
        self.assertEqual(cursor.description[3][4:6], (19, 2))
        self.assertEqual([len(c) for c in cursor.description], [7] * 6)
        self.assertTrue(cursor.description[0][1] == tessera.NUMBER and cursor.description[1][1] == tessera.STRING)
        self.assertTrue(cursor.description[2][1] == tessera.DATETIME and cursor.description[2][1] != tessera.NUMBER)
        self.assertEqual(cursor.rowcount, 3)

    def test_parameters(self):
        for column, of in (("id", 0), ("name", 1), ("day", 2), ("seen", 3), ("paid", 4), ("weight", 6)):
            for row in THINGS[::2]:
                self.assertEqual(self.ask(f"select id from things where {column} = ?", row[of]), [(row[0],)], (column, row[of]))
        self.assertEqual(self.ask("select count(*) from things where id = ? or id = ?", 1, 3), [(2,)])
        self.assertEqual(self.ask("select count(*) from things where name = ?", None), [(0,)])
        self.assertEqual(self.ask("select count(*) from things where id = ?", True), [(1,)])
        self.assertEqual(self.ask("select count(*) from things where paid < ?", decimal.Decimal("1E+10")), [(2,)])
        self.assertEqual(self.ask("select count(*) from things where paid = ?", decimal.Decimal("1.2500000000000000000000")), [(1,)])
        aware = MOMENT.replace(tzinfo=datetime.timezone.utc).astimezone(datetime.timezone(datetime.timedelta(hours=2)))
        self.assertEqual(self.ask("select id from things where seen = ?", aware), [(1,)])
        for wrong in (2**63, decimal.Decimal("0.1234567890123456789"), decimal.Decimal(10)**30):
            with self.assertRaises(tessera.DataError):
                self.ask("select id from things where paid = ?", wrong)
        for wrong, said in (((), "1 parameters, and 0 values"), ((1, 2), "and 2 values"), ("x", "a sequence"),
                            ({"a": 1}, "a sequence"), ((object(),), "of type object")):
            with self.assertRaisesRegex(tessera.ProgrammingError, said):
                self.connection.execute("select id from things where id = ?", wrong)

    def test_times_with_time_zone_are_aware(self):
        moment = datetime.datetime(2024, 1, 1, 8, tzinfo=datetime.timezone.utc)
        self.assertEqual(self.ask("select timestamptz '2024-01-01 10:00+02', NULL::timestamptz"), [(moment, None)])
        self.assertEqual(self.ask("select timestamptz '2024-01-01 08:00+00' = ?", moment), [(True,)])
        with tessera.connect(self.path, device="cpu", time_zone="UTC") as connection:
            self.assertEqual(connection.execute("select cast(? as timestamptz)", (moment,)).fetchall(), [(moment,)])
            connection.execute("SET TimeZone = 'UTC'")
            with self.assertRaisesRegex(tessera.ProgrammingError, "'Nowhere' is not in this system's database"):
                connection.execute("SET TimeZone = 'Nowhere'")
        with self.assertRaisesRegex(tessera.ProgrammingError, "'Nowhere' is not"):
            tessera.connect(self.path, device="cpu", time_zone="Nowhere")

    def test_errors_have_the_sentence(self):
        with self.assertRaisesRegex(tessera.ProgrammingError, "nothings") as caught:
            self.ask("select * from nothings")
        self.assertEqual(caught.exception.status, 2)
        with self.assertRaises(tessera.ProgrammingError):
            self.ask("select 'a\0b'")
        with self.assertRaisesRegex(tessera.OperationalError, "nowhere"):
            tessera.connect(os.path.join(FOLDER, "nowhere", "x.db"), device="cpu")
        with self.assertRaises(tessera.OperationalError):
            tessera.connect(self.path, device="cpu", memory="much")
        with self.assertRaisesRegex(tessera.ProgrammingError, "64 bits"):
            self.ask("select 9223372036854775807 + id from things")
        self.assertEqual(self.ask("select count(*) from things"), [(3,)])

    def test_fetching(self):
        path = os.path.join(FOLDER, "numbers.db")
        for rows in (1, 31, 1023, 1025, 10000):
            self.assertEqual(load_numbers(path, rows), rows)
            wanted = [(n, None if n % 2 else n // 2, f"w{n % 7}") for n in range(rows)]
            with tessera.connect(path, device="cpu", threads=2) as connection, connection.cursor() as cursor:
                sql = "select n, half, word from numbers order by n"
                self.assertEqual(cursor.execute(sql).fetchall(), wanted)
                self.assertEqual(cursor.fetchall(), [])
                self.assertEqual(list(cursor.execute(sql)), wanted)
                cursor.execute(sql)
                self.assertEqual(cursor.fetchone(), wanted[0])
                self.assertEqual(cursor.fetchmany(5000), wanted[1:5001])
                self.assertEqual(cursor.fetchall(), wanted[5001:])
                self.assertIsNone(cursor.fetchone())
                cursor.execute(sql)
                self.assertEqual(cursor.fetchmany(), wanted[:1])
                self.assertEqual(cursor.execute("select n from numbers where n < 0").fetchall(), [])
                self.assertIsNone(cursor.fetchone())
                self.assertEqual(cursor.executemany("select n from numbers where n = ?", [(5,), (0,)]).fetchall(), [(0,)])

    def test_closing(self):
        cursor = self.connection.execute("select id from things")
        other = self.connection.cursor()
        with self.assertRaisesRegex(tessera.ProgrammingError, "no statement"):
            other.fetchone()
        other.close()
        with self.assertRaisesRegex(tessera.ProgrammingError, "cursor is closed"):
            other.execute("select 1")
        self.connection.close()
        self.connection.close()
        for use in (cursor.fetchone, cursor.fetchall, self.connection.cursor, lambda: cursor.execute("select 1")):
            with self.assertRaisesRegex(tessera.ProgrammingError, "closed"):
                use()
        with tessera.connect(self.path, device="cpu") as connection:
            cursor = connection.execute("select id from things")
        with self.assertRaisesRegex(tessera.ProgrammingError, "closed"):
            cursor.fetchone()
        # Collected in any order, with answers that were not read.
        connection = tessera.connect(self.path, device="cpu")
        connection.circle = [connection, connection.execute("select id from things")]
        del connection, cursor
        gc.collect()

    def test_threads_share_a_connection(self):
        failed = []

        def work(number):
            for _ in range(20):
                if self.ask("select count(*) from things where id >= ?", number) != [(3 - number + 1,)]:
                    failed.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])

    @contextlib.contextmanager
    def when_it_runs(self, cursor, action, again=False):
        """Another thread acts when the cursor's statement runs, and again until it ends: a stop that is too early is lost."""
        ended = threading.Event()

        def act():
            while not cursor._statement:
                time.sleep(0.01)
            ended.wait(0.2)
            action()
            while again and not ended.wait(0.05):
                action()

        thread = threading.Thread(target=act)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def test_a_statement_is_stopped(self):
        path = os.path.join(FOLDER, "long.db")
        load_numbers(path, 20000)
        with tessera.connect(path, device="cpu", threads=2) as connection:
            cursor = connection.cursor()
            with self.assertRaises(tessera.OperationalError) as caught, self.when_it_runs(cursor, cursor.cancel, again=True):
                cursor.execute(STARS)
            self.assertEqual(caught.exception.status, 130)
            interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)  # noqa: E731
            with self.assertRaises(KeyboardInterrupt), self.when_it_runs(cursor, interrupt):
                cursor.execute(STARS)
            self.assertEqual(cursor.execute("select count(*) from numbers").fetchall(), [(20000,)])
            # Closed by another thread: the statement ends, and the database after it.
            other = tessera.connect(path, device="cpu", threads=2)
            running = other.cursor()
            stop = lambda: (other.close(), running.cancel())  # noqa: E731
            with self.assertRaises(tessera.OperationalError), self.when_it_runs(running, stop, again=True):
                running.execute(STARS)

    @unittest.skipUnless(PYARROW, "pyarrow is not installed")
    def test_a_load_is_stopped(self):
        import pyarrow
        schema, sent = pyarrow.schema([("w", pyarrow.string())]), []

        def batches():
            for _ in range(10000):
                sent.append(1)
                if len(sent) == 3:
                    os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
                yield pyarrow.record_batch([["a"]], schema=schema)

        path = os.path.join(FOLDER, "stopped.db")
        with self.assertRaises(KeyboardInterrupt):
            tessera.load(path, "CREATE TABLE words (w TEXT);", {"words": pyarrow.RecordBatchReader.from_batches(schema, batches())})
        self.assertLess(len(sent), 10000)
        self.assertEqual(tessera.load(path, "CREATE TABLE words (w TEXT);", {"words": write("one.csv", "w\na\n")}), 1)

    def test_loading(self):
        path, file = os.path.join(FOLDER, "modes.db"), write("words.csv", "w\na\nb\n")
        script = "CREATE TABLE words (w TEXT);"
        self.assertEqual(tessera.load(path, script, {"words": file}), 2)
        with tessera.connect(path, device="cpu") as before:
            with self.assertRaisesRegex(tessera.DataError, "words"):
                tessera.load(path, script, {"words": file})
            self.assertEqual(tessera.load(path, script, {"words": file}, mode="append"), 2)
            self.assertEqual(before.execute("select count(*) from words").fetchone(), (2,))
        with tessera.connect(path, device="cpu") as after:
            self.assertEqual(after.execute("select count(*) from words").fetchone(), (4,))
        with self.assertRaisesRegex(tessera.ProgrammingError, "append"):
            tessera.load(path, script, {"words": file}, mode="add")
        with self.assertRaisesRegex(tessera.DataError, "missing.csv"):
            tessera.load(path, script, {"words": os.path.join(FOLDER, "missing.csv")}, mode="replace")

        again = write("again.csv", "w\nc\n")
        self.assertEqual(tessera.load(path, script, {"words": [file, os.path.join(FOLDER, "agai*.csv")]}, mode="replace"), 3)
        self.assertEqual(tessera.load(path, None, {"words": (again,)}, mode="append"), 1)
        with self.assertRaisesRegex(tessera.DataError, "needs a schema"):
            tessera.load(path, None, {"words": again})

    def test_create_table_makes_a_database(self):
        path = os.path.join(FOLDER, "made.db")
        with tessera.connect(path, device="cpu") as connection:
            with self.assertRaisesRegex(tessera.ProgrammingError, "made.db yet; CREATE TABLE"):
                connection.execute("select 1")
            self.assertEqual(connection.execute("create table t as select 7 as n").rowcount, 1)
            self.assertEqual(connection.execute("from t").fetchall(), [(7,)])
        with self.assertRaisesRegex(tessera.OperationalError, "nowhere"):
            tessera.connect("/nowhere/made.db", device="cpu")

    def test_a_change_that_the_disk_did_not_confirm_is_made(self):
        faults = os.path.join(BUILD, "libtessera_faults.so")
        if not os.path.exists(faults):
            print("[  NOT RUN ] libtessera_faults.so is not built")
            return
        program = textwrap.dedent("""\
            import sys, tessera
            with tessera.connect(sys.argv[1], device="cpu") as connection:
                status = 0
                try:
                    connection.execute("insert into words values ('x')")
                except tessera.OperationalError as error:
                    status = error.status
                try:
                    connection.rollback()
                except tessera.NotSupportedError:
                    status += 10
                print(status)""")
        path, said = os.path.join(FOLDER, "synced.db"), []
        tessera.load(path, "CREATE TABLE words (w TEXT);", {"words": write("one.csv", "w\na\n")})
        sync = {"LD_PRELOAD": faults, "FAULTS_PROGRAM": os.path.realpath(sys.executable), "FAULTS_KINDS": "sync",
                "FAULTS_ERROR": "EIO", "FAULTS_FOREVER": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
        while "10" not in said and len(said) < 30:  # the call that fails, until none does
            sync.update(FAULTS_NUMBER=str(len(said) + 1), FAULTS_STATE=write("faults", "\0" * 4096))
            said.append(subprocess.run([sys.executable, "-c", program, path], text=True, stdout=subprocess.PIPE,
                                       env=dict(os.environ, **sync)).stdout.strip())
        self.assertEqual(sorted(set(said)), ["10", "14", "3"], said)  # not made, not confirmed, made

    def test_statements_that_write(self):
        path, file = os.path.join(FOLDER, "written.db"), os.path.join(FOLDER, "written.csv")
        tessera.load(path, "CREATE TABLE words (w TEXT, n INTEGER);", {"words": write("one.csv", "w,n\na,1\n")})
        with tessera.connect(path, device="cpu") as connection:
            connection.rollback()  # of nothing
            cursor = connection.execute("insert into words values (?, ?), (?, 3)", ("b", 2, "c"))
            self.assertEqual((cursor.rowcount, cursor.fetchall()), (2, [(2,)]))
            with self.assertRaisesRegex(tessera.NotSupportedError, "rolled back"):
                connection.rollback()
            self.assertEqual(cursor.executemany("insert into words values (?, ?)", [("d", 4), ("e", 5)]).rowcount, 2)
            connection.commit()
            connection.rollback()
            self.assertEqual(connection.execute("select sum(n) from words").fetchone(), (15,))
            self.assertEqual(connection.execute("create table long as select w from words where n > 2").rowcount, 3)
            self.assertEqual(connection.execute("delete from words where n > 2").rowcount, 3)
            with self.assertRaises(tessera.ProgrammingError):
                connection.execute("insert into words values ('x')")
            self.assertEqual(connection.execute(f"copy (select * from words order by n) to '{file}'").rowcount, 2)
        with open(file, encoding="utf-8") as rows:
            self.assertEqual(rows.read(), "w,n\na,1\nb,2\n")

    @unittest.skipUnless(PYARROW, "pyarrow is not installed")
    def test_arrow(self):
        import pyarrow
        table = self.connection.execute("select * from things order by id").arrow()
        self.assertEqual([tuple(row.values()) for row in table.to_pylist()], THINGS)
        cursor = self.connection.execute("select id from things where id > ?", (1,))
        self.assertEqual(cursor.fetch_arrow_table().num_rows, 2)
        for use in (cursor.arrow, cursor.fetchall):
            with self.assertRaisesRegex(tessera.ProgrammingError, "taken"):
                use()
        cursor.execute("select id from things")
        cursor.fetchone()
        with self.assertRaisesRegex(tessera.ProgrammingError, "fetched"):
            cursor.arrow()
        cursor.execute("select id from things where id < 0")
        self.assertEqual(cursor.arrow().schema, pyarrow.schema([("id", pyarrow.int64())]))
        # A stream that is not read, one that outlives the database, and a table that is loaded from one.
        self.connection.execute("select id from things").__arrow_c_stream__()
        reader = self.connection.execute("select id from things order by id").fetch_record_batch()
        self.connection.close()
        self.assertEqual(reader.read_all().column(0).to_pylist(), [1, 2, 3])
        path = os.path.join(FOLDER, "arrow.db")
        self.assertEqual(tessera.load(path, SCRIPT, {"things": table}), 3)
        with tessera.connect(path, device="cpu") as copy:
            self.assertEqual(copy.execute("select * from things order by id").fetchall(), THINGS)
            answer = copy.execute("select * from things where id > 1")
            self.assertEqual(tessera.load(path, SCRIPT, {"things": answer}, mode="append"), 2)
        with self.assertRaisesRegex(tessera.ProgrammingError, "some are Arrow"):
            tessera.load(path, SCRIPT, {"things": table, "others": "x.csv"})

    @unittest.skipUnless(PANDAS, "pandas is not installed")
    def test_pandas(self):
        import warnings

        import pandas
        frame = self.connection.execute("select id, name, weight from things order by id").df()
        self.assertEqual(frame["id"].tolist(), [1, 2, 3])
        self.assertEqual(frame["weight"].tolist()[::2], [0.1, -1e300])
        with unittest.mock.patch.dict(sys.modules, pyarrow=None):  # as if it were not installed
            plain = self.connection.execute("select id, name, weight from things order by id").df()
        self.assertEqual(plain.values.tolist()[0], [1, "Łódź", 0.1])
        self.assertEqual(list(plain.columns), list(frame.columns))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it recommends SQLAlchemy
            frame = pandas.read_sql("select name, paid from things where id = ?", self.connection, params=(1,))
        self.assertEqual(frame.to_dict("records"), [{"name": "Łódź", "paid": decimal.Decimal("1.25")}])

    @unittest.skipUnless(PYARROW and MANAGER, "adbc-driver-manager or pyarrow is not installed")
    def test_adbc(self):
        from adbc_driver_tessera import dbapi
        with dbapi.connect(f"tessera://{self.path}?device=cpu") as connection, connection.cursor() as cursor:
            cursor.execute("select count(*) from things where id > ?", (1,))
            self.assertEqual(cursor.fetchall(), [(2,)])


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell may have told to be ignored
    try:
        unittest.main()
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)
