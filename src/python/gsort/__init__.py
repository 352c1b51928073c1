"""Sorts arrays and files of binary numbers, also larger than memory, on all cores or on an NVIDIA GPU.

    import gsort
    ascending = gsort.sort(array)                             # an array like numpy.sort(array)
    summary = gsort.sort("dump.u64", "sorted.u64", memory="2G")
    mapped = summary.memmap()                                 # the file, as an array

Sources are paths, arrays (numpy.memmap, too), lists of numbers, buffers, objects that hold an array (of pandas, Polars,
pyarrow, PyTorch), or lists and iterators of these. Every result is verified, except those in device memory.
Floats are in numeric order, as in NumPy: -0 equals 0, and all NaN are equal and come last, with descending first.
float_order="total" is IEEE 754's total order: -NaN, -inf, ..., -0, +0, ..., +inf, +NaN. Sizes of memory are bytes, or
texts such as "2G" and "50%". `progress` is None (a bar in a terminal or notebook), True, False, or a function. gsort
calls it with a Progress ten times a second, and once at the end, before an output file gets its name. If it raises, the
sort ends and no regular file has changed, but a pipe or an output array may already have the result. Ctrl-C ends a
sort, too, and leaves no output. Functions may be called from several threads; they release the interpreter's lock while
they work.
"""

from __future__ import annotations

import functools
import inspect
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Callable, Optional, Sequence, Tuple, TypeVar, Union

import numpy

from . import _device
from ._arrays import Path, as_output, each_of, flattened, in_writable_memory, is_path, sole
from ._axes import arranged, index_dtype, is_table, positions_of_rows, require_kind, require_place
from ._device import segmented_argsort, segmented_sort
from ._distinct import counted_texts, indexed
from ._errors import (CorruptError, DataError, DeniedFileError, DeviceError, Error, FileError, MissingFileError,
                      ResourceError, UsageError, has_type, usage)
from ._in_memory import argsorted_in_memory, sorted_in_memory
from ._outputs import reserving
from ._progress import Progress, Watch, Watching
from ._results import Summary, copied, place_of, positions, run
from ._search import found
from ._sets import compared
from ._shuffle import seed_word, shuffled
from ._sources import Inputs, as_bool, is_text, key_type, option_words, require_dtype, wanted_dtype

__version__ = metadata.version("gsort-external")
__all__ = ["argsort", "check", "intersect1d", "merge", "searchsorted", "segmented_argsort", "segmented_sort",
           "setdiff1d", "shuffle", "sort", "sort_pairs", "unique", "Checked", "Progress", "Summary", "Error", "UsageError",
           "DataError", "FileError", "MissingFileError", "DeniedFileError", "ResourceError", "DeviceError", "CorruptError"]

Size = Union[int, str, None]
Output = Union[Path, numpy.ndarray, None]
Order = Union[str, int, Sequence[Union[str, int]], None]
_Function = TypeVar("_Function", bound=Callable[..., Any])
# Names that NumPy and the program have for arguments.
_ALIASES = {"out": "output", "r": "descending", "reverse": "descending", "parallel": "threads", "buffer_size": "memory",
            "S": "memory", "temporary_directory": "temporary", "return_counts": "counts"}


def _with_aliases(function: _Function) -> _Function:
    """Gives arguments their other names. Errors about sources name the first argument."""
    first = next(iter(inspect.signature(function).parameters))

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        for alias in _ALIASES.keys() & named.keys() if named else ():
            if _ALIASES[alias] in named:
                raise usage(alias, f"is another name of {_ALIASES[alias]}", "give one of them")
            named[_ALIASES[alias]] = named.pop(alias)
        try:
            return function(*arguments, **named)
        except UsageError as error:
            error.set_argument(first)
            raise

    return call  # type: ignore[return-value]


