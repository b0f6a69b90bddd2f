"""Loads files that pyarrow reads (Parquet, Arrow, Feather) into a Tessera database, as Arrow streams, by ctypes alone.

    import pyarrow.dataset as ds, tessera_files
    files = {"sales": ds.dataset("sales/", format="parquet"), "shops": ds.dataset("shops.arrow", format="ipc")}
    tessera_files.load("shop.db", open("star.sql").read(), files)

or

    python3 tessera_files.py [--append | --force] DIRECTORY SCHEMA.sql TABLE=FILE[,FILE...]...

As `tessera load` does, it refuses tables that exist, unless rows are to be added to them (--append, APPEND) or they are to be
replaced (--force, REPLACE). A folder stands for its Parquet files. The library is found as libtessera.so; TESSERA_LIBRARY
names another one. Batches are read one after the other, so files may be larger than the memory that their rows take in
pyarrow.
"""
import argparse
import ctypes
import os
import sys

NEW, REPLACE, APPEND = 0, 1, 2


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 1024)]


class ArrowArrayStream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p)
                for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


def load(directory, schema, tables, mode=NEW):
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


def open_files(paths):
    """A dataset of the files, or a reader of one file that is an Arrow stream; their first bytes tell what they are."""
    import pyarrow
    import pyarrow.dataset

    if len(paths) == 1 and os.path.isdir(paths[0]):
        return pyarrow.dataset.dataset(paths[0], format="parquet")
    begins = set()
    for path in paths:
        with open(path, "rb") as file:
            begins.add(file.read(6)[:4])
    if begins == {b"PAR1"} or begins == {b"ARRO"}:
        return pyarrow.dataset.dataset(paths, format="parquet" if b"PAR1" in begins else "ipc")
    if begins == {b"\xff\xff\xff\xff"} and len(paths) == 1:
        return pyarrow.ipc.open_stream(paths[0])
    raise RuntimeError(f"{','.join(paths)}: not Parquet and not Arrow, or both; `tessera load` reads CSV, Parquet and ORC")


def main():
    parser = argparse.ArgumentParser(description="Loads Parquet, Arrow and Feather files into a Tessera database.")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--append", dest="mode", action="store_const", const=APPEND, help="adds rows to tables")
    how.add_argument("--force", dest="mode", action="store_const", const=REPLACE, help="replaces tables")
    parser.add_argument("directory", help="of the database")
    parser.add_argument("schema", help="a script of CREATE TABLE statements")
    parser.add_argument("tables", nargs="+", metavar="TABLE=FILE[,FILE...]")
    asked = parser.parse_args()
    tables = {}
    try:
        for word in asked.tables:
            table, equals, files = word.partition("=")
            if not equals or table in tables:
                parser.error(f"'{word}' is not TABLE=FILE[,FILE...], or the table is there twice")
            tables[table] = open_files(files.split(","))
        with open(asked.schema, encoding="utf-8") as script:
            print(load(asked.directory, script.read(), tables, asked.mode or NEW), "rows")
    except (RuntimeError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
