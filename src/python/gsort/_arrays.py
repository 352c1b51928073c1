"""Objects that hold an array, as NumPy arrays: lists of numbers, buffers, and objects with the protocol of NumPy, Arrow or
DLPack. Imports none of their libraries, and copies only if it must. No value changes: where NumPy would round a number, or
guess, it is an error."""

from __future__ import annotations

import array as buffers
import ctypes
import mmap
import os
from typing import Any, Dict, List, Optional, Union

import numpy

from ._errors import has_type, usage
from ._outputs import reserving

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
_SOURCES = "give a path, an array, or a list of paths and arrays"
_ON_THE_CPU = "give it as a NumPy array"
_PROTOCOLS = ("__array__", "__array_interface__", "__arrow_c_array__", "__arrow_c_stream__", "__dlpack__")
_BUFFERS = (buffers.array, memoryview, bytearray, mmap.mmap, ctypes.Array)


def is_path(source: object) -> bool:
    return isinstance(source, (str, bytes, os.PathLike))


def with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiouAEIO' else 'a'} {noun}"


def _has_protocol(value: object) -> bool:
    return any(hasattr(value, name) for name in _PROTOCOLS)


def _is_buffer(value: Any) -> bool:
    if isinstance(value, _BUFFERS):
        return True
    try:
        memoryview(value).release()
    except (BufferError, TypeError, ValueError):
        return False
    return True


def holds_elements(value: object) -> bool:
    return not isinstance(value, numpy.generic) and (_has_protocol(value) or _is_buffer(value))


def listed(source: Any, dtype: Optional[numpy.dtype] = None) -> List[Any]:
    """The sources of a call, as paths and NumPy arrays. A list with a path or an array in it is one of sources; any other
    list is the array that NumPy makes of it, of `dtype` if that is given."""
    if hasattr(source, "__next__") and not hasattr(source, "read"):  # a file would give its lines
        source = list(source)
    if not isinstance(source, (list, tuple)):
        return [source if is_path(source) else as_array(source, dtype)]
    if not source:
        raise usage("sources", "the list is empty", _SOURCES)
    if any(is_path(item) or holds_elements(item) for item in {type(item): item for item in source}.values()):
        return each_of(source, dtype)
    return [_of_numbers(source, dtype)]


def each_of(sources: Any, dtype: Optional[numpy.dtype] = None) -> List[Any]:
    """The same where a list has sources alone, so that lists in it are such."""
    if hasattr(sources, "__next__"):
        sources = list(sources)
    if not isinstance(sources, (list, tuple)) or not sources:
        return listed(sources, dtype)
    return [item if is_path(item) else as_array(item, dtype) for item in sources]


def as_array(source: Any, dtype: Optional[numpy.dtype] = None) -> numpy.ndarray:
    """The array that an object holds. `dtype` is that of the elements of a buffer of bytes, or of a list."""
    if isinstance(source, numpy.ndarray):  # a matrix has two dimensions, whatever is done with it
        return source if isinstance(source, (numpy.memmap, numpy.ma.MaskedArray)) else numpy.asarray(source)
    if isinstance(source, (list, tuple, range)):
        return _of_numbers(source, dtype)
    if isinstance(source, _BUFFERS) or (not _has_protocol(source) and _is_buffer(source)):
        return _of_buffer(source, dtype)
    if hasattr(type(source), "columns"):
        raise usage("sources", f"a source is {with_article(type(source).__name__)}", "give one of its columns, or its records: "
                    ".to_records(index=False) of pandas, .to_numpy(structured=True) of Polars")
    try:
        return _by_protocol(source)
    except (BufferError, RuntimeError, TypeError) as error:  # of another library
        raise usage("sources", f"{with_article(type(source).__name__)} gives no array: {error}", _ON_THE_CPU) from None


def sole(source: Any, dtype: Optional[numpy.dtype] = None) -> Any:
    """The source, if it is one path or array; else the list of them."""
    sources = listed(source, dtype)
    return sources[0] if len(sources) == 1 else sources


def flattened(source: Any) -> Any:
    """Arrays of several dimensions, alone or in a list, as such of one."""
    if isinstance(source, list):
        return [flattened(item) for item in source]
    return source.reshape(-1) if isinstance(source, numpy.ndarray) and source.ndim > 1 else source


def as_output(output: Any) -> Any:
    """An output as a path, an array, or None. The array has the memory of a buffer, or of a tensor on the CPU."""
    if output is None or is_path(output) or isinstance(output, numpy.ndarray):
        return output
    if not isinstance(output, numpy.generic) and (hasattr(output, "__dlpack__") or _is_buffer(output)):
        return in_writable_memory(output, as_array(output))
    axis = "; axis is an argument with a name" if type(output) is int else ""
    raise has_type("output", output, f"give a path, an array, or None{axis}")


def in_writable_memory(holder: Any, array: numpy.ndarray) -> numpy.ndarray:
    """The array of an object, or the same as __array__ gives it: NumPy says of old DLPack capsules that they are read-only."""
    if array.flags.writeable or not hasattr(holder, "__array__"):
        return array
    other = numpy.asarray(holder)
    return other if other.flags.writeable and numpy.may_share_memory(other, array) else array