@dataclass(frozen=True)
class Checked:
    """The result of a check. True if the source is sorted.

    Attributes:
        in_order: whether the source is sorted.
        elements: their number; like distinct and fingerprint None if the source is not sorted.
        distinct: the number of distinct keys.
        fingerprint: of all elements, as `gsort --fingerprint` prints it.
        position: of the first element that must come before its predecessor, from 0; like value and value_before None
            if the source is sorted.
        value: that element, as text.
        value_before: its predecessor, as text.
    """

    in_order: bool
    elements: Optional[int]
    distinct: Optional[int]
    fingerprint: Optional[str]
    position: Optional[int]
    value: Optional[str]
    value_before: Optional[str]

    def __bool__(self) -> bool:
        return self.in_order


@_with_aliases
def sort(source: Any, output: Output = None, *, axis: Optional[int] = -1, kind: Optional[str] = None, dtype: Any = None,
         order: Order = None, descending: bool = False, float_order: str = "numeric",
         unique: bool = False, top: Optional[int] = None, memory: Size = None, gpu_memory: Size = None,
         threads: Optional[int] = None, engine: str = "auto", temporary: Any = None,
         progress: Union[bool, Watch, None] = None, stream: Any = None) -> Any:
    """Sorts files and arrays into one result.

    Args:
        source: a path, an array, or a list or iterator of them, which is read as one sequence. A text in a list is
            a path; a list without paths and arrays is an array of its numbers. Other objects are read by the buffer
            protocol, __array__, __array_interface__, __arrow_c_array__, __arrow_c_stream__, or __dlpack__ on the CPU;
            gsort copies them only if it must, and without a change of a value. The rows of a two-dimensional .npy file are
            sorted each by itself. An array that is written to a .npy file becomes rows: (2, 3, 4) becomes (6, 4). An array
            in device memory (CuPy, PyTorch, JAX: __cuda_array_interface__ or __dlpack__) of keys of 8 to 64 bits is sorted
            there, into output or a new array of that library; of the other arguments, only descending, float_order and
            stream are used.
        output: a path (the file appears whole or not at all, and may be a source); an array or buffer, also a writable
            memmap, that receives the result, contiguous unless axis is given; None for a new array. If it is the source
            (the same object), that is sorted in place, whatever its strides are: without a copy if it is contiguous, of
            numbers, and sorted along the last axis, and no memory is given; else by a copy, which is a temporary file if
            it needs more than a quarter of the memory.
        axis: the dimension of one array that is sorted, as in NumPy; None sorts all elements as one row. The result is
            a view of another array if that is not the last one.
        kind: one of NumPy's words, which changes nothing: every sort is stable.
        dtype: the NumPy dtype of the elements of raw files. Without it, the suffix gives the type (dump.u64), and files
            whose suffixes name different types are an error. If the suffix of a source differs from dtype, or that of
            output from the type of the result, a UserWarning says so.
        order: the field of records to sort by, or several; "-name" sorts a field in descending order, unless a field
            has this name; None sorts by all fields. Records that are equal in these stay in the order of the source;
            NumPy compares the other fields, too. A number is a column of a table, an array or .npy file of two
            dimensions: [2, 0] or ["-2", 0] sorts whole rows, also with unique.
        descending: the greatest first; records with equal fields stay in the order of the source.
        float_order: "numeric" or "total"; see the module.
        unique: keep one of each key.
        top: return only the first `top` elements of the result.
        memory: the most host memory to work in, in addition to the arrays; None: half of the available memory.
        gpu_memory: the most device memory.
        threads: the most cores to use; None: all.
        engine: "auto", "cpu" or "cuda".
        temporary: a folder, or several, for data that does not fit in memory; None: $TMPDIR, else beside the output file,
            else /var/tmp.
        progress: None (a bar in a terminal or notebook), True, False, or a function that is called with a Progress; see
            help(gsort).
        stream: for an array in device memory, as segmented_sort.

    Returns:
        A Summary if output is a path; output, or its first elements if the result is shorter; a new array.

    Raises:
        ValueError: an argument or an input is wrong. OSError: a file cannot be read or written. MemoryError: there is
        too little memory. RuntimeError: a GPU failed, or the verification. All are of the class Error, with a hint.
    """
    require_kind(kind)
    if type(source) is not numpy.ndarray:
        if _device.is_on_device(source):
            if (dtype, order, top, unique, axis) != (None, None, None, False, -1):
                raise usage("sort", "in device memory there is no dtype, order, top, unique and axis", "leave them out")
            return _device.sort_keys("sort", source, output, descending, stream, float_order=float_order)
        source, output = _sole(source, output, dtype)
    is_plain = type(source) is numpy.ndarray or (output is source and isinstance(source, numpy.memmap))
    if is_plain and axis == -1 and unique is False and dtype is order is top is None \
            and memory is gpu_memory is temporary is stream is None:
        result = sorted_in_memory(source, output, descending, float_order, threads, engine, progress)
        if result is not None:
            return result
    if stream is not None:
        raise usage("stream", "the source is not in device memory", "leave it out")
    words = option_words(order=order, descending=descending, float_order=float_order, unique=unique, top=top,
                         memory=memory, gpu_memory=gpu_memory, threads=threads, engine=engine, temporary=temporary)
    given, (source, moved) = source, arranged(source, axis, order)
    is_in_place = output is given and top is None and not unique
    if not isinstance(source, numpy.ndarray) or output is None or not (is_in_place or moved != -1):
        result = run(Inputs(source, dtype), words, output, progress, temporary)
        return result if moved == -1 else numpy.moveaxis(result, -1, moved)
    require_place(output, given, given.dtype, given.reshape(-1).shape if axis is None else given.shape)
    with ExitStack() as stack:
        result = copied(Inputs(source, dtype), words, place_of(temporary), progress, stack)
        output[...] = numpy.moveaxis(result.reshape(source.shape), -1, moved)
    return output


