"""The exceptions of PEP 249. Their text is the library's sentence; `status` is its tessera_status, or None."""


class Warning(Exception):
    """PEP 249 asks for this name; nothing raises it."""


class Error(Exception):
    status = None


class InterfaceError(Error):
    """The library is not found, or is of another version."""


class DatabaseError(Error):
    pass


class DataError(DatabaseError):
    """A value does not fit: a row of a load, a parameter, a date for Python."""


class OperationalError(DatabaseError):
    """The machine, a damaged file, or a statement that was stopped."""


class IntegrityError(DatabaseError):
    """PEP 249 asks for this name; a load says such things as DataError."""


class InternalError(DatabaseError):
    """PEP 249 asks for this name; nothing raises it."""


class ProgrammingError(DatabaseError):
    """A wrong statement, also one whose result does not fit, or a call in the wrong order."""


class NotSupportedError(DatabaseError):
    pass
