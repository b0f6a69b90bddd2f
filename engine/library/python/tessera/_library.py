"""The calls of tessera.h by ctypes. Calls release Python's lock, so other threads go on meanwhile."""

import _thread
import ctypes
import os
import threading

from ._errors import DataError, InterfaceError, OperationalError, ProgrammingError

API_VERSION = 2  # TESSERA_API_VERSION, which is also the soname's number
BAD_INPUT, NOT_DURABLE = 2, 4  # TESSERA_BAD_INPUT, TESSERA_NOT_DURABLE

void_p, text_p, u32, u64 = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint64
i64 = ctypes.c_int64


class TesseraError(ctypes.Structure):  # struct tessera_error
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 1024)]


class Options(ctypes.Structure):  # struct tessera_options
    _fields_ = [("size", ctypes.c_size_t), ("device", text_p), ("threads", ctypes.c_uint), ("gpu_memory", text_p),
                ("memory", text_p), ("spill", text_p), ("plan_cache", text_p), ("kernel", text_p)]


# Calls that return a status, without the error that ends their arguments.
_STATUS = {
    "open_with": [text_p, ctypes.POINTER(Options), ctypes.POINTER(void_p)],
    "prepare": [void_p, text_p, ctypes.POINTER(void_p)],
    "use_time_zone": [void_p, text_p],
    "bind_null": [void_p, u32],
    "bind_int64": [void_p, u32, i64],
    "bind_decimal": [void_p, u32, i64, ctypes.c_uint],
    "bind_double": [void_p, u32, ctypes.c_double],
    "bind_text": [void_p, u32, text_p, ctypes.c_size_t],
    "run": [void_p, ctypes.POINTER(void_p)],
    "result_arrow": [void_p, void_p],
    "load": [text_p, text_p, ctypes.POINTER(text_p), ctypes.POINTER(text_p), u32, ctypes.c_int, ctypes.POINTER(u64)],
    "load_arrow": [text_p, text_p, ctypes.POINTER(text_p), ctypes.POINTER(void_p), u32, ctypes.c_int,
                   ctypes.POINTER(u64)],
}
# The others: what they return, and their arguments.
_OTHERS = {
    "version": (ctypes.c_int, []),
    "close": (None, [void_p]),
    "finalize": (None, [void_p]),
    "changes": (ctypes.c_int, [void_p]),
    "parameters": (u32, [void_p]),
    "result_free": (None, [void_p]),
    "rows": (u64, [void_p]),
    "columns": (u32, [void_p]),
    "column_name": (text_p, [void_p, u32]),
    "column_type": (ctypes.c_int, [void_p, u32]),
    "column_scale": (ctypes.c_uint, [void_p, u32]),
    "column_is_decimal": (ctypes.c_int, [void_p, u32]),
    "column_has_time_zone": (ctypes.c_int, [void_p, u32]),
    "text": (void_p, [void_p, u32, u64, ctypes.POINTER(u32)]),
    "column_values": (ctypes.POINTER(i64), [void_p, u32, ctypes.POINTER(ctypes.POINTER(ctypes.c_uint8))]),
    "cancel": (None, [void_p]),
    "interrupt": (None, []),
    "resume": (None, []),
}
# What a wrong input is called. Names of a statement are looked up when it runs, so this is a wrong statement, too.
_BAD_INPUT = {"open_with": OperationalError, "load": DataError, "load_arrow": DataError}


def _open():
    """TESSERA_LIBRARY, the library that came with this package, or the system's."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"libtessera.so.{API_VERSION}")
    path = os.environ.get("TESSERA_LIBRARY") or (beside if os.path.exists(beside) else os.path.basename(beside))
    try:
        library = ctypes.CDLL(path)
        for name, arguments in _STATUS.items():
            getattr(library, "tessera_" + name).argtypes = arguments + [ctypes.POINTER(TesseraError)]
        for name, (result, arguments) in _OTHERS.items():
            function = getattr(library, "tessera_" + name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as reason:
        raise InterfaceError(f"Tessera's library cannot be used: {reason}; install the wheel again, or set "
                             "TESSERA_LIBRARY to libtessera.so") from None
    if library.tessera_version() != API_VERSION:
        raise InterfaceError(f"{path} has version {library.tessera_version()} of Tessera's calls, and this package needs "
                             f"{API_VERSION}; install both of one version")
    return library


library = _open()


def call(name, *arguments):
    """A call that returns a status; one that is not 0 is an exception with the library's sentence."""
    error = TesseraError()
    status = getattr(library, "tessera_" + name)(*arguments, ctypes.byref(error))
    if status:
        kind = _BAD_INPUT.get(name, ProgrammingError) if status == BAD_INPUT else OperationalError
        raised = kind(error.text.decode(errors="replace"))
        raised.status = status
        raise raised


def as_text(text, what):
    """The bytes of a string for the library, whose texts end with a zero."""
    if not isinstance(text, str):
        raise ProgrammingError(f"{what} is a str, not {type(text).__name__}")
    if "\0" in text:
        raise ProgrammingError(f"{what} has a character of code 0")
    return text.encode()


def interruptible(work, stop):
    """work(), which Ctrl-C stops. Python handles signals in its main thread alone, and not within a call of ctypes: so
    another thread works, and frees what it made, and the main one waits. A stop that comes too early is lost, hence more
    of them; after an interrupted Thread.join() a thread counts as ended, hence the event."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    outcome, done, started = {}, threading.Event(), None

    def run():
        try:
            outcome["result"] = work()
        except BaseException as raised:
            outcome["raised"] = raised
        finally:
            done.set()

    try:
        started = _thread.start_new_thread(run, ())
        done.wait()
    except BaseException:
        while started is not None:
            try:
                stop()
                if done.wait(0.05):
                    break
            except KeyboardInterrupt:
                pass  # it is being stopped
        raise
    if "raised" in outcome:
        raise outcome["raised"]
    return outcome["result"]