def _sole(source: Any, output: Any, dtype: Any) -> Tuple[Any, Any]:
    """The source as a path, an array, or a list of them, and the output, which stays the same as the source if it is."""
    array, place = sole(source, wanted_dtype(dtype)), as_output(output)
    if output is not source or is_path(source):
        return array, place
    array = source if isinstance(source, numpy.ndarray) else in_writable_memory(source, array)
    return array, array


@_with_aliases
def merge(sources: Any, output: Output = None, *, dtype: Any = None,
          order: Order = None, descending: bool = False, float_order: str = "numeric",
          unique: bool = False, counts: bool = False, top: Optional[int] = None, memory: Size = None,
          threads: Optional[int] = None, temporary: Any = None, progress: Union[bool, Watch, None] = None) -> Any:
    """Merges sources that are sorted already. Arguments and result are those of sort, but without axis, kind, engine and
    gpu_memory: the CPU merges. Each list in `sources` is a source.

    Args:
        counts: with unique, also count how often each key occurs. Without unique, sources are keys with their counts:
            files that gsort.unique wrote, or arrays with the fields `key` and `count`. The counts of equal keys are added.

    Returns: as sort; with counts as gsort.unique.

    Raises: as sort; ValueError if a source is not sorted.
    """
    words = option_words(order=order, descending=descending, float_order=float_order, unique=unique, top=top,
                         memory=memory, threads=threads, temporary=temporary)
    words += [b"--merge"] + [b"--count"] * as_bool("counts", counts)
    if counts:
        _refuse_array_of_counts(output)
    result = run(Inputs(each_of(sources, wanted_dtype(dtype)), dtype), words, output, progress, temporary)
    return _in_two_arrays(result) if counts and output is None else result


def _refuse_array_of_counts(output: Any) -> None:
    if output is not None and not is_path(output):
        raise usage("output", "counts come as a pair of new arrays", "leave out output, or give a path")


def _in_two_arrays(counted: numpy.ndarray) -> Tuple[numpy.ndarray, numpy.ndarray]:
    return counted["key"].copy(), counted["count"].astype(numpy.int64)


