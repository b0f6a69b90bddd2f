#!/usr/bin/env python3
"""Uses the ADBC driver as Python's programs do: by adbc-driver-manager's DB-API, pandas and Polars, where installed.

    python3 tests/engine/adbc/test_adbc_peers.py build/release/libtessera_adbc.so

TESSERA_ADBC_PYTHON names an interpreter that has the packages. Ends with 77 (skipped) without adbc-driver-manager and
pyarrow; pandas and Polars are each skipped where they are missing.
"""

import datetime
import decimal
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "engine", "adbc", "python"))

if __name__ == "__main__":
    other = os.environ.pop("TESSERA_ADBC_PYTHON", None)
    if other:
        os.execv(other, [other, *sys.argv])
    os.environ["TESSERA_ADBC_DRIVER"] = os.path.abspath(sys.argv.pop(1))

try:
    import adbc_driver_manager
    import pyarrow
    from adbc_driver_tessera import dbapi
except ImportError as missing:
    print("[  NOT RUN ]", missing, "(pip install adbc-driver-manager pyarrow)")
    sys.exit(77)

try:
    import pandas
except ImportError:
    print("[  NOT RUN ] pandas is not installed (pip install pandas)")
    pandas = None
try:
    import polars
except ImportError:
    print("[  NOT RUN ] Polars is not installed (pip install polars)")
    polars = None

DAY = datetime.date(2024, 2, 29)
MOMENT = datetime.datetime(1969, 12, 31, 23, 59, 59, 5)
SCRIPT = """CREATE TABLE shops (name TEXT PRIMARY KEY, city TEXT);
            CREATE TABLE sales (shop TEXT NOT NULL REFERENCES shops(name), day DATE, seen TIMESTAMP, paid DECIMAL(12,2),
                                online BOOLEAN, pieces INT, weight DOUBLE);"""


def shops():
    return pyarrow.table({"name": ["north", "south"], "city": ["Łódź", None]})


def sales():
    return pyarrow.table({"shop": ["north", "south", "north"], "day": [DAY, None, datetime.date(1960, 1, 1)],
                          "seen": pyarrow.array([MOMENT, MOMENT, None], pyarrow.timestamp("us")),
                          "paid": pyarrow.array([decimal.Decimal("1.25"), decimal.Decimal("-3.50"), None], pyarrow.decimal128(12, 2)),
                          "online": [True, False, None], "pieces": pyarrow.array([1, 2, 3], pyarrow.int32()), "weight": [0.1, None, -1e300]})


def make(cursor):
    cursor.adbc_statement.set_options(**{"tessera.ingest.schema": SCRIPT})
    cursor.adbc_ingest("shops", shops())
    cursor.adbc_ingest("sales", sales())


