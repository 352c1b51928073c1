"""Errors of a sort, with the words of the program. Each is also an exception of Python's that says what kind it is."""

from __future__ import annotations

import errno
import os
from typing import Optional, Tuple, Type


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
    path: Optional[str]
    offset: Optional[int]

    def __init__(self, message: str, reason: str = "", path: Optional[str] = None, hint: str = "",
                 offset: Optional[int] = None, number: Optional[int] = None) -> None:
        super().__init__(message)
        self._parts = message, reason, path, hint, offset, number
        self.reason, self.path, self.hint, self.offset = reason, path, hint, offset

    def __str__(self) -> str:
        return self._parts[0]

    def __reduce__(self) -> Tuple[object, ...]:
        return type(self), self._parts


class UsageError(Error, ValueError):
    """An argument is wrong."""


class DataError(Error, ValueError):
    """An input does not hold what it should: it is damaged, or its elements are of another type."""


class FileError(Error, OSError):
    """A file or folder cannot be read or written; has errno and filename."""

    def __init__(self, message: str, reason: str = "", path: Optional[str] = None, hint: str = "",
                 offset: Optional[int] = None, number: Optional[int] = None) -> None:
        super().__init__(message, reason, path, hint, offset, number)
        self.errno, self.strerror, self.filename = number, reason, path


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


def _class_of(kind: str, number: int, path: Optional[str]) -> Type[Error]:
    by_number: dict[type, Type[Error]] = {FileNotFoundError: MissingFileError, PermissionError: DeniedFileError}
    if number in (errno.ENOMEM, errno.EAGAIN):  # EAGAIN: of threads
        return ResourceError
    if number and kind != "device":
        return by_number.get(type(OSError(number, "")), FileError)
    if kind == "resource" and path:
        return FileError  # a full disk
    return _OF_KINDS.get(kind, FileError)


def error_of(kind: str, message: bytes, reason: bytes, path: bytes, hint: bytes, offset: Optional[int],
             number: int) -> Error:
    """The exception for an error of the native module."""
    name = os.fsdecode(path) or None
    text = [part.decode(errors="replace") for part in (message, reason, hint)]
    return _class_of(kind, number, name)(text[0], text[1], name, text[2], offset, number or None)


def usage(what: str, why: str, hint: str = "") -> UsageError:
    """An error of the program's form that is found here."""
    return UsageError(f"{what}: {why}" + (f"\n  {hint}" if hint else ""), why, None, hint)