@_with_aliases
def check(source: Any, *, axis: Optional[int] = -1, dtype: Any = None, order: Order = None,
          descending: bool = False, float_order: str = "numeric", unique: bool = False, threads: Optional[int] = None,
          progress: Union[bool, Watch, None] = None) -> Checked:
    """Whether a file or an array is sorted; with `unique`, whether no key repeats, either.

    Raises: as sort.
    """
    words = option_words(order=order, descending=descending, float_order=float_order, unique=unique, threads=threads)
    source = sole(source, wanted_dtype(dtype))
    if isinstance(source, list):
        raise usage("source", "is a list of several", "check each by itself")
    source, _ = arranged(source, axis, order)
    call = Inputs(source, dtype).call([*words, b"--check"])
    with Watching(progress) as watch:
        found = call.check(watch)
    if found.in_order:
        return Checked(True, found.elements, found.distinct, found.fingerprint, None, None, None)
    return Checked(False, None, None, None, found.position, found.value, found.value_before)


@_with_aliases
def argsort(source: Any, output: Output = None, *, axis: Optional[int] = -1, kind: Optional[str] = None, dtype: Any = None,
            order: Order = None, descending: bool = False, float_order: str = "numeric",
            top: Optional[int] = None, memory: Size = None, gpu_memory: Size = None, threads: Optional[int] = None,
            engine: str = "auto", temporary: Any = None, progress: Union[bool, Watch, None] = None, stream: Any = None) -> Any:
    """The indices that sort an array, a file, or a list of them, as numpy.argsort(kind="stable").

    The order is that of sort. Arrays larger than memory may be memmaps. For an array in device memory, the indices of
    each row of the last dimension are made there; they are int64, or of the type of output. The only other arguments with an
    effect are output, descending, float_order and stream.

    Args:
        source: as for sort; the elements of a list count as one sequence.
        output: a path; an array for the indices, also a writable memmap, which may be longer; None for a new array.
        axis: the dimension along which each row of an array is sorted; its rows are copied with their numbers.
        descending: the greatest first; equal ones stay in the order of the source.
        kind, dtype, order, float_order, top: as for sort.
        memory: the most host memory to work in, in addition to the arrays; None: half of the available memory.

    Returns:
        Indices of dtype uint32, or uint64 for more than 2**32 elements; a Summary if output is a path. An output array
        for text or compressed files has dtype uint64.

    Raises: as sort.
    """
    require_kind(kind)
    is_plain = type(source) is numpy.ndarray and dtype is order is top is memory is gpu_memory is temporary is stream is None
    if is_plain and (axis == -1 or (axis == source.ndim - 1 and type(axis) is int)):
        result = argsorted_in_memory(source, output, descending, float_order, threads, engine, progress)
        if result is not None:
            return result
    if _device.is_on_device(source):
        if (dtype, order, top, axis) != (None, None, None, -1):
            raise usage("argsort", "in device memory there is no dtype, order, top and axis", "leave them out")
        return _device.argsort_keys("argsort", source, output, descending, stream, float_order=float_order)
    if stream is not None:
        raise usage("stream", "the source is not in device memory", "leave it out")
    options = {"float_order": float_order, "memory": memory, "gpu_memory": gpu_memory, "threads": threads,
               "engine": engine, "temporary": temporary}
    source, moved = arranged(sole(source, wanted_dtype(dtype)), axis, order)
    if isinstance(source, numpy.ndarray) and source.ndim > 1 and not is_table(source, order):
        if top is not None:
            raise usage("top", "cannot be combined with rows of an array", "give array.ravel(), or leave it out")
        require_dtype(source, wanted_dtype(dtype))
        shape = numpy.moveaxis(source, -1, moved).shape
        if output is not None:
            output = as_output(output)
            require_place(output, source, index_dtype(source), shape)
        found = numpy.moveaxis(positions_of_rows(source, order, descending, progress, **options), -1, moved)
        if output is None:
            return found
        output[...] = found
        return output
    words = option_words(order=order, descending=descending, top=top, **options)
    in_numpy_order = isinstance(source, numpy.ndarray) and not is_path(output) and order is None \
        and float_order == "numeric" and key_type(source.dtype) is not None
    return positions(Inputs(source, dtype, in_numpy_order), words, output, progress, temporary)