class Driver(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.uri = "tessera://" + os.path.join(self.folder.name, "shop.db") + "?device=cpu&threads=2"
        with dbapi.connect(self.uri) as connection, connection.cursor() as cursor:
            make(cursor)
            connection.commit()

    def tearDown(self):
        self.folder.cleanup()

    def ask(self, sql, parameters=None):
        with dbapi.connect(self.uri) as connection, connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetchall()

    def test_rows_come_back_as_they_were(self):
        with dbapi.connect(self.uri) as connection, connection.cursor() as cursor:
            cursor.execute("select * from sales")
            table = cursor.fetch_arrow_table()
        table.validate(full=True)
        self.assertEqual(table.to_pylist(), sales().to_pylist())

    def test_a_star_is_asked(self):
        rows = self.ask("select city, sum(paid), sum(pieces) from sales join shops on shop = name group by city order by city")
        self.assertEqual(rows, [(None, decimal.Decimal("-3.50"), 2), ("Łódź", decimal.Decimal("1.25"), 4)])

    def test_parameters_of_every_type(self):
        for column, value in [("day", DAY), ("seen", MOMENT), ("paid", decimal.Decimal("1.25")), ("online", True),
                              ("pieces", 1), ("shop", "north"), ("paid", 1.25), ("weight", 0.1)]:
            rows = self.ask("select count(*) from sales where pieces = 1 and %s = ?" % column, (value,))
            self.assertEqual(rows, [(1,)], column)
        self.assertEqual(self.ask("select count(*) from sales where shop = ?", (None,)), [(0,)])

    def test_a_prepared_statement_runs_for_each_row(self):
        with dbapi.connect(self.uri) as connection, connection.cursor() as cursor:
            schema = cursor.adbc_prepare("select pieces from sales where pieces >= ? order by pieces")
            self.assertEqual(len(schema), 1)
            cursor.execute("select pieces from sales where pieces >= ? order by pieces",
                           pyarrow.record_batch({"0": [3, 2]}))
            self.assertEqual(cursor.fetchall(), [(3,), (2,), (3,)])

    def test_ingest_modes(self):
        with dbapi.connect(self.uri) as connection, connection.cursor() as cursor:
            with self.assertRaisesRegex(dbapi.ProgrammingError, "table shops exists"):
                cursor.adbc_ingest("shops", shops())
            self.assertEqual(cursor.adbc_ingest("sales", sales(), mode="append"), 3)
            cursor.execute("select count(*) from sales")
            self.assertEqual(cursor.fetchall(), [(6,)])
            cursor.adbc_ingest("notes", pyarrow.table({"n": [1, 2], "text": ["a", "b"]}), mode="create_append")
            cursor.adbc_ingest("notes", pyarrow.table({"n": [3], "text": ["c"]}), mode="create_append")
            cursor.execute("select n, text from notes order by n")
            self.assertEqual(cursor.fetchall(), [(1, "a"), (2, "b"), (3, "c")])
            cursor.adbc_ingest("notes", pyarrow.table({"n": [7]}), mode="replace")
            cursor.execute("select * from notes")
            self.assertEqual(cursor.fetchall(), [(7,)])
            with self.assertRaisesRegex(dbapi.Error, "no row of table shops has name 'west'"):
                cursor.adbc_ingest("sales", sales().set_column(0, "shop", [["west"] * 3]), mode="append")
            cursor.execute("select count(*) from sales")
            self.assertEqual(cursor.fetchall(), [(6,)])

    def test_errors_have_sentences_and_codes(self):
        with self.assertRaises(dbapi.ProgrammingError) as raised:
            self.ask("select nothing from sales")
        self.assertIn("there is no column nothing", str(raised.exception))
        self.assertEqual((raised.exception.sqlstate, raised.exception.vendor_code), ("42000", 2))
        with self.assertRaisesRegex(dbapi.Error, "1 parameters; 2 columns are bound"):
            self.ask("select count(*) from sales where pieces = ?", (1, 2))
        huge = pyarrow.array([decimal.Decimal("9E+36")], pyarrow.decimal128(5, -33))
        with self.assertRaisesRegex(dbapi.Error, "more than 18 digits"):
            self.ask("select count(*) from sales where paid = ?", pyarrow.record_batch({"0": huge}))
        with self.assertRaisesRegex(dbapi.Error, "no option 'devise'"):
            dbapi.connect(self.uri + "&devise=cpu")
        with self.assertRaisesRegex(dbapi.Error, "cannot open database /nowhere"):
            with dbapi.connect("/nowhere/at.db") as connection:
                connection.cursor().execute("select 1 from sales")

    def test_decimals_without_digits_are_decimals(self):
        """Their quotients are not whole; a parameter's closing zeros are digits."""
        rows = self.ask("select ? / 2, ?, cast(? as varchar)", [decimal.Decimal("7"), decimal.Decimal("8"), decimal.Decimal("1.50")])
        self.assertEqual(rows, [(3.5, decimal.Decimal("8"), "1.50")])

    def test_the_catalogue(self):
        with dbapi.connect(self.uri) as connection:
            self.assertEqual(connection.adbc_get_info()["vendor_name"], "Tessera")
            self.assertEqual(connection.adbc_get_table_types(), ["table"])
            self.assertEqual(connection.adbc_get_table_schema("sales").field("paid").type, pyarrow.decimal128(19, 2))
            with self.assertRaisesRegex(dbapi.Error, "it has: shops, sales"):
                connection.adbc_get_table_schema("nothing")
            for depth in ("all", "catalogs", "db_schemas", "tables"):
                connection.adbc_get_objects(depth=depth).read_all().validate(full=True)
            catalogue = connection.adbc_get_objects(table_name_filter="s%es").read_all().to_pylist()
            tables = catalogue[0]["catalog_db_schemas"][0]["db_schema_tables"]
            self.assertEqual(connection.adbc_get_objects(catalog_filter="%_").read_all().num_rows, 0)
            self.assertEqual(connection.adbc_get_objects(catalog_filter="").read_all().num_rows, 1)
            self.assertEqual([table["table_name"] for table in tables], ["sales"])
            usage = tables[0]["table_constraints"][0]["constraint_column_usage"][0]
            self.assertEqual((usage["fk_table"], usage["fk_column_name"]), ("shops", "name"))

    @unittest.skipUnless(pandas, "pandas is missing")
    def test_pandas(self):
        with dbapi.connect(self.uri) as connection:
            frame = pandas.read_sql("select pieces, paid from sales order by pieces", connection)
            self.assertEqual(list(frame["pieces"]), [1, 2, 3])
            pandas.DataFrame({"n": [1, 2], "text": ["x", None]}).to_sql("frames", connection, index=False)
            self.assertEqual(pandas.read_sql("select count(*) as c from frames", connection)["c"][0], 2)
        with dbapi.connect(os.path.join(self.folder.name, "new.db")) as connection:
            odd = pandas.DataFrame({"order": [1, 2], "2024": [0.5, None], 'a"b': ["x", None]})
            odd.to_sql("group", connection, index=False)
            odd.to_sql("group", connection, index=False, if_exists="append")
            self.assertEqual(pandas.read_sql('select sum("order") as s from "group"', connection)["s"][0], 6)

    @unittest.skipUnless(polars, "Polars is missing")
    def test_polars(self):
        frame = polars.read_database_uri("select shop, pieces from sales order by pieces", self.uri, engine="adbc")
        self.assertEqual(frame.rows(), [("north", 1), ("south", 2), ("north", 3)])
        with dbapi.connect(self.uri) as connection:
            frame = polars.read_database("select count(*) as n from sales where pieces > ?", connection,
                                         execute_options={"parameters": [1]})
            self.assertEqual(frame.rows(), [(2,)])
            polars.DataFrame({"n": [1, 2]}).write_database("written", connection, engine="adbc")
            self.assertEqual(polars.read_database("select sum(n) as s from written", connection).rows(), [(3,)])


if __name__ == "__main__":
    unittest.main()
