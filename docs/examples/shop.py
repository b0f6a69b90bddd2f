"""The library from Python, by ctypes alone; with pyarrow, tables go in and answers come out as Arrow streams.

    python3 shop.py LIBTESSERA.SO DIRECTORY
"""
import ctypes
import sys

REPLACE, APPEND = 1, 2
SCHEMA = """
    CREATE TABLE shops (name TEXT PRIMARY KEY, city TEXT);
    CREATE TABLE sales (shop TEXT REFERENCES shops, paid DECIMAL(8,2), day DATE, pieces BIGINT);
"""
QUESTION = """
    select city, sum(paid) as paid, count(*) as sales, max(day) as latest
    from sales join shops s on s.name = shop where pieces >= ? group by city order by city
"""


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 1024)]


class Values(ctypes.Structure):  # struct tessera_values
    _fields_ = [("name", ctypes.c_char_p), ("numbers", ctypes.POINTER(ctypes.c_int64)),
                ("texts", ctypes.POINTER(ctypes.c_char_p)), ("nulls", ctypes.POINTER(ctypes.c_uint8))]


class ArrowArrayStream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p)
                for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


class Tessera:
    """The calls of tessera.h that this example needs; a status that is not 0 becomes an exception."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.tessera_text.restype = ctypes.c_void_p
        self.library.tessera_rows.restype = ctypes.c_uint64

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.library, "tessera_" + name)(*arguments, ctypes.byref(error)):
            raise RuntimeError(error.text.decode())

    def load_rows(self, directory, table, columns, mode):
        """columns: name -> list of texts or numbers."""
        rows = len(next(iter(columns.values())))
        values = (Values * len(columns))()
        for value, (name, items) in zip(values, columns.items()):
            value.name = name.encode()
            if isinstance(items[0], int):
                value.numbers = (ctypes.c_int64 * rows)(*items)
            else:
                value.texts = (ctypes.c_char_p * rows)(*[None if i is None else i.encode() for i in items])
        self.call("load_rows", directory.encode(), SCHEMA.encode(), table.encode(), values, len(columns),
                  ctypes.c_uint64(rows), mode)

    def open(self, directory):
        database = ctypes.c_void_p()
        self.call("open", directory.encode(), None, 0, ctypes.byref(database))
        return database

    def run(self, database, sql, parameter):
        statement, result = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("prepare", database, sql.encode(), ctypes.byref(statement))
        try:
            self.call("bind_int64", statement, 0, ctypes.c_int64(parameter))
            self.call("run", statement, ctypes.byref(result))
        finally:
            self.library.tessera_finalize(statement)
        return result

    def rows(self, result):
        length = ctypes.c_uint32()
        for row in range(self.library.tessera_rows(result)):
            texts = []
            for column in range(self.library.tessera_columns(result)):
                text = self.library.tessera_text(result, column, ctypes.c_uint64(row), ctypes.byref(length))
                texts.append(ctypes.string_at(text, length.value).decode() if text else None)
            yield texts


def without_arrow(tessera, directory):
    tessera.load_rows(directory, "shops", {"name": ["north", "south"], "city": ["Bern", "Lugano"]}, REPLACE)
    tessera.load_rows(directory, "sales", {"shop": ["north", "south", "north"], "paid": ["2.50", "12", None],
                                           "day": ["2024-01-31", "2024-02-29", "2024-03-01"], "pieces": [1, 4, 2]},
                      REPLACE)
    database = tessera.open(directory)
    result = tessera.run(database, QUESTION, 1)
    for row in tessera.rows(result):
        print(*row)
    tessera.library.tessera_result_free(result)
    tessera.library.tessera_close(database)


def with_arrow(tessera, directory, pa):
    import datetime
    import decimal
    more = pa.table({
        "pieces": pa.array([9, 1], pa.int32()),  # columns in any order, of any type that fits
        "shop": pa.array(["south", "north"]).dictionary_encode(),
        "paid": pa.array([decimal.Decimal("0.50"), decimal.Decimal("7.25")], pa.decimal128(10, 2)),
        "day": pa.array([datetime.date(2025, 1, 1), None], pa.date32()),
    })
    stream, out, rows = ArrowArrayStream(), ArrowArrayStream(), ctypes.c_uint64()
    pa.RecordBatchReader.from_batches(more.schema, more.to_batches())._export_to_c(ctypes.addressof(stream))
    tessera.call("load_arrow", directory.encode(), SCHEMA.encode(), (ctypes.c_char_p * 1)(b"sales"),
                 (ctypes.POINTER(ArrowArrayStream) * 1)(ctypes.pointer(stream)), 1, APPEND, ctypes.byref(rows))
    database = tessera.open(directory)
    tessera.call("result_arrow", tessera.run(database, QUESTION, 1), ctypes.byref(out))
    answer = pa.RecordBatchReader._import_from_c(ctypes.addressof(out)).read_all()
    tessera.call("table_arrow", database, b"sales", ctypes.byref(out))
    table = pa.RecordBatchReader._import_from_c(ctypes.addressof(out)).read_all()
    tessera.library.tessera_close(database)
    print(rows.value, "rows appended;", table.num_rows, "in all")
    print(answer.to_pylist())
    return answer, table


def main():
    tessera, directory = Tessera(sys.argv[1]), sys.argv[2]
    without_arrow(tessera, directory)
    try:
        import pyarrow
    except ImportError:
        print("pyarrow is not installed: the part with Arrow is left out")
        return
    with_arrow(tessera, directory, pyarrow)


if __name__ == "__main__":
    main()