@_with_aliases
def searchsorted(source: Any, values: Any, side: str = "left", *, dtype: Any = None, descending: bool = False) -> Any:
    """The indices where values would keep a sorted source in order, as numpy.searchsorted.

    Args:
        source: a raw or .npy file, or an array, of keys in one dimension. It may be larger than memory: few pages are
            read. It must be sorted, floats in numeric order; gsort.check says whether it is.
        values: any numbers, if the keys are numbers (compared exactly); else values of the type of the keys, or of a type
            that converts to it without a change.
        side: "left" is before equal keys, "right" after them.
        dtype, descending: as for sort.

    Raises: as sort.
    """
    return found(source, values, side, dtype, descending)


@_with_aliases
def shuffle(source: Any, output: Output = None, *, seed: Optional[int] = None, dtype: Any = None, top: Optional[int] = None,
            memory: Size = None, gpu_memory: Size = None, threads: Optional[int] = None, engine: str = "auto",
            temporary: Any = None, progress: Union[bool, Watch, None] = None) -> Any:
    """The elements in a random order: with random seeds, all orders are practically equally likely. Arrays are shuffled by
    elements of the first dimension, of any dtype but object, as numpy.random.Generator.permutation does; a two-dimensional .npy
    file by rows.

    Args:
        source, output: as for sort; output may be the source. A raw file takes the bytes of all elements; one of another
            kind takes one or two dimensions of elements that sort takes.
        seed: a whole number below 2**64. The same seed gives the same order of as many elements; None draws one.
        top: return only the first `top` elements: a sample without repeats.
        dtype, memory, gpu_memory, threads, engine, temporary, progress: as for sort.

    Returns, raises: as sort.
    """
    options = {"memory": memory, "gpu_memory": gpu_memory, "threads": threads, "engine": engine, "temporary": temporary}
    words = [*option_words(top=top, **options), seed_word(seed)]
    array, output = _sole(source, output, dtype)
    return shuffled(array, output, wanted_dtype(dtype), words, top is not None, progress, temporary)


def sort_pairs(array: Any, values: Any, output: Optional[Tuple[Any, Any]] = None, *, offsets: Any = None,
               descending: bool = False, float_order: str = "numeric", stream: Any = None) -> Tuple[Any, Any]:
    """Sorts keys, and their values with them, stably: two NumPy arrays, or two arrays in device memory.

    Args:
        array: the keys; in device memory of 8 to 64 bits, in a NumPy array of any dtype that sort takes. With several
            dimensions, each row of the last one is sorted separately.
        values: an array of the same shape; in device memory of elements of 4 or 8 bytes, else of any dtype.
        output: a pair of arrays, for keys and values, which may be `array` and `values`; in device memory only with one
            row and no offsets. None for new ones.
        descending: the greatest first; values of equal keys keep their order.
        float_order: as for sort. Equal floats keep their order.
        offsets, stream: as for segmented_sort; only for arrays in device memory.

    Returns: the pair of keys and values: output, or new arrays.

    Raises: as sort.
    """
    if output is not None and (not isinstance(output, (tuple, list)) or len(output) != 2):
        raise usage("output", "is not a pair of arrays", "give (keys, values)")
    if not isinstance(array, numpy.ndarray):
        if not _device.is_on_device(array):
            raise has_type("array", array, "give a NumPy array, or one in device memory")
        return _device.sort_pairs(array, values, output, offsets=offsets, descending=descending, float_order=float_order,
                                  stream=stream)
    if offsets is not None or stream is not None:
        raise usage("sort_pairs", "offsets and stream are for arrays in device memory", "leave them out")
    if not isinstance(values, numpy.ndarray) or values.shape != array.shape or array.ndim == 0:
        raise usage("values", f"are not a NumPy array of shape {array.shape}", "give one value for each key")
    places = [] if output is None else list(zip(output, (array, values)))
    for place, source in places:
        require_place(place, source, source.dtype, source.shape)
    if output is not None and numpy.may_share_memory(*output):
        raise usage("output", "its arrays share memory", "give two arrays")
    order = argsort(array, descending=descending, float_order=float_order)
    with reserving("the sorted pairs", "sort fewer at once"):
        keys, data = (numpy.take_along_axis(each, order, -1) for each in (array, values))
    if output is None:
        return keys, data
    for (place, _), result in zip(places, (keys, data)):
        place[...] = result
    return output