def _by_protocol(source: Any) -> numpy.ndarray:
    has_numpy_dtype = isinstance(getattr(source, "dtype", None), numpy.dtype)
    if not has_numpy_dtype:  # else Arrow would lose NaN, and may need a library
        for name, read in ("__arrow_c_array__", _of_arrow_array), ("__arrow_c_stream__", _of_arrow_stream):
            if hasattr(source, name):
                try:
                    exported = getattr(source, name)()
                except ImportError:  # pandas needs pyarrow for it
                    continue
                return read(exported)
        if hasattr(source, "__dlpack__"):
            return numpy.from_dlpack(source)
        if hasattr(source, "isna") and not isinstance(getattr(source.dtype, "na_value", None), float):  # pandas: not NaN
            _require_no_nulls(int(numpy.count_nonzero(source.isna())), type(source).__name__)
    if isinstance(source, type) or not any(hasattr(source, name) for name in _PROTOCOLS[:2]):
        raise _no_source(source)
    array = numpy.asarray(source)
    wanted = getattr(source, "dtype", array.dtype)
    if array.dtype not in (wanted, getattr(wanted, "numpy_dtype", None)):
        raise usage("sources", f"{with_article(type(source).__name__)} of dtype {wanted} becomes an array of {array.dtype}",
                    "remove missing values, or convert it to a NumPy dtype: .to_numpy(dtype=...)")
    return array


def _no_source(source: object) -> Exception:
    hint = "give one of its arrays, as source[name]" if hasattr(source, "files") else _SOURCES
    return usage("sources", f"a source is {with_article(type(source).__name__)}", hint)


def _require_no_nulls(nulls: int, kind: str) -> None:
    if nulls:
        raise usage("sources", f"the {kind} has {nulls:,} null{'s' * (nulls > 1)}, without a place in the order",
                    "remove them first: .drop_nulls() of Polars, .drop_null() of pyarrow, .dropna() of pandas; or fill them")


def _of_buffer(source: Any, dtype: Optional[numpy.dtype]) -> numpy.ndarray:
    view = memoryview(source)
    if dtype is None or view.format not in ("B", "b", "c") or not view.c_contiguous:
        try:
            return numpy.asarray(view)
        except ValueError as error:
            raise usage("sources", f"a {type(source).__name__} gives no array: {error}", _ON_THE_CPU) from None
    if view.nbytes % dtype.itemsize:
        raise usage("sources", f"the size, {view.nbytes} bytes, is not a multiple of the element size, {dtype.itemsize}",
                    "check the dtype")
    return numpy.asarray(view).reshape(-1).view(dtype)


def _of_numbers(source: Any, dtype: Optional[numpy.dtype]) -> numpy.ndarray:
    try:
        array: numpy.ndarray = numpy.array(source)
    except OverflowError as error:
        raise usage("sources", f"numbers of the {type(source).__name__} would overflow: {error}",
                    "give numpy.array(source, dtype=...)") from None
    except (TypeError, ValueError) as error:
        raise usage("sources", f"NumPy makes no array of the {type(source).__name__}: {error}",
                    "give numbers, or lists of one length") from None
    if array.dtype.kind == "O":
        raise usage("sources", f"no NumPy dtype holds all elements of the {type(source).__name__}",
                    "give numpy.array(source, dtype=...)")
    if array.dtype.kind in "fcmM" and _is_changed(source, array):
        change = "overflow" if array.dtype.kind in "mM" else "be rounded"
        raise usage("sources", f"as {array.dtype}, numbers of the {type(source).__name__} would {change}",
                    "give numpy.array(source, dtype=...)")
    return array if dtype is None else _exactly(array, dtype)


def _is_changed(source: Any, array: numpy.ndarray) -> bool:
    """Whether NumPy has made a float of an integer that is none, or a time of one that is too far for its unit."""
    items = numpy.array(source, object).flat
    if array.dtype.kind in "mM":
        return any(isinstance(given, numpy.generic) and given == given and made.astype(given.dtype) != given
                   for given, made in zip(items, array.flat))
    return any(isinstance(given, (int, numpy.integer)) and int(given) != made
               for given, made in zip(items, array.ravel().tolist()))


def _exactly(array: numpy.ndarray, dtype: numpy.dtype) -> numpy.ndarray:
    try:
        with numpy.errstate(all="ignore"):
            wanted = array.astype(dtype)
            is_same = bool(((wanted == array) & (wanted.astype(array.dtype) == array)
                            | (array != array) & (wanted != wanted)).all())
    except (TypeError, ValueError, OverflowError):
        is_same = False
    if not is_same:
        raise usage("dtype", f"numbers of the list, {array.dtype}, do not fit in {dtype}", "leave it out, or give another")
    return wanted


