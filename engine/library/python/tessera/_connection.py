"""Connections and cursors of PEP 249. A connection is an open database, in the state in which it was opened; a cursor has
a statement while it runs, and an answer."""

import ctypes
import datetime
import decimal
import numbers
import os
import threading
import weakref

from ._errors import DataError, InterfaceError, NotSupportedError, OperationalError, ProgrammingError
from ._library import NOT_DURABLE, Options, as_text, call, interruptible, library, void_p
from ._result import Result

_BLOCK = 4096  # rows that fetchone and fetchmany make at once


class _Database:
    """The library's handle. It is closed when the connection and the last answer, or running statement, leave it."""

    def __init__(self, path, options):
        handle = void_p()
        call("open_with", path, ctypes.byref(options), ctypes.byref(handle))
        self.handle, self._users, self._lock = handle, 1, threading.Lock()

    def enter(self):
        with self._lock:
            if not self._users:
                raise ProgrammingError("the connection is closed")
            self._users += 1

    def leave(self):
        with self._lock:
            self._users -= 1
            last = self._users == 0
        if last:
            library.tessera_close(self.handle)


def connect(path="", *, device=None, threads=0, memory=None, spill=None, gpu_memory=None, plan_cache=None, kernel=None,
            time_zone=None):
    """Opens the database in the folder `path`; without one, statements ask files (FROM 'trips.parquet'). Options are those
    of tessera_open_with: device "cpu", "cuda" or "auto"; amounts of memory such as "4G". `time_zone`, as "Europe/Berlin", is
    that whose clock statements show of timestamps with time zone; by default UTC. Python gets these in UTC in any case."""
    options = Options(size=ctypes.sizeof(Options), threads=threads)
    texts = {"device": device, "memory": memory, "spill": spill, "gpu_memory": gpu_memory, "plan_cache": plan_cache,
             "kernel": kernel}
    for name, text in texts.items():
        if text is not None:
            setattr(options, name, as_text(text, name))
    connection = Connection(_Database(os.fsencode(path), options))
    if time_zone is not None:
        call("use_time_zone", connection._database.handle, as_text(time_zone, "time_zone"))
    return connection


class Connection:
    def __init__(self, database):
        self._database, self._closed = database, False
        self._changed = False  # since the last commit
        self._cursors = weakref.WeakSet()

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        """Closes its cursors, too. Statements of other threads end first; Arrow streams stay valid."""
        if not self._closed:
            self._closed = True
            for cursor in list(self._cursors):
                cursor.close()
            self._database.leave()

    def cursor(self):
        if self._closed:
            raise ProgrammingError("the connection is closed")
        cursor = Cursor(self)
        self._cursors.add(cursor)
        return cursor

    def execute(self, sql, parameters=()):
        """A new cursor that has run the statement."""
        return self.cursor().execute(sql, parameters)

    def commit(self):
        """There is nothing to do: a load, or a statement that changes tables, is committed when it ends."""
        self._changed = False

    def rollback(self):
        """Refused after a change, which was committed when it ended; one that failed has changed nothing."""
        if self._changed:
            self._changed = False
            raise NotSupportedError("a change of tables is committed when it ends and cannot be rolled back; one that "
                                    "fails changes nothing")


