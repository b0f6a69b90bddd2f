"""Loading: files, or anything that gives an Arrow stream."""

import ctypes
import os

from ._arrow import stream_of_capsule
from ._errors import ProgrammingError
from ._library import as_text, call, interruptible, library, text_p, u64, void_p

_MODES = {"new": 0, "replace": 1, "append": 2}


def load(path, schema, tables, mode="new"):
    """Loads tables into the database in the folder `path`, all or nothing, and returns the number of rows.

    `schema` is a script of CREATE TABLE; with mode="append" it may be None: the database knows its tables. `tables` has for each name a file, a pattern ("sales-*.csv"), a folder, or a
    list of such; or an object with __arrow_c_stream__: a pyarrow.Table, a data frame of Polars or pandas, a relation of
    DuckDB. All are of one kind.
    `mode` is "new", "replace" or "append". Open connections keep the state that they have. Ctrl-C stops the load, and
    with it whatever other threads do with the library."""
    if mode not in _MODES:
        raise ProgrammingError(f'the mode is "new", "replace" or "append", not {mode!r}')
    pairs = [(name, source) for name, given in tables.items()
             for source in (given if isinstance(given, (list, tuple)) else [given])]
    names = [as_text(name, "a table's name") for name, _ in pairs]
    sources, rows = [source for _, source in pairs], u64()
    streams = [hasattr(source, "__arrow_c_stream__") for source in sources]
    if any(streams) and not all(streams):
        raise ProgrammingError("some tables are files and some are Arrow streams: load them one after the other")
    script = None if schema is None else as_text(schema, "the script")
    arguments = [os.fsencode(path), script, (text_p * len(names))(*names)]
    if any(streams):
        capsules = [source.__arrow_c_stream__() for source in sources]  # alive until the call ends
        arguments.append((void_p * len(names))(*map(stream_of_capsule, capsules)))
    else:
        arguments.append((text_p * len(names))(*map(os.fsencode, sources)))
    arguments += [len(names), _MODES[mode], ctypes.byref(rows)]
    try:
        interruptible(lambda: call("load_arrow" if any(streams) else "load", *arguments), library.tessera_interrupt)
    except KeyboardInterrupt:
        library.tessera_resume()
        raise
    return rows.value
