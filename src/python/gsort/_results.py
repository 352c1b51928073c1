"""Runs calls, and makes their results: files with a Summary, and arrays."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, fields
from typing import IO, Any, Iterable, List, Optional, Tuple

import numpy

from . import _native
from ._arrays import as_output, is_path
from ._errors import file_errors, usage
from ._outputs import new_array, require_room, require_usable
from ._progress import Watching
from ._sources import Inputs, bytes_of, dtype_of, folders_of, is_raw, mapped_npy, path_word, result_shape

CHUNK = 1 << 20
_SHORTENING = (b"--unique", b"--count", b"--top", b"--intersect", b"--subtract")


@dataclass(frozen=True)
class Summary:
    """The output that was written to a file.

    Attributes:
        path: the file.
        dtype: of its elements.
        elements: their number; with unique, top and the like fewer than were read.
        bytes: those of the elements, without a header.
        seconds: the time of the sort.
        bound: the time of the same sort if no stage had waited for another; None if it took less than a second, or if
            that time is not known.
        fingerprint: of the elements read, as `gsort --fingerprint` prints it.
        engine: "cpu" or "cuda".
        spilled_bytes: bytes that were written to temporary folders.
    """

    path: str
    dtype: numpy.dtype
    elements: int
    bytes: int
    seconds: float
    bound: Optional[float]
    fingerprint: str
    engine: str
    spilled_bytes: int

    def memmap(self) -> numpy.ndarray:
        """The file's elements, read-only, mapped into memory. Raises ValueError for text and compressed files."""
        if self.path.lower().endswith(".npy"):
            return mapped_npy(self.path)
        if not is_raw(self.path):
            raise usage(f"mapping {self.path}", "text and compressed files cannot be mapped",
                        "write a raw or .npy file")
        with file_errors("mapping", self.path):
            if os.path.getsize(self.path) != self.bytes:
                raise usage(f"mapping {self.path}", "the file has changed since the sort", "sort again")
            return numpy.memmap(self.path, self.dtype, mode="r") if self.bytes else numpy.empty(0, self.dtype)


def _into_file(inputs: Inputs, words: List[bytes], output: Any, progress: Any) -> Summary:
    call = inputs.call([*words, b"--output=" + path_word(output)])
    with Watching(progress) as watch:
        done = call.sort(None, watch)
    others = {field.name: getattr(done, field.name) for field in fields(Summary)[4:]}
    return Summary(os.fsdecode(output), dtype_of(call), done.output_elements, done.output_bytes, **others)


def into_array(inputs: Inputs, words: List[bytes], given: Optional[numpy.ndarray], progress: Any,
                temporary: Any) -> numpy.ndarray:
    call = inputs.call(words)
    dtype = dtype_of(call)
    if given is not None:
        require_usable(given, dtype, inputs.items)
    is_shorter = any(word.startswith(_SHORTENING) for word in words)
    if call.bytes is None or (given is None and is_shorter and call.bytes > call.memory_bytes):
        return _through_file(call, inputs, given, progress, temporary)
    elements = call.bytes // dtype.itemsize
    if given is not None and not is_shorter:
        require_room(given, elements)
    result = new_array(elements, dtype) if given is None else given
    room = bytes_of(result)
    with Watching(progress) as watch:
        done = call.sort(room, watch)
    del room
    found = done.output_elements * max(call.columns, 1)
    if given is not None:
        return given if found == given.size else numpy.asarray(given).reshape(-1)[:found]
    if found < elements:
        result.resize(found, refcheck=False)  # gives the memory behind it back
    return result.reshape(result_shape(inputs, done.output_elements, call))


def place_of(temporary: Any, output: Any = None) -> str:
    """The folder for a temporary file, as the docstring of sort says."""
    beside = os.path.dirname(os.path.abspath(os.fsdecode(output))) if is_path(output) else "/var/tmp"
    named = [os.fsdecode(path_word(folder)) for folder in folders_of(temporary)]
    return named[0] if named else os.environ.get("TMPDIR") or beside


def into_temporary(call: _native.Call, inputs: Inputs, place: str, progress: Any, stack: ExitStack) -> numpy.ndarray:
    """The result as an array, mapped from a file without a name. `stack` keeps the file open. However the process ends,
    no file is left."""
    file = _nameless(place, stack)
    with Watching(progress) as watch:
        done = call.sort_into(file.fileno(), path_word(place), watch)
    shape, dtype = result_shape(inputs, done.output_elements, call), dtype_of(call)
    return _mapped_from(file, shape, dtype) if done.output_elements else numpy.empty(shape, dtype)


def copied(inputs: Inputs, words: List[bytes], place: str, progress: Any, stack: ExitStack) -> numpy.ndarray:
    """The result as an array: in memory if it needs at most a quarter of it, else mapped from a temporary file."""
    call = inputs.call(words)
    if call.bytes is None or call.bytes > call.memory_bytes // 4:
        return into_temporary(call, inputs, place, progress, stack).reshape(-1)
    return into_array(inputs, words, None, progress, None)


def _nameless(place: str, stack: ExitStack) -> IO[bytes]:
    with file_errors("creating a file in", place):
        return stack.enter_context(tempfile.TemporaryFile(prefix="gsort-", dir=place))


def _mapped_from(file: IO[bytes], shape: Tuple[int, ...], dtype: numpy.dtype) -> numpy.ndarray:
    return numpy.memmap(f"/proc/self/fd/{file.fileno()}", dtype, "r+", shape=shape)


def gathered(pieces: Iterable[numpy.ndarray], dtype: numpy.dtype, most: int, place: str,
              stack: ExitStack) -> numpy.ndarray:
    """Joins pieces of at most `most` elements in all to one array: in memory if small, else as into_temporary."""
    if most * dtype.itemsize <= CHUNK:
        return numpy.concatenate([numpy.empty(0, dtype), *pieces], dtype=dtype)
    file, elements = _nameless(place, stack), 0
    with file_errors("writing a file in", place):
        for piece in pieces:
            file.write(bytes_of(piece.astype(dtype, copy=False)).data)
            elements += piece.size
        file.flush()
    return _mapped_from(file, (elements,), dtype) if elements else numpy.empty(0, dtype)


def _through_file(call: _native.Call, inputs: Inputs, given: Optional[numpy.ndarray], progress: Any,
                  temporary: Any) -> numpy.ndarray:
    """For results whose size is unknown, or whose largest possible size exceeds the memory."""
    with ExitStack() as stack:
        array = into_temporary(call, inputs, place_of(temporary), progress, stack)
        if given is None:
            result = new_array(array.shape, array.dtype)
            result[...] = array
            return result
        require_room(given, array.size)
        flat = numpy.asarray(given).reshape(-1)
        flat[:array.size] = array.reshape(-1)
        return given if array.size == given.size else flat[:array.size]


def run(inputs: Inputs, words: List[bytes], output: Any, progress: Any, temporary: Any) -> Any:
    output = as_output(output)
    if is_path(output):
        return _into_file(inputs, words, output, progress)
    return into_array(inputs, words, output, progress, temporary)


def positions(inputs: Inputs, words: List[bytes], output: Any, progress: Any, temporary: Any) -> Any:
    """By the program's --argsort. A new array is in the machine's byte order."""
    result = run(inputs, [*words, b"--argsort"], output, progress, temporary)
    return result.astype(result.dtype.newbyteorder("="), copy=False) if output is None else result
