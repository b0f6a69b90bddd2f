"""Arrow's C streams as capsules, the form in which Python's modules hand them to each other (__arrow_c_stream__)."""

import ctypes

from ._library import call

_NAME = b"arrow_array_stream"
_streams = {}  # address -> the stream, as long as its capsule


class ArrowArrayStream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p)
                for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi))


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy(capsule):
    """Whoever took the stream has set its release to NULL."""
    stream = _streams.pop(_pointer(capsule, _NAME))
    if stream.release:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(stream.release)(ctypes.addressof(stream))


def capsule_of_result(result):
    """Takes the library's result over."""
    stream = ArrowArrayStream()
    call("result_arrow", result, ctypes.addressof(stream))
    _streams[ctypes.addressof(stream)] = stream
    return _new(ctypes.addressof(stream), _NAME, ctypes.cast(_destroy, ctypes.c_void_p))


def stream_of_capsule(capsule):
    """The address of its stream, which lives as long as the capsule."""
    return _pointer(id(capsule), _NAME)