class Cursor:
    arraysize = 1

    def __init__(self, connection):
        self.connection = connection
        self._closed = False
        self._lock = threading.Lock()  # of the statement, which another thread may cancel
        self._statement, self._stopped = None, False
        self._clear()

    def _clear(self):
        self._result, self._next = None, 0
        self._block, self._at = [], 0

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.close()

    def close(self):
        self._closed = True
        result = self._result
        self._clear()
        if result:
            result.free()

    # ---- Running ----

    def execute(self, sql, parameters=()):
        """Runs one statement, with a value for each `?`. Returns the cursor."""
        if self._closed or self.connection._closed:
            raise ProgrammingError("the cursor is closed" if self._closed else "the connection is closed")
        previous, text = self._result, as_text(sql, "a statement")
        self._clear()
        self._stopped = False
        if previous:
            previous.free()
        self._result = interruptible(lambda: self._run(text, parameters), self.cancel)
        return self

    def executemany(self, sql, rows):
        """Runs the statement for each row of parameters; the cursor has the last one's answer. Each run of one that changes
        tables is a commit; rowcount is all that they changed."""
        changed = 0
        for parameters in rows:
            self.execute(sql, parameters)
            changed += self._result.changed or 0
        if self._result and self._result.changed is not None:
            self._result.changed = changed
        return self

    def _run(self, sql, parameters):
        database = self.connection._database
        database.enter()
        try:
            result, changes = self._run_in(database, sql, parameters)
        except BaseException:
            database.leave()  # after the statement is finalized: this may close the database
            raise
        self.connection._changed |= changes
        return Result(result, database, changes)

    def _run_in(self, database, sql, parameters):
        statement, result = void_p(), void_p()
        try:
            call("prepare", database.handle, sql, ctypes.byref(statement))
            _bind_all(statement, parameters)
            with self._lock:
                if self._stopped:
                    raise OperationalError("the statement was stopped")
                self._statement = statement
            try:
                call("run", statement, ctypes.byref(result))
            except OperationalError as error:
                self.connection._changed |= error.status == NOT_DURABLE
                raise
            return result, bool(library.tessera_changes(statement))
        finally:
            with self._lock:
                self._statement = None
            library.tessera_finalize(statement)

    def cancel(self):
        """Stops the statement that runs, if any. Another thread calls it."""
        with self._lock:
            self._stopped = True
            if self._statement:
                library.tessera_cancel(self._statement)

    # ---- The answer ----

    def _answer(self):
        if self._closed or self.connection._closed:
            raise ProgrammingError("the cursor is closed" if self._closed else "the connection is closed")
        if not self._result:
            raise ProgrammingError("no statement was run")
        return self._result

    @property
    def description(self):
        return self._result.description if self._result else None

    @property
    def rowcount(self):
        """Rows of the answer; of a statement that writes, the rows that it wrote, inserted or deleted."""
        if not self._result:
            return -1
        return self._result.rows if self._result.changed is None else self._result.changed

    def fetchmany(self, size=None):
        result, wanted, rows = self._answer(), self.arraysize if size is None else size, []
        while len(rows) < wanted:
            if self._at == len(self._block):
                end = min(self._next + _BLOCK, result.rows)
                self._block, self._at = result.read(self._next, end), 0
                self._next = end
                if not self._block:
                    break
            taken = self._block[self._at:self._at + wanted - len(rows)]
            self._at += len(taken)
            rows += taken
        return rows

    def fetchone(self):
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchall(self):
        return self.fetchmany(self._answer().rows)

    def __iter__(self):
        return self

    def __next__(self):
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def setinputsizes(self, sizes):
        """PEP 249 asks for it; sizes are not needed."""

    def setoutputsize(self, size, column=None):
        """PEP 249 asks for it; sizes are not needed."""

    # ---- The whole answer ----

    def __arrow_c_stream__(self, requested_schema=None):
        """The answer for pyarrow, Polars, DuckDB and others that take Arrow streams. It can be taken once, and whole."""
        if self._answer() and self._next:
            raise ProgrammingError("rows of this answer were fetched; an Arrow stream takes all of them: run it again")
        return self._result.capsule()

    def fetch_record_batch(self):
        """The answer as a pyarrow.RecordBatchReader."""
        return _module("pyarrow").RecordBatchReader.from_stream(self)

    def arrow(self):
        """The answer as a pyarrow.Table."""
        return _module("pyarrow").table(self)

    fetch_arrow_table = arrow

    def df(self):
        """The answer as a pandas.DataFrame: by pyarrow where it is installed, which is faster."""
        pandas = _module("pandas")
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            return pandas.DataFrame.from_records(self.fetchall(), columns=[c[0] for c in self.description])
        return self.arrow().to_pandas()


def _module(name):
    try:
        return __import__(name)
    except ImportError:
        raise InterfaceError(f"this needs {name}, which is not installed: pip install {name}") from None


# ---- Parameters ----

def _whole(value, index, scale=0):
    if not -2**63 < value < 2**63:
        raise DataError(f"parameter {index + 1} has more than 64 bits" if not scale else
                        f"parameter {index + 1} is a decimal that has more than 18 digits")
    return value


def _bind_decimal(statement, index, value):
    if not value.is_finite():
        return call("bind_double", statement, index, float(value))
    sign, digits, exponent = value.as_tuple()
    number, scale = int("".join(map(str, digits))), -exponent
    while scale > 18 and number % 10 == 0:
        number, scale = number // 10, (scale - 1 if number else 18)
    if scale < 0:
        number, scale = (number * 10**min(-scale, 30), 0)
    if scale > 18:
        raise DataError(f"parameter {index + 1} has {scale} decimals, and 18 are the most")
    return call("bind_decimal", statement, index, _whole(-number if sign else number, index, scale), scale)


def _bind_all(statement, parameters):
    wanted = library.tessera_parameters(statement)
    if isinstance(parameters, (str, bytes)) or not hasattr(parameters, "__len__") or hasattr(parameters, "keys"):
        raise ProgrammingError("parameters are a sequence of values, one for each ?")
    if len(parameters) != wanted:
        raise ProgrammingError(f"the statement has {wanted} parameters, and {len(parameters)} values are given")
    for index, value in enumerate(parameters):
        _bind(statement, index, value)


def _bind(statement, index, value):
    """Dates and timestamps are bound as their texts, as everywhere in tessera.h."""
    if value is None:
        return call("bind_null", statement, index)
    if isinstance(value, str):
        text = value.encode()
    elif isinstance(value, decimal.Decimal):
        return _bind_decimal(statement, index, value)
    elif isinstance(value, datetime.datetime):
        if value.tzinfo:
            value = value.astimezone(datetime.timezone.utc)  # the text ends in +00:00
        text = value.isoformat(" ").encode()
    elif isinstance(value, datetime.date):
        text = value.isoformat().encode()
    elif isinstance(value, numbers.Real):
        if isinstance(value, numbers.Integral):
            return call("bind_int64", statement, index, _whole(int(value), index))
        return call("bind_double", statement, index, float(value))
    elif hasattr(value, "item"):  # numbers of NumPy that are no Python numbers, as numpy.bool_
        return _bind(statement, index, value.item())
    else:
        raise ProgrammingError(f"parameter {index + 1} is of type {type(value).__name__}; a parameter is None, a number, "
                               "a str, a date or a datetime")
    return call("bind_text", statement, index, text, len(text))
