"""Tessera from Python: PEP 249 (DB-API 2.0) over the library's calls, by ctypes alone; answers and tables as Arrow.

    import tessera
    tessera.load("shop.db", "CREATE TABLE sales (shop TEXT, paid DECIMAL(8,2));", {"sales": "sales.csv"})
    with tessera.connect("shop.db") as connection:
        for shop, paid in connection.execute("select shop, sum(paid) from sales where paid > ? group by shop", (10,)):
            print(shop, paid)
        frame = connection.execute("select * from sales").df()

pyarrow and pandas are used where they are installed, by the calls that give their objects alone. docs/library.md says more.
"""

import datetime
import time

from ._connection import Connection, Cursor, connect
from ._errors import (DatabaseError, DataError, Error, IntegrityError, InterfaceError, InternalError, NotSupportedError,
                      OperationalError, ProgrammingError, Warning)
from ._load import load
from ._result import BINARY, DATETIME, NUMBER, ROWID, STRING

apilevel = "2.0"
threadsafety = 2  # threads share connections, each with cursors of its own
paramstyle = "qmark"

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks):
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks):
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks):
    return Timestamp(*time.localtime(ticks)[:6])
