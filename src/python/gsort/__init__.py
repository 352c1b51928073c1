"""Sorts arrays and files of binary numbers, also larger than memory, on all cores or on an NVIDIA GPU.

    import gsort
    ascending = gsort.sort(array)                             # an array like numpy.sort(array)
    summary = gsort.sort("dump.u64", "sorted.u64", memory="2G")
    mapped = summary.memmap()                                 # the file, as an array

Sources are paths, arrays (numpy.memmap, too), or lists of them. Every result is verified: count, fingerprint, order.
Floats are in IEEE total order: -NaN, -inf, ..., -0, +0, ..., +inf, +NaN. Sizes of memory are bytes, or texts such as
"2G" and "50%". `progress` is None (a bar in a terminal or notebook), True, False, or a function. gsort calls it with a
Progress ten times a second, and once at the end, before an output file gets its name. If it raises, the sort ends and
no regular file has changed, but a pipe or an output array may already have the result. Ctrl-C ends a sort, too, and
leaves no output. Functions may be called from several threads; they release the interpreter's lock while they work.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, fields
from importlib import metadata
from typing import IO, Any, Callable, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import numpy

from . import _device, _native
from ._device import segmented_argsort, segmented_sort, sort_pairs
from ._errors import (CorruptError, DataError, DeniedFileError, DeviceError, Error, FileError, MissingFileError,
                      ResourceError, UsageError, file_errors, has_type, usage)
from ._in_memory import sorted_in_memory
from ._outputs import new_array, refuse_overlap, require_room, require_usable
from ._progress import Progress, Watch, Watching
from ._sources import (Inputs, Path, Source, Sources, as_bool, bytes_of, contiguous, dtype_of, folders_of, is_big_endian,
                       is_path, is_raw, is_text, key_type, listed, mapped_npy, option_words, path_word, result_shape)

__version__ = metadata.version("gsort-external")
__all__ = ["argsort", "check", "intersect1d", "merge", "segmented_argsort", "segmented_sort", "setdiff1d", "sort",
           "sort_pairs", "unique", "Checked", "Progress", "Summary", "Error", "UsageError", "DataError", "FileError",
           "MissingFileError", "DeniedFileError", "ResourceError", "DeviceError", "CorruptError"]

Size = Union[int, str, None]
Output = Union[Path, numpy.ndarray, None]
_CHUNK = 1 << 20
_SHORTENING = (b"--unique", b"--top", b"--intersect", b"--subtract")


@dataclass(frozen=True)
class Summary:
    """What was written to a file."""

    path: str
    dtype: numpy.dtype       # of its elements
    elements: int            # in it
    bytes: int               # of them
    seconds: float
    bound: Optional[float]   # seconds if nothing had waited; None: too short to tell
    fingerprint: str         # of the elements read, as `gsort --fingerprint` prints it; sets of texts: of the result
    engine: str              # "cpu" or "cuda"
    spilled_bytes: int       # written to temporary folders

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


@dataclass(frozen=True)
class Checked:
    """What a check has found. True if the source is sorted."""

    in_order: bool
    elements: Optional[int]      # None if not in order
    distinct: Optional[int]      # the same
    fingerprint: Optional[str]   # the same
    position: Optional[int]      # the first element that comes before the one in front of it; None if in order
    value: Optional[str]         # that element, as text
    value_before: Optional[str]  # the one in front of it

    def __bool__(self) -> bool:
        return self.in_order


def _into_file(inputs: Inputs, words: List[bytes], output: Path, progress: Any) -> Summary:
    call = inputs.call([*words, b"--output=" + path_word(output)])
    with Watching(progress) as watch:
        done = call.sort(None, watch)
    others = {field.name: getattr(done, field.name) for field in fields(Summary)[4:]}
    return Summary(os.fsdecode(output), dtype_of(call), done.output_elements, done.output_bytes, **others)


def _into_array(inputs: Inputs, words: List[bytes], given: Optional[numpy.ndarray], progress: Any,
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
    if given is not None:
        return given if done.output_elements == given.size else given.reshape(-1)[:done.output_elements]
    if done.output_elements < elements:
        result.resize(done.output_elements, refcheck=False)  # gives the memory behind it back
    return result.reshape(result_shape(inputs, done.output_elements, call.row_elements))


def _place_of(temporary: Any, output: Any = None) -> str:
    """The folder for a temporary file, as the docstring of sort says."""
    beside = os.path.dirname(os.path.abspath(os.fsdecode(output))) if is_path(output) else "/var/tmp"
    named = [os.fsdecode(path_word(folder)) for folder in folders_of(temporary)]
    return named[0] if named else os.environ.get("TMPDIR") or beside


def _into_temporary(call: _native.Call, inputs: Inputs, place: str, progress: Any, stack: ExitStack) -> numpy.ndarray:
    """The result as an array, mapped from a file without a name. `stack` keeps the file open. However the process ends,
    no file is left."""
    file = _nameless(place, stack)
    with Watching(progress) as watch:
        done = call.sort_into(file.fileno(), path_word(place), watch)
    shape, dtype = result_shape(inputs, done.output_elements, call.row_elements), dtype_of(call)
    return _mapped_from(file, shape, dtype) if done.output_elements else numpy.empty(shape, dtype)


def _nameless(place: str, stack: ExitStack) -> IO[bytes]:
    with file_errors("creating a file in", place):
        return stack.enter_context(tempfile.TemporaryFile(prefix="gsort-", dir=place))


def _mapped_from(file: IO[bytes], shape: Tuple[int, ...], dtype: numpy.dtype) -> numpy.ndarray:
    return numpy.memmap(f"/proc/self/fd/{file.fileno()}", dtype, "r+", shape=shape)


def _gathered(pieces: Iterable[numpy.ndarray], dtype: numpy.dtype, most: int, place: str,
              stack: ExitStack) -> numpy.ndarray:
    """Joins pieces of at most `most` elements in all to one array: in memory if small, else as _into_temporary."""
    if most * dtype.itemsize <= _CHUNK:
        return numpy.concatenate([numpy.empty(0, dtype), *pieces], dtype=dtype)
    file, elements = _nameless(place, stack), 0
    with file_errors("writing a file in", place):
        for piece in pieces:
            file.write(bytes_of(piece.astype(dtype, copy=False)))
            elements += piece.size
        file.flush()
    return _mapped_from(file, (elements,), dtype) if elements else numpy.empty(0, dtype)


def _through_file(call: _native.Call, inputs: Inputs, given: Optional[numpy.ndarray], progress: Any,
                  temporary: Any) -> numpy.ndarray:
    """For results whose size is unknown, or whose largest possible size exceeds the memory."""
    with ExitStack() as stack:
        array = _into_temporary(call, inputs, _place_of(temporary), progress, stack)
        if given is None:
            result = new_array(array.shape, array.dtype)
            result[...] = array
            return result
        require_room(given, array.size)
        flat = given.reshape(-1)
        flat[:array.size] = array.reshape(-1)
        return given if array.size == given.size else flat[:array.size]


def _run(inputs: Inputs, words: List[bytes], output: Output, progress: Any, temporary: Any) -> Any:
    if output is None or isinstance(output, numpy.ndarray):
        return _into_array(inputs, words, output, progress, temporary)
    if is_path(output):
        return _into_file(inputs, words, output, progress)
    raise has_type("output", output, "give a path, an array, or None")


def sort(source: Sources, output: Output = None, *, dtype: Any = None, order: Union[str, Sequence[str], None] = None,
         descending: bool = False, unique: bool = False, top: Optional[int] = None, memory: Size = None,
         gpu_memory: Size = None, threads: Optional[int] = None, engine: str = "auto", temporary: Any = None,
         progress: Union[bool, Watch, None] = None, stream: Any = None) -> Any:
    """Sorts files and arrays into one result.

    Args:
        source: a path, an array, or a list of them, which is read as one sequence. An array of several dimensions is
            sorted along the last one, and so are the rows of a two-dimensional .npy file. An array that is written to
            a .npy file becomes rows: (2, 3, 4) becomes (6, 4). An array in device memory (CuPy, PyTorch, JAX:
            __cuda_array_interface__ or __dlpack__) of keys of 8 to 64 bits is sorted there, into output or a new
            array of that library; of the other arguments, only descending and stream are used.
        output: a path (the file appears whole or not at all, and may be a source); an array, also a writable memmap,
            that receives the result; None for a new array. If it is the source, an array of numbers of one dimension,
            that is sorted in place.
        dtype: the NumPy dtype of the elements of raw files. Without it, the suffix gives the type (dump.u64), and files
            whose suffixes name different types are an error. If the suffix of a source differs from dtype, or that of
            output from the type of the result, a UserWarning says so.
        order: the field of records to sort by, or several; "-name" sorts a field in descending order, unless a field
            has this name; None sorts by all fields.
        descending: the greatest first; records with equal fields stay in the order of the source.
        unique: keep one of each key; keys are equal if their bits are equal.
        top: return only the first `top` elements of the result.
        memory: the most host memory to work in, beside the arrays; None: half of what is available.
        gpu_memory: the most device memory.
        threads: the most cores to use; None: all.
        engine: "auto", "cpu" or "cuda".
        temporary: a folder, or several, for what does not fit in memory; None: $TMPDIR, else beside the output file,
            else /var/tmp.
        progress: see the module.
        stream: for an array in device memory, as segmented_sort.

    Returns:
        A Summary if output is a path; output, or its first elements if the result is shorter; a new array.

    Raises:
        ValueError: an argument or an input is wrong. OSError: a file cannot be read or written. MemoryError: there is
        too little memory. RuntimeError: a GPU failed, or the verification. All are of the class Error, with a hint.
    """
    if type(source) is numpy.ndarray and unique is False and dtype is order is top is None \
            and memory is gpu_memory is temporary is stream is None:
        result = sorted_in_memory(source, output, descending, threads, engine, progress)
        if result is not None:
            return result
    if _device.is_on_device(source):
        if (dtype, order, top, unique) != (None, None, None, False):
            raise usage("sort", "in device memory there is no dtype, order, top and unique", "leave them out")
        return _device.sort_keys("sort", source, output, descending, stream)
    if stream is not None:
        raise usage("stream", "the source is not in device memory", "leave it out")
    words = option_words(order=order, descending=descending, unique=unique, top=top, memory=memory,
                         gpu_memory=gpu_memory, threads=threads, engine=engine, temporary=temporary)
    return _run(Inputs(source, dtype), words, output, progress, temporary)


def merge(sources: Sequence[Source], output: Output = None, *, dtype: Any = None,
          order: Union[str, Sequence[str], None] = None, descending: bool = False, unique: bool = False,
          top: Optional[int] = None, memory: Size = None, threads: Optional[int] = None, temporary: Any = None,
          progress: Union[bool, Watch, None] = None) -> Any:
    """Merges sources that are sorted already. Arguments and result are those of sort, but without engine and
    gpu_memory: the CPU merges.

    Raises: as sort; ValueError if a source is not sorted.
    """
    words = option_words(order=order, descending=descending, unique=unique, top=top, memory=memory, threads=threads,
                         temporary=temporary)
    return _run(Inputs(sources, dtype), [*words, b"--merge"], output, progress, temporary)


def check(source: Source, *, dtype: Any = None, order: Union[str, Sequence[str], None] = None,
          descending: bool = False, unique: bool = False, threads: Optional[int] = None,
          progress: Union[bool, Watch, None] = None) -> Checked:
    """Whether a file or an array is sorted; with `unique`, whether no key repeats, either.

    Raises: as sort.
    """
    words = option_words(order=order, descending=descending, unique=unique, threads=threads)
    call = Inputs(source, dtype).call([*words, b"--check"])
    with Watching(progress) as watch:
        found = call.check(watch)
    if found.in_order:
        return Checked(True, found.elements, found.distinct, found.fingerprint, None, None, None)
    return Checked(False, None, None, None, found.position, found.value, found.value_before)


def _described(array: Any) -> str:
    if not isinstance(array, numpy.ndarray) or isinstance(array, numpy.ma.MaskedArray):
        return f"a {type(array).__name__}"
    return f"{array.dtype} with {array.ndim} dimension{'' if array.ndim == 1 else 's'}"


def argsort(source: Any, output: Output = None, *, dtype: Any = None, order: Union[str, Sequence[str], None] = None,
            memory: Size = None, gpu_memory: Size = None, threads: Optional[int] = None, engine: str = "auto",
            temporary: Any = None, progress: Union[bool, Watch, None] = None, stream: Any = None) -> Any:
    """The indices that sort a one-dimensional array, a file, or a list of them, as numpy.argsort(kind="stable").

    For an array of numbers or times, the order is NumPy's: NaN and NaT last, -0 equal to +0. For files and lists, and
    if output is a path, the order is that of sort. Arrays larger than memory may be memmaps. For an array in device
    memory, the indices of each row of the last dimension are made there, in the total order of sort; they are int64,
    or of the type of output. Of the other arguments, only output and stream are used.

    Args:
        source: as for sort; the elements of a list count as one sequence.
        output: a path; an array for the indices, also a writable memmap, which may be longer; None for a new array.
        dtype, order: as for sort.
        memory: the most host memory to work in, beside the arrays; None: half of what is available.

    Returns:
        Indices of dtype uint32, or uint64 for more than 2**32 elements; a Summary if output is a path. An output array
        for text or compressed files has dtype uint64.

    Raises: as sort.
    """
    if _device.is_on_device(source):
        if (dtype, order) != (None, None):
            raise usage("argsort", "in device memory there is no dtype and order", "leave them out")
        return _device.argsort_keys("argsort", source, output, False, stream)
    if stream is not None:
        raise usage("stream", "the source is not in device memory", "leave it out")
    words = option_words(order=order, memory=memory, gpu_memory=gpu_memory, threads=threads, engine=engine,
                         temporary=temporary)
    if is_path(source) or isinstance(source, (list, tuple)):
        return _positions(Inputs(source, dtype), words, output, progress, temporary)
    if not isinstance(source, numpy.ndarray) or isinstance(source, numpy.ma.MaskedArray) or source.ndim != 1 \
            or not (source.dtype.kind in "SUV" or key_type(source.dtype)):
        raise usage("argsort", "needs a path, or a one-dimensional NumPy array of integers, float16, float32, "
                    f"float64, booleans, times, texts or records, not {_described(source)}",
                    "or a list of such sources")
    in_numpy_order = not is_path(output) and key_type(source.dtype) is not None and (dtype, order) == (None, None)
    return _positions(Inputs(source, dtype, in_numpy_order), words, output, progress, temporary)


def _positions(inputs: Inputs, words: List[bytes], output: Output, progress: Any, temporary: Any) -> Any:
    """By the program's --argsort. A new array is in the machine's byte order."""
    result = _run(inputs, [*words, b"--argsort"], output, progress, temporary)
    return result.astype(result.dtype.newbyteorder("="), copy=False) if output is None else result


def _copied(inputs: Inputs, words: List[bytes], place: str, progress: Any, stack: ExitStack) -> numpy.ndarray:
    """The result as an array: in memory if it needs at most a quarter of it, else mapped from a temporary file."""
    call = inputs.call(words)
    if call.bytes is None or call.bytes > call.memory_bytes // 4:
        return _into_temporary(call, inputs, place, progress, stack).reshape(-1)
    return _into_array(inputs, words, None, progress, None)


def _pieces(keys: numpy.ndarray, dtype: numpy.dtype) -> Iterator[Tuple[int, int]]:
    """Yields where each piece of `keys` begins and ends. A piece takes little memory, also as elements of `dtype`."""
    step = max(_CHUNK // dtype.itemsize, 1)
    return ((begin, min(begin + step, keys.size)) for begin in range(0, keys.size, step))


def _picked(keys: numpy.ndarray, pairs: bool) -> Iterator[numpy.ndarray]:
    """Of sorted keys that occur at most twice, yields those that occur twice, or those that occur once; in pieces."""
    bits = keys.view(f"V{keys.dtype.itemsize}")
    for begin, end in _pieces(keys, keys.dtype):
        first, last = max(begin, 1), min(end, keys.size - 1)
        repeats = numpy.zeros(end - begin + 1, bool)  # the key before it
        repeats[first - begin:last - begin + 1] = bits[first:last + 1] == bits[first - 1:last]
        yield keys[begin:end][repeats[1:] if pairs else ~(repeats[1:] | repeats[:-1])]


def _compared_texts(sides: List[numpy.ndarray], pairs: bool, merge: Callable[..., numpy.ndarray],
                    gather: Callable[..., numpy.ndarray]) -> numpy.ndarray:
    """The texts of both sides, or of the first alone. Sides are sorted and distinct; the program only merges them."""
    first = sides[0].dtype
    if first.kind != sides[1].dtype.kind:
        raise usage("sources", f"{first} and {sides[1].dtype} have no order together", "give sources of one kind")
    wide = numpy.result_type(first, sides[1].dtype).newbyteorder(first.byteorder)
    sides = [side if side.dtype == wide else gather((side[begin:end] for begin, end in _pieces(side, wide)), wide, side.size)
             for side in sides]
    common = gather(_picked(merge(sides), True), wide, min(side.size for side in sides))
    return common if pairs else gather(_picked(merge([sides[0], common]), False), first, sides[0].size)


def _in_byte_order(array: numpy.ndarray, dtype: numpy.dtype) -> numpy.ndarray:
    """The array in the byte order of `dtype`. Its elements may be changed: nobody else uses it."""
    other = array.dtype.newbyteorder()
    return array.byteswap(inplace=True).view(other) if array.dtype != dtype and other == dtype else array


def _compared(operation: bytes, a: Any, b: Any, output: Output, assume_sorted: bool, dtype: Any, progress: Any,
              temporary: Any, **options: Any) -> Any:
    if isinstance(output, numpy.ndarray):
        refuse_overlap(output, [*listed(a), *listed(b)])
    place = _place_of(temporary, output)
    words = option_words(temporary=place if temporary is None else temporary, **options)
    inputs = [Inputs(side, dtype) for side in (a, b)]
    if as_bool("assume_sorted", assume_sorted) and all(len(one.items) == 1 for one in inputs):
        known = [each for one in inputs for each in one.known_dtypes]
        is_mixed = len(set(known)) > 1 or (len(known) == 1 and dtype is None and is_big_endian(known[0]))  # raw: little
        if not is_mixed and not any(is_text(each) for each in known):
            both = [one.held[0] if one.held else one.items[0] for one in inputs]
            return _run(Inputs(both, dtype), [*words, b"--merge", operation], output, progress, temporary)
    distinct = [*words, b"--unique"] + [b"--merge"] * bool(assume_sorted)
    with ExitStack() as stack:
        first, second = (_copied(one, distinct, place, progress, stack) for one in inputs)
        sides = [first, _in_byte_order(second, first.dtype)]
        merging = [*words, b"--merge"]
        if not any(is_text(side.dtype) for side in sides):
            return _run(Inputs(sides), [*merging, operation], output, progress, temporary)
        texts = _compared_texts(sides, operation == b"--intersect",
                                lambda sides: _copied(Inputs(sides), merging, place, progress, stack),
                                lambda *pieces: _gathered(*pieces, place, stack))
        return _run(Inputs(texts), merging, output, progress, temporary)


def intersect1d(a: Sources, b: Sources, output: Output = None, *, assume_sorted: bool = False, dtype: Any = None,
                memory: Size = None, threads: Optional[int] = None, temporary: Any = None,
                progress: Union[bool, Watch, None] = None) -> Any:
    """The distinct keys that are in both sources, sorted, as numpy.intersect1d. Keys are equal if their bits are; the
    sources may have different byte orders, and the result has that of `a`. Texts are compared, too, but not records.

    Args:
        assume_sorted: both sources are sorted already, and are read once. Without it, each source is sorted into a
            copy: in memory if the copy takes at most a quarter of `memory`, else in a temporary file. With it, texts,
            lists of several sources, and sources of different byte orders are copied, too, but only merged.

    Returns, raises: as sort.
    """
    return _compared(b"--intersect", a, b, output, assume_sorted, dtype, progress, temporary, memory=memory,
                     threads=threads)


def setdiff1d(a: Sources, b: Sources, output: Output = None, *, assume_sorted: bool = False, dtype: Any = None,
              memory: Size = None, threads: Optional[int] = None, temporary: Any = None,
              progress: Union[bool, Watch, None] = None) -> Any:
    """The distinct keys that are in `a` and not in `b`, sorted, as numpy.setdiff1d.

    Args, returns, raises: as intersect1d.
    """
    return _compared(b"--subtract", a, b, output, assume_sorted, dtype, progress, temporary, memory=memory,
                     threads=threads)


def _begins_of_groups(keys: numpy.ndarray) -> numpy.ndarray:
    """Where a key differs from the one before it, looked for in pieces."""
    bits = keys.view(f"V{keys.dtype.itemsize}")
    begins = [numpy.zeros(min(keys.size, 1), numpy.intp)]
    for begin in range(1, keys.size, _CHUNK):
        end = min(begin + _CHUNK, keys.size)
        begins.append(begin + numpy.flatnonzero(bits[begin:end] != bits[begin - 1:end - 1]))
    return numpy.concatenate(begins)


def unique(source: Sources, output: Output = None, *, counts: bool = False, dtype: Any = None, memory: Size = None,
           gpu_memory: Size = None, threads: Optional[int] = None, engine: str = "auto", temporary: Any = None,
           progress: Union[bool, Watch, None] = None) -> Any:
    """The distinct keys, sorted, as numpy.unique. Keys are equal if their bits are.

    Args:
        counts: also count how often each occurs.

    Returns: as sort; with counts a pair of arrays, the keys and their counts (int64), or the Summary of a file that
        has both: records of `key` and `count`, or lines of the count, a tab and the key.

    Raises: as sort.
    """
    options = {"memory": memory, "gpu_memory": gpu_memory, "threads": threads, "engine": engine,
               "temporary": temporary}
    if not as_bool("counts", counts):
        return sort(source, output, unique=True, dtype=dtype, progress=progress, **options)
    if output is not None and not is_path(output):
        raise usage("output", "counts come as a pair of new arrays", "leave out output, or give a path")
    inputs = Inputs(source, dtype)
    if output is None and any(is_text(known) for known in inputs.known_dtypes):
        return _counted_texts(sort(source, progress=progress, **options))
    words = option_words(unique=True, **options)
    result = _run(inputs, [*words, b"--count"], output, progress, temporary)
    if output is not None:
        return result
    return result["key"].copy(), result["count"].astype(numpy.int64)


def _counted_texts(keys: numpy.ndarray) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """Of sorted texts, which the program sorts as records, and does not count."""
    begins = _begins_of_groups(keys.ravel())
    return keys.ravel()[begins], numpy.diff(begins, append=keys.size).astype(numpy.int64)
