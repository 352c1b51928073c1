"""Errors of a sort, with the messages of the program. Each is also one of Python's exceptions."""

from __future__ import annotations

import errno
import os
import re
from contextlib import contextmanager
from typing import Any, Iterator, List, Optional, Tuple, Type


class Error(Exception):
    """The error that ended the work. str() is the program's message and, on a second line, its hint.

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

    def set_argument(self, name: str) -> None:
        """Names the argument that gave the sources, if the error is about them."""
        if self._parts[0].startswith("sources: "):
            self._parts = (name + self._parts[0][len("sources"):], *self._parts[1:])
            self.args = self._parts[:1]


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


# The program's words about options, and this package's words about arguments. Whole phrases come first.
_ARGUMENTS: List[Tuple["re.Pattern[str]", Any]] = [(re.compile(pattern), words) for pattern, words in (
    (r"gsort -h shows the common options, gsort --help all", "help(gsort.sort) explains the arguments"),
    (r", or use --decompress=none to read the bytes as they are", ""),
    (r"to read the bytes as they are, use --decompress=none .*",
     "give it a name without that suffix to read the bytes as they are"),
    (r"; or sort the bytes of .* with --decompress=\w+", ""),
    (r"give --decompress=zstd or --decompress=none", "decompress it first"),
    (r", or --compress=none", ""),
    (r", or add --compress=\w+", ""),
    (r"add --replace=write, which writes into it at the end, or ", ""),
    (r" --format=bin reads raw keys", ""),
    (r"--format=npy:bin writes them as raw bytes", "give the output another suffix: .npy, or one of raw bytes, as .bin"),
    (r"name a file that is not compressed with -o, or write raw keys: .*", "give an output that is not compressed"),
    (r"take an array out, as in unzip -p .* \| gsort --format=npy", "give numpy.load(path)[name]"),
    (r"use: (\w+ -dc.*) \| gsort .*", r"decompress it first: \1 > FILE"),
    (r"(decompress (?:it|such inputs) (?:once|first): )(\w+ -dc.*)", r"\1'\2'"),
    (r"--key=0:bytes32,32:bytes32 and so on compares what decides",
     "sort it as records, by what decides: order='head' of array.view([('head', 'S1024'), "
     "('rest', f'V{array.itemsize - 1024}')])"),
    (r"choose other devices with --device", "choose other devices with CUDA_VISIBLE_DEVICES"),
    (r"leave it out of --device", "leave it out of CUDA_VISIBLE_DEVICES"),
    (r"--format=text reads", "a file named .txt holds"),
    (r"cut one column out of it, as with cut .*, and read that with --format=text",
     "give one column of it, as of numpy.loadtxt, or write that into a .txt file"),
    (r"(write its numbers one a line), as jq does, and read these with --format=text", r"\1 into a .txt file"),
    (r"convert it: iconv .*", "convert it to UTF-8"),
    (r"(remove the plus signs|remove empty lines|take one column of it)(?:, such as the first)?: .*", r"\1"),
    (r"save array\.ravel\(\)", "give array.ravel()"),
    (r"--merge needs sorted inputs(?:, with (floats in the order .*))?; without it gsort sorts them",
     lambda found: "gsort.sort sorts them" + (f", {found[1]}" if found[1] else "")),
    (r"-mu --count counts keys; add --format=bin if -u --count wrote it",
     "unique=True counts keys; give the file another name if gsort.unique wrote it"),
    (r"add --format=bin if -u --count wrote it; -mu --count counts keys", "give another output; unique=True counts keys"),
    (r"-m --count adds up what -u --count writes, with the same type and order; -mu --count counts keys",
     "gsort.merge adds up what gsort.unique counts, with the same dtype and order; unique=True counts keys"),
    (r"--merge --count", "gsort.merge with counts"),
    (r"its header says so; leave out --endian, or sort such files separately",
     "its dtype says so; sort such sources separately"),
    (r"--shuffle (?=\0)", "seed "),
    (r", or --shuffle alone", ", or None"),
    (r"its header says so", "its dtype says so"),
    (r"--format=npy sorts the array", "give the array the suffix .npy"),
    (r"\(-t, --record\), or a header comes first \(--skip\)", "(dtype), or a header comes first"),
    (r"--batch-elements \(the rows of the array\)", "the rows of an array"),
    (r"--batch-elements with --record", "rows of records"),
    (r"use fewer cores with --parallel", "give fewer threads"),
    (r"name another output with -o", "give another output"),
    (r"the header of the input", "the array"),
    (r"memory with -S", "memory"),
    (r"less with -S", "less memory"),
    (r"less with --gpu-memory", "less gpu_memory"),
    (r"with -o", "as output"),
    (r"^options ", ""),
    (r"^option '--([\w-]+)'", r"--\1"),
    (r"^operand ", "source "),
    (r"--engine[ =](cpu|cuda|auto)", r'engine="\1"'),
    (r"--float-order[ =](numeric|total)", r'float_order="\1"'),
    (r"--key=OFFSET:TYPE or -t", "dtype"),
    (r"(?:-t|--type) ([uif])(8|16|32|64)\b", lambda found: f"dtype {found[1]}{int(found[2]) // 8}"),
)] + [(re.compile(rf"(?<![\w-])(?:{option})(?![\w-])"), words) for option, words in (
    (r"-S|--buffer-size", "memory"),
    (r"-T|--temporary-directory", "temporary"),
    (r"--gpu-memory", "gpu_memory"),
    (r"--parallel", "threads"),
    (r"-t|--type|--endian", "dtype"),
    (r"--key", "order"),
    (r"--reverse", "descending"),
    (r"--float-order", "float_order"),
    (r"--count", "counts"),
    (r"--(top|unique|argsort|engine|output)", r"\1"),
    (r"--(merge|check|shuffle)", r"gsort.\1"),
    (r"--intersect", "gsort.intersect1d"),
    (r"--subtract", "gsort.setdiff1d"))]

_KEPT = re.compile(r"(?<!\w)(?<!option )'[^']*'(?!\w)")  # values, and commands of a shell
_OPTION = re.compile(r"(?<![\w-])(?:--[a-z]|-[A-Za-z](?!\w))")
_BETWEEN_CLAUSES = re.compile(r"(; |, or )")


def with_arguments(text: str) -> str:
    for option, argument in _ARGUMENTS:
        text = option.sub(argument, text)
    return text


def _without_options(text: str) -> str:
    """The text without the clauses that name options for which this package has no argument."""
    parts = ["", *_BETWEEN_CLAUSES.split(text)]  # each clause behind what is in front of it
    clauses = [part for part in zip(parts[::2], parts[1::2]) if not _OPTION.search(_KEPT.sub("", part[1]))]
    return "".join(clause if not index else between + clause for index, (between, clause) in enumerate(clauses))


def for_python(text: str, path: Optional[str] = None, is_hint: bool = False) -> str:
    """A text of the program in Python's terms. File names and quoted parts stay unchanged."""
    places: List[str] = []

    def keep(found: "re.Match[str]") -> str:
        places.append(found[0])
        return f"\0{len(places) - 1}\0"

    text = _KEPT.sub(keep, re.sub(re.escape(path), keep, text) if path else text)
    text = with_arguments(text)
    if is_hint:
        text = _without_options(text)
    for number in reversed(range(len(places))):
        text = text.replace(f"\0{number}\0", places[number])
    return text