class _Schema(ctypes.Structure):
    """ArrowSchema of Arrow's C data interface."""
    _fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_void_p), ("metadata", ctypes.c_void_p),
                ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p),
                ("dictionary", ctypes.c_void_p), ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
                ("private", ctypes.c_void_p)]


class _Array(ctypes.Structure):
    """ArrowArray."""
    _fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.c_void_p),
                ("dictionary", ctypes.c_void_p), ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
                ("private", ctypes.c_void_p)]


class _Stream(ctypes.Structure):
    """ArrowArrayStream."""
    _fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
                ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)),
                ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
                ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("private", ctypes.c_void_p)]


# Arrow's formats; those of times without a time zone.
_TYPES_OF_ARROW = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8", "e": "f2", "f": "f4",
                   "g": "f8", "b": "?", "tdD": "M8[D]", "tdm": "M8[ms]", "tss:": "M8[s]", "tsm:": "M8[ms]", "tsu:": "M8[us]",
                   "tsn:": "M8[ns]", "tDs": "m8[s]", "tDm": "m8[ms]", "tDu": "m8[us]", "tDn": "m8[ns]"}


def pointer_of(capsule: Any, name: bytes) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, name))


class _Released:
    """A structure that a producer has filled, and whose last user calls its release."""

    def __init__(self, structure: Any) -> None:
        self.structure = structure

    def __del__(self) -> None:
        if self.structure.release:
            self.structure.release(ctypes.addressof(self.structure))


def _of_arrow_array(capsules: Any) -> numpy.ndarray:
    schema, array = capsules
    dtype = _dtype_of_arrow(_Schema.from_address(pointer_of(schema, b"arrow_schema")))
    return _of_arrow(_Array.from_address(pointer_of(array, b"arrow_array")), dtype, array)


def _of_arrow_stream(capsule: Any) -> numpy.ndarray:
    address = pointer_of(capsule, b"arrow_array_stream")
    stream = _Stream.from_address(address)

    def get(name: str, structure: Any) -> Any:
        if getattr(stream, name)(address, ctypes.addressof(structure)) != 0:
            raise RuntimeError((stream.get_last_error(address) or b"the Arrow stream has failed").decode(errors="replace"))
        return _Released(structure)

    schema = get("get_schema", _Schema())
    dtype = _dtype_of_arrow(schema.structure)
    pieces = []
    while (piece := get("get_next", _Array())).structure.release:
        pieces.append(_of_arrow(piece.structure, dtype, piece))
    if len(pieces) == 1:
        return pieces[0]
    with reserving("a copy of a source", "give a list of its chunks"):
        return numpy.concatenate([numpy.empty(0, dtype), *pieces])


def _metadata_of_arrow(schema: _Schema) -> Dict[bytes, bytes]:
    """A number of pairs, and their texts; each has its length, an int32, before it."""
    if not schema.metadata:
        return {}
    texts, place = [], schema.metadata + 4
    for _ in range(2 * ctypes.c_int32.from_address(schema.metadata).value):
        texts.append(ctypes.string_at(place + 4, ctypes.c_int32.from_address(place).value))
        place += 4 + len(texts[-1])
    return dict(zip(texts[::2], texts[1::2]))


def _dtype_of_arrow(schema: _Schema) -> numpy.dtype:
    letters = schema.format.decode(errors="replace")
    extension = _metadata_of_arrow(schema).get(b"ARROW:extension:name")
    if letters not in _TYPES_OF_ARROW or schema.dictionary or extension:
        hint = "give numbers, booleans, dates, or times without a time zone; of texts, numpy.array(source, str)"
        kind = "'dictionary'" if schema.dictionary else f"'{extension.decode(errors='replace') if extension else letters}'"
        raise usage("sources", f"NumPy has no type for an Arrow array of type {kind}", hint)
    return numpy.dtype(_TYPES_OF_ARROW[letters])


def _of_arrow(array: _Array, dtype: numpy.dtype, owner: object) -> numpy.ndarray:
    """The elements of an Arrow array, which lives as long as `owner`: a view, except for booleans and dates."""
    def memory(number: int, size: int) -> numpy.ndarray:
        address = array.buffers[number]
        if not address or not size:
            return numpy.empty(0, "u1")
        room: Any = (ctypes.c_uint8 * size).from_address(address)
        room.owner = owner
        found: numpy.ndarray = numpy.frombuffer(room, "u1")
        found.flags.writeable = False
        return found

    def bits(number: int) -> numpy.ndarray:
        found = memory(number, (end + 7) // 8)
        return numpy.asarray(numpy.unpackbits(found, count=min(end, 8 * found.size), bitorder="little")[array.offset:])

    end = array.offset + array.length
    nulls = array.null_count
    if nulls < 0:  # they are not counted yet
        valid = bits(0)
        nulls = int(valid.size - numpy.count_nonzero(valid))
    _require_no_nulls(nulls, "Arrow array")
    if dtype.kind == "b":
        return bits(1).view(bool)
    stored = numpy.dtype("i4") if dtype == numpy.dtype("M8[D]") else dtype
    return memory(1, end * stored.itemsize).view(stored)[array.offset:].astype(dtype, copy=False)

