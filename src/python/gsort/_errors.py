"""Errors of a sort, with the messages of the program. Each is also one of Python's exceptions."""

from __future__ import annotations

import errno
import os
import re
from contextlib import contextmanager
from typing import Iterator, Optional, Tuple, Type


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


# Options of the program as the arguments that they are here.
_ARGUMENTS = [(re.compile(r"(?<![\w-])" + f"(?:{option})" + r"(?![\w-])"), argument) for option, argument in (
    (r"gsort -h shows the common options, gsort --help all", "help(gsort.sort) explains the arguments"),
    (r"the header of the input", "the array"),
    (r"memory with -S", "memory"),
    (r"less with -S", "less memory"),
    (r"-S|--buffer-size", "memory"),
    (r"-T|--temporary-directory", "temporary"),
    (r"--gpu-memory", "gpu_memory"),
    (r"--parallel", "threads"),
    (r"--engine[ =](cpu|cuda|auto)", r'engine="\1"'),
    (r"--engine", "engine"),
    (r"--key=OFFSET:TYPE or -t", "dtype"),
    (r"(?:-t|--type) ([uif])8", r"dtype \g<1>1"),
    (r"(?:-t|--type) ([uif])16", r"dtype \g<1>2"),
    (r"(?:-t|--type) ([uif])32", r"dtype \g<1>4"),
    (r"(?:-t|--type) ([uif])64", r"dtype \g<1>8"),
    (r"--format=text reads", "a file named .txt holds"),
    (r"save array\.ravel\(\)", "give array.ravel()"),
    (r"--merge needs sorted inputs; without it gsort sorts them", "gsort.sort sorts them"),
    (r"\(-t, --record\), or a header comes first \(--skip\)", "(dtype), or a header comes first"),
    (r"-t|--type|--endian", "dtype"),
    (r"--key", "order"),
    (r"--batch-elements \(the rows of the array\)", "the rows of an array"),
    (r"--(top|unique|argsort)", r"\1"),
    (r"--count", "counts"),
    (r"with -o", "as output"),
    (r"--reverse", "descending"),
    (r"--(merge|check)", r"gsort.\1"),
    (r"--intersect", "gsort.intersect1d"),
    (r"--subtract", "gsort.setdiff1d"))]


def with_arguments(text: str) -> str:
    for option, argument in _ARGUMENTS:
        text = option.sub(argument, text)
    return text


def _for_python(text: str, path: Optional[str]) -> str:
    """A text of the program in Python's terms, but for the name of a file in it."""
    if not path:
        return with_arguments(text)
    return path.join(with_arguments(part) for part in text.split(path))


def error_of(kind: str, message: bytes, reason: bytes, path: bytes, hint: bytes, offset: Optional[int],
             number: int) -> Error:
    """The exception for an error of the native module."""
    name = os.fsdecode(path) or None
    text = [_for_python(part.decode(errors="replace"), name) for part in (message, reason, hint)]
    return _class_of(kind, number, name)(text[0], text[1], name, text[2], offset, number or None)


def usage(what: str, why: str, hint: str = "") -> UsageError:
    """An error of the program's form that is found here."""
    return UsageError(f"{what}: {why}" + (f"\n  {hint}" if hint else ""), why, None, hint)


def has_type(what: str, value: object, hint: str) -> UsageError:
    """An error for an argument of a wrong type."""
    return usage(what, f"has type {type(value).__name__}", hint)


@contextmanager
def file_errors(operation: str, path: str) -> Iterator[None]:
    """Errors of the system and of numpy.load, as errors of this package."""
    try:
        yield
    except Error:
        raise
    except OSError as error:
        why = error.strerror or str(error)
        hint = "check the path" if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR) else ""
        message = f"{operation} {path}: {why}" + (f"\n  {hint}" if hint else "")
        raise _class_of("output", error.errno or 0, path)(message, why, path, hint, None, error.errno) from None
    except (ValueError, EOFError) as error:
        hint = "is it a whole .npy file?"
        raise DataError(f"{operation} {path}: {error}\n  {hint}", str(error), path, hint) from None
