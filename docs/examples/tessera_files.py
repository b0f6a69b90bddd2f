"""Loads files that pyarrow reads (Parquet, .arrow, .feather) into a Tessera database, as Arrow streams, by ctypes alone.

    import pyarrow.dataset as ds, tessera_files
    files = {"sales": ds.dataset("sales/", format="parquet"), "shops": ds.dataset("shops.arrow", format="ipc")}
    tessera_files.load("shop.db", open("star.sql").read(), files)

or

    python3 tessera_files.py DIRECTORY SCHEMA.sql TABLE=FILE...

The library is found as libtessera.so; TESSERA_LIBRARY names another one. Batches are read one after the other, so files may
be larger than the memory that their rows take in pyarrow.
"""
import ctypes
import os
import sys

APPEND, REPLACE = 2, 1


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 1024)]


class ArrowArrayStream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p)
                for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


def load(directory, schema, tables, mode=REPLACE):
    """tables: name -> a dataset, a table, or a reader of record batches. Gives the number of rows. All or nothing."""
    library = ctypes.CDLL(os.environ.get("TESSERA_LIBRARY", "libtessera.so"))
    streams = [ArrowArrayStream() for _ in tables]
    for stream, source in zip(streams, tables.values()):
        source = source.scanner() if hasattr(source, "scanner") else source
        source = source.to_reader() if hasattr(source, "to_reader") else source
        source._export_to_c(ctypes.addressof(stream))
    error, rows, count = Error(), ctypes.c_uint64(), len(streams)
    status = library.tessera_load_arrow(
        str(directory).encode(), schema.encode(), (ctypes.c_char_p * count)(*[name.encode() for name in tables]),
        (ctypes.POINTER(ArrowArrayStream) * count)(*map(ctypes.pointer, streams)), count, mode,
        ctypes.byref(rows), ctypes.byref(error))
    if status:
        raise RuntimeError(error.text.decode())
    return rows.value


def main():
    import pyarrow.dataset
    directory, schema, tables = sys.argv[1], sys.argv[2], {}
    for word in sys.argv[3:]:
        table, path = word.split("=", 1)
        parquet = path.endswith((".parquet", ".pq")) or os.path.isdir(path)
        tables[table] = pyarrow.dataset.dataset(path, format="parquet" if parquet else "ipc")
    with open(schema, encoding="utf-8") as script:
        try:
            print(load(directory, script.read(), tables), "rows")
        except RuntimeError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