@_with_aliases
def intersect1d(a: Any, b: Any, output: Output = None, *, assume_sorted: bool = False, dtype: Any = None,
                float_order: str = "numeric", memory: Size = None, threads: Optional[int] = None,
                temporary: Any = None, progress: Union[bool, Watch, None] = None) -> Any:
    """The distinct keys that are in both sources, sorted, as numpy.intersect1d. The sources may have different byte
    orders, and the result has that of `a`. Two dtypes become the result of numpy.result_type, if it holds all values of
    both. Texts are compared, too, and records by all fields.

    Args:
        assume_sorted: both sources are sorted already, and are read once. Without it, each source is sorted into a
            copy: in memory if the copy takes at most a quarter of `memory`, else in a temporary file. With it,
            lists of several sources, and sources of different dtypes or byte orders are copied, too, but only merged.

    Returns, raises: as sort.
    """
    return compared(b"--intersect", a, b, output, assume_sorted, dtype, progress, temporary, float_order=float_order,
                    memory=memory, threads=threads)


@_with_aliases
def setdiff1d(a: Any, b: Any, output: Output = None, *, assume_sorted: bool = False, dtype: Any = None,
              float_order: str = "numeric", memory: Size = None, threads: Optional[int] = None,
              temporary: Any = None, progress: Union[bool, Watch, None] = None) -> Any:
    """The distinct keys that are in `a` and not in `b`, sorted, as numpy.setdiff1d.

    Args, returns, raises: as intersect1d.
    """
    return compared(b"--subtract", a, b, output, assume_sorted, dtype, progress, temporary, float_order=float_order,
                    memory=memory, threads=threads)


@_with_aliases
def unique(source: Any, output: Output = None, *, return_index: bool = False, return_inverse: bool = False,
           counts: bool = False, dtype: Any = None, float_order: str = "numeric", memory: Size = None,
           gpu_memory: Size = None, threads: Optional[int] = None, engine: str = "auto", temporary: Any = None,
           progress: Union[bool, Watch, None] = None) -> Any:
    """The distinct keys of all dimensions, sorted, as numpy.unique. Records are equal if all their fields are.

    Args:
        return_index, return_inverse: also where each first occurs in the flattened array, and the number of the key that
            each element is. Only for one array, with a new array as result.
        counts: also count how often each occurs.

    Returns: as sort; with counts a pair of arrays, the keys and their counts (int64), or the Summary of a file that
        has both: records of `key` and `count`, or lines of the count, a tab and the key. With return_index or
        return_inverse, a tuple of all that is wanted: keys, index, inverse, counts.

    Raises: as sort.
    """
    options = {"float_order": float_order, "memory": memory, "gpu_memory": gpu_memory, "threads": threads,
               "engine": engine, "temporary": temporary}
    wants = [as_bool(*pair) for pair in (("return_index", return_index), ("return_inverse", return_inverse),
                                         ("counts", counts))]
    array = sole(source, wanted_dtype(dtype))
    source = flattened(array)
    is_array = isinstance(array, numpy.ndarray)
    if any(wants[:2]) and not (is_array and output is None):
        raise usage("return_index or return_inverse", "needs one array as source, and makes new arrays",
                    "give numpy.load(path, mmap_mode='r') of a file, and no output")
    if any(wants) and is_array and output is None and (any(wants[:2]) or array.dtype.names):
        return indexed(array, argsort(source, dtype=dtype, progress=progress, **options), *wants, float_order == "numeric")
    if not counts:
        return sort(source, output, unique=True, dtype=dtype, progress=progress, **options)
    _refuse_array_of_counts(output)
    inputs = Inputs(source, dtype)
    if output is None and any(is_text(known) for known in inputs.known_dtypes):
        return counted_texts(sort(source, dtype=dtype, progress=progress, **options))
    words = option_words(unique=True, **options)
    result = run(inputs, [*words, b"--count"], output, progress, temporary)
    return _in_two_arrays(result) if output is None else result
