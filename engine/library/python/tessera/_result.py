"""The answer of a statement: its columns, its rows as Python's objects, or all of it as an Arrow stream.

Rows are made by columns, some thousand at a time: a call of ctypes for each value would take most of the time."""

import ctypes
import datetime
import decimal
import threading

from ._arrow import capsule_of_result
from ._errors import DataError, ProgrammingError
from ._library import library, u32

_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_UTC = _EPOCH.replace(tzinfo=datetime.timezone.utc)
_DIGITS = decimal.Context(prec=40)
_INTEGER, _DATE, _TIMESTAMP, _BOOLEAN, _STRING, _DOUBLE = range(6)  # enum tessera_type
_NAMES = ("INTEGER", "DATE", "TIMESTAMP", "BOOLEAN", "TEXT", "DOUBLE")


class _Types:
    """A type object of PEP 249: equal to the type codes of descriptions that it stands for."""

    def __init__(self, *names):
        self.names = frozenset(names)

    def __eq__(self, other):
        return other.names == self.names if isinstance(other, _Types) else other in self.names

    def __hash__(self):
        return hash(self.names)


STRING = _Types("TEXT")
BINARY = _Types("BINARY")
NUMBER = _Types("INTEGER", "DECIMAL", "DOUBLE", "BOOLEAN")
DATETIME = _Types("DATE", "TIMESTAMP")
ROWID = _Types("ROWID")


def _date(days):
    try:
        return datetime.date.fromordinal(_EPOCH_DAY + days)
    except (ValueError, OverflowError):
        raise DataError("a date of the answer is in the year 0, which Python's dates do not have") from None


def _timestamp(microseconds, epoch=_EPOCH):
    try:
        return epoch + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        raise DataError("a timestamp of the answer is in the year 0, which Python's do not have") from None


def _instant(microseconds):
    return _timestamp(microseconds, _EPOCH_UTC)


class Result:
    def __init__(self, handle, database, changes):
        """Takes the handle of the library, and one use of the database, which is left when the handle is freed. `changes`:
        the statement writes, and its one value is the number of rows."""
        self._handle, self._database, self._lock = handle, database, threading.RLock()
        self.rows = library.tessera_rows(handle)
        self._types = []
        self._texts = {}  # of a column with codes: code -> text
        self.description = []
        for c in range(library.tessera_columns(handle)):
            kind, scale = library.tessera_column_type(handle, c), None
            name, precision = _NAMES[kind], None
            if kind == _INTEGER and library.tessera_column_is_decimal(handle, c):
                name, precision, scale = "DECIMAL", 19, library.tessera_column_scale(handle, c)
            zoned = kind == _TIMESTAMP and library.tessera_column_has_time_zone(handle, c)
            self._types.append((kind, scale, zoned))
            column_name = library.tessera_column_name(handle, c).decode(errors="replace")
            self.description.append((column_name, name, None, None, precision, scale, None))
        self.changed = self.read(0, 1)[0][0] if changes else None

    def __del__(self):
        self.free()

    def free(self):
        with self._lock:
            if self._handle:
                library.tessera_result_free(self._handle)
                self._handle = None
                self._database.leave()

    def _use(self):
        if not self._handle:
            raise ProgrammingError("the answer is gone: its cursor was closed, or it was taken as an Arrow stream")
        return self._handle

    def capsule(self):
        """All rows as an Arrow stream, which takes them from this result."""
        with self._lock:
            handle = self._use()
            self._handle = None
            try:
                return capsule_of_result(handle)
            finally:
                self._database.leave()

    def read(self, first, end):
        """Rows first to end - 1, as a list of tuples."""
        with self._lock:
            self._use()
            columns = [self._column(c, first, end) for c in range(len(self._types))]
        return list(zip(*columns)) if columns else [()] * (end - first)

    def _column(self, c, first, end):
        kind, scale, zoned = self._types[c]
        nulls = ctypes.POINTER(ctypes.c_uint8)()
        values = library.tessera_column_values(self._handle, c, ctypes.byref(nulls))
        is_null = nulls[first:end] if nulls else None
        if kind == _STRING:
            return self._strings(c, first, end, values, is_null)
        if kind == _DOUBLE:
            found = ctypes.cast(values, ctypes.POINTER(ctypes.c_double))[first:end]
        else:
            found = values[first:end]
        if kind == _DATE:
            make = _date
        elif kind == _TIMESTAMP:
            make = _instant if zoned else _timestamp
        elif kind == _BOOLEAN:
            make = bool
        elif scale is not None:
            def make(value):
                return decimal.Decimal(value).scaleb(-scale, _DIGITS)
        elif not is_null:
            return found
        else:
            def make(value):
                return value
        if not is_null:
            return [make(value) for value in found]
        return [None if null else make(value) for value, null in zip(found, is_null)]

    def _text(self, c, row):
        length = u32()
        text = library.tessera_text(self._handle, c, row, ctypes.byref(length))
        return ctypes.string_at(text, length.value).decode(errors="replace") if text else None

    def _strings(self, c, first, end, codes, is_null):
        """A string that comes several times is one object; strings without codes are read row by row."""
        if not codes:
            return [self._text(c, row) for row in range(first, end)]
        texts, found = self._texts.setdefault(c, {}), []
        for at, code in enumerate(codes[first:end]):
            if is_null and is_null[at]:
                found.append(None)
                continue
            if code not in texts:
                texts[code] = self._text(c, first + at)
            found.append(texts[code])
        return found
