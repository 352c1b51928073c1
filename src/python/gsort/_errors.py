"""Errors of a sort, with the words of the program. Each is also an exception of Python's that says what kind it is."""

from __future__ import annotations

import os


class Error(Exception):
    """What ended the work. str() is the program's message and, on a second line, its hint.

    Attributes:
        hint: what to do about it; may be empty.
        reason: why it failed.
        path: the file or array, or None.
        offset: the byte in it, or None.
    """

    hint: str
    reason: str
    path: str | None
    offset: int | None

    def __init__(self, message: str, reason: str = "", path: str | None = None, hint: str = "",
                 offset: int | None = None, errno: int | None = None) -> None:
        super().__init__(message)
        self.message, self.reason, self.path, self.hint, self.offset = message, reason, path, hint, offset
        if isinstance(self, OSError):
            self.errno, self.strerror, self.filename = errno, reason, path

    def __str__(self) -> str:
        return self.message

    def __reduce__(self):
        return type(self), (self.message, self.reason, self.path, self.hint, self.offset, getattr(self, "errno", None))


class UsageError(Error, ValueError):
    """An argument is wrong."""


class DataError(Error, ValueError):
    """An input does not hold what it should: it is damaged, or its elements are of another type."""


class FileError(Error, OSError):
    """A file or folder cannot be read or written; has errno and filename."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file or folder."""


class DeniedFileError(FileError, PermissionError):
    """The file or folder may not be read or written."""


class ResourceError(Error, MemoryError):
    """There is too little memory for any plan."""


class DeviceError(Error, RuntimeError):
    """There is no GPU, or it failed."""


class CorruptError(Error, RuntimeError):
    """The verification of the result failed."""


_OF_KINDS = {"usage": UsageError, "input": DataError, "resource": ResourceError, "device": DeviceError,
             "corrupt": CorruptError}


def _class_of(kind: str, errno: int, path: str | None) -> type[Error]:
    by_number = {FileNotFoundError: MissingFileError, PermissionError: DeniedFileError}
    if errno and kind != "device":
        return by_number.get(type(OSError(errno, "")), FileError)
    if kind == "resource" and path:
        return FileError  # a full disk
    return _OF_KINDS.get(kind, FileError)


def error_of(kind: str, message: bytes, reason: bytes, path: bytes, hint: bytes, offset: int | None,
             errno: int) -> Error:
    """The exception for an error of the native module."""
    name = os.fsdecode(path) or None
    text = [part.decode(errors="replace") for part in (message, reason, hint)]
    return _class_of(kind, errno, name)(text[0], text[1], name, text[2], offset, errno or None)


def usage(what: str, why: str, hint: str = "") -> UsageError:
    """An error of the program's form that is found here."""
    return UsageError(f"{what}: {why}" + (f"\n  {hint}" if hint else ""), why, None, hint)