def error_of(kind: str, message: bytes, reason: bytes, path: bytes, hint: bytes, offset: Optional[int],
             number: int) -> Error:
    """The exception for an error of the native module."""
    name = os.fsdecode(path) or None
    said, why, way_out = (part.decode(errors="replace") for part in (message, reason, hint))
    said, why = for_python(said.partition("\n  ")[0], name), for_python(why, name)
    way_out = for_python(way_out, name, is_hint=True)
    said += f"\n  {way_out}" if way_out else ""
    return _class_of(kind, number, name)(said, why, name, way_out, offset, number or None)


def usage(what: str, why: str, hint: str = "") -> UsageError:
    """An error that this package finds, in the program's form."""
    return UsageError(f"{what}: {why}" + (f"\n  {hint}" if hint else ""), why, None, hint)


def has_type(what: str, value: object, hint: str) -> UsageError:
    """An error for an argument of a wrong type."""
    return usage(what, f"has type {type(value).__name__}", hint)


@contextmanager
def naming(argument: str) -> Iterator[None]:
    """Errors about sources name this argument."""
    try:
        yield
    except UsageError as error:
        error.set_argument(argument)
        raise


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
        hint = "save it with a dtype of numbers, times, texts or records" if "Python objects" in str(error) \
            else "is it a whole .npy file?"
        raise DataError(f"{operation} {path}: {error}\n  {hint}", str(error), path, hint) from None
