"""Arrays in device memory, by the interfaces that CuPy, PyTorch, JAX and Numba share: __cuda_array_interface__, or
__dlpack__ and __dlpack_device__. Nothing is copied, and nothing waits for the device.

All calls queue their work on one stream: `stream` if it is given, else that of the interface, else the current one of
CuPy or PyTorch, else the default stream."""

from __future__ import annotations

import ctypes
import math
import sys
from contextlib import nullcontext
from typing import Any, Optional, Tuple

import numpy

from . import _native
from ._arrays import pointer_of
from ._errors import usage
from ._sources import as_bool, is_big_endian, key_type

_CUDA, _CUDA_MANAGED = 2, 13  # of DLPack's devices
_READ_ONLY = 1  # of DLPack's flags
_LEGACY_STREAM = 1  # DLPack's and CUDA's number of the default stream
_KINDS = {0: "i", 1: "u", 2: "f", 4: "V", 6: "b"}  # of DLPack's types
_TYPES = "give one of integers, floats, dates or bools of 8 to 64 bits"
_NOT_CONTIGUOUS = "copy it: array.copy(), .contiguous()"


class _Tensor(ctypes.Structure):
    """DLTensor of dlpack.h."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned; before version 1 the tensor comes first, and there are no flags."""
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


def _dlpack_device(source: Any) -> Optional[int]:
    """The kind of device that an array with __dlpack__ is on."""
    if not hasattr(source, "__dlpack__") or not hasattr(source, "__dlpack_device__"):
        return None
    return int(source.__dlpack_device__()[0])


def _interface_of(source: Any) -> Any:
    """The facts of __cuda_array_interface__, if it knows the type; only DLPack describes bfloat16."""
    try:
        facts = source.__cuda_array_interface__
    except Exception:  # libraries have errors of their own for types that it lacks
        return None
    return None if facts["typestr"][1:] == "V2" and _dlpack_device(source) is not None else facts


def is_on_device(source: object) -> bool:
    if isinstance(source, (numpy.ndarray, type)):
        return False
    return _interface_of(source) is not None or _dlpack_device(source) in (_CUDA, _CUDA_MANAGED)


def _module_of(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def _current_stream(array: Any) -> Optional[int]:
    """The current stream of the library that an array belongs to, if it has one."""
    library = sys.modules.get(_module_of(array))
    if _module_of(array) == "torch" and library is not None:
        return int(library.cuda.current_stream(array.device).cuda_stream)
    if _module_of(array) == "cupy" and library is not None:
        return int(library.cuda.get_current_stream().ptr)
    return None


def stream_handle(stream: Any) -> Optional[int]:
    """A cudaStream_t: a number, or an object of PyTorch, CuPy, Numba or cuda.core."""
    if stream is None or isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr", "handle"):
        if hasattr(stream, name):
            handle = getattr(stream, name)
            return int(getattr(handle, "value", handle) or 0)
    raise usage("stream", f"a stream is not a {type(stream).__name__}", "give a number, or an object with __cuda_stream__")


def _order_streams(neighbour: int, earlier: int, later: int) -> None:
    """Makes work queued on `later` from now on wait for that on `earlier`; both are of the device that holds `neighbour`."""
    if (earlier or _LEGACY_STREAM) != (later or _LEGACY_STREAM):
        _native.order_streams(neighbour, earlier, later)


class DeviceArray:
    """The facts of an array: shape, dtype, address, size, and whether it is only read."""

    def __init__(self, array: Any, name: str, stream: Optional[int]) -> None:
        """With a stream the array is ready for work that is queued there."""
        self.stream = stream
        self._kept: Any = array  # DLPack's tensor lives as long
        self.is_bfloat16 = False
        facts = _interface_of(array)
        if facts is not None:
            self._read_interface(facts, array, name)
        else:
            self._read_dlpack(array, name)
        self.size = math.prod(self.shape)
        if _module_of(array) in ("jax", "jaxlib"):
            self.is_read_only = True

    def _read_interface(self, facts: Any, array: Any, name: str) -> None:
        self.shape: Tuple[int, ...] = tuple(facts["shape"])
        self.dtype = numpy.dtype(facts["typestr"])
        self.address, self.is_read_only = facts["data"]
        written_on = facts.get("stream") or _current_stream(array)
        if self.stream is None:
            self.stream = written_on
        elif written_on is not None and self.address:
            _order_streams(self.address, written_on, self.stream)
        if not self._is_contiguous(facts.get("strides"), self.dtype.itemsize) or facts.get("mask") is not None:
            raise usage(name, "the array in device memory is not contiguous", _NOT_CONTIGUOUS)

    def _read_dlpack(self, array: Any, name: str) -> None:
        if self.stream is None:
            self.stream = _current_stream(array)
        ready_on = self.stream or _LEGACY_STREAM
        try:
            capsule = array.__dlpack__(stream=ready_on, max_version=(1, 0))
        except TypeError:  # an older library
            capsule = array.__dlpack__(stream=ready_on)
        self._kept = capsule
        if '"dltensor_versioned"' in repr(capsule):
            managed = _Versioned.from_address(pointer_of(capsule, b"dltensor_versioned"))
            tensor, flags = managed.tensor, managed.flags
        else:
            tensor, flags = _Tensor.from_address(pointer_of(capsule, b"dltensor")), 0
        if tensor.device_type not in (_CUDA, _CUDA_MANAGED):
            raise usage(name, "the array is not in CUDA's device memory")
        kind = _KINDS.get(tensor.code)
        if tensor.lanes != 1 or kind is None or tensor.bits % 8 or (kind == "V" and tensor.bits != 16):
            raise usage(name, "the array's type is neither one of NumPy's nor bfloat16", _TYPES)
        self.shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
        self.dtype = numpy.dtype(f"{kind}{tensor.bits // 8}")
        self.is_bfloat16 = kind == "V"
        self.address = (tensor.data or 0) + tensor.byte_offset
        self.is_read_only = bool(flags & _READ_ONLY)
        if not self._is_contiguous(tensor.strides[:tensor.ndim] if tensor.strides else None, 1):
            raise usage(name, "the array in device memory is not contiguous", _NOT_CONTIGUOUS)

    def _is_contiguous(self, strides: Any, unit: int) -> bool:
        expected = unit
        for length, stride in reversed(list(zip(self.shape, strides or ()))):
            if length != 1 and stride != expected and math.prod(self.shape):
                return False
            expected *= length
        return True

    def words(self, name: str, descending: bool, float_order: str,
              offsets: Optional["DeviceArray"]) -> Tuple[int, int, int, str, bool, bool, bool, int]:
        """Address, rows, keys of a row, type, byte order, direction, order of floats, offsets: the first arguments of
        the native calls."""
        found = "bf16" if self.is_bfloat16 else key_type(self.dtype)
        if found is None or not self.shape:
            raise usage(name, f"an array of dtype {self.dtype} and {len(self.shape)} dimensions", _TYPES)
        row = self.shape[-1]
        rows = self.size // row if row else 0
        descending = as_bool("descending", descending)
        if offsets is not None:
            rows, row = offsets.size - 1, self.size
        if float_order not in ("numeric", "total"):
            raise usage(f"float_order {float_order!r}", "is not one of its values", "the values are numeric, total")
        return (self.address, rows, row, found, is_big_endian(self.dtype), descending, float_order == "total",
                0 if offsets is None else offsets.address)


class DeviceResult:
    """An array in device memory for users whose library makes none: it has __cuda_array_interface__ and __dlpack__."""

    def __init__(self, like: DeviceArray, dtype: numpy.dtype) -> None:
        self.shape, self.dtype = like.shape, dtype
        self._stream = like.stream or 0
        self._memory = _native.DeviceMemory(like.size * dtype.itemsize, like.address)

    @property
    def __cuda_array_interface__(self) -> Any:
        return {"version": 3, "typestr": self.dtype.str, "shape": self.shape, "data": (self._memory.address, False),
                "strides": None, "stream": self._stream or _LEGACY_STREAM}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return _CUDA, self._memory.device

    def __dlpack__(self, *, stream: Optional[int] = None, **more: Any) -> Any:
        if is_big_endian(self.dtype):
            raise BufferError("DLPack has no numbers of the other byte order")
        if stream != -1:  # which asks for no order
            _order_streams(self._memory.address, self._stream, stream or 0)
        return self._memory.tensor(self.shape, self.dtype.kind, 8 * self.dtype.itemsize)


def _stream_of_new(library: Any, array: Any, stream: Optional[int]) -> Any:
    """A context in which the library allocates arrays for work on `stream`. Memory allocated on the library's current
    stream may still be in use by work that is queued there."""
    handle = 0 if stream == _LEGACY_STREAM else stream  # as these libraries number the default stream
    if handle is None or handle == _current_stream(array):
        return nullcontext()
    if _module_of(array) == "torch":
        return library.cuda.stream(library.cuda.ExternalStream(handle, device=array.device))
    return library.cuda.ExternalStream(handle, array.device.id)


def _new_like(array: Any, facts: DeviceArray, dtype: numpy.dtype) -> Any:
    """An array of the same library, if that makes any, on the same device."""
    library = sys.modules.get(_module_of(array))
    if library is None or _module_of(array) not in ("torch", "cupy"):
        return DeviceResult(facts, dtype)
    with array.device if _module_of(array) == "cupy" else nullcontext(), _stream_of_new(library, array, facts.stream):
        if dtype == facts.dtype:
            return library.empty_like(array)
        return library.empty_like(array, dtype=getattr(library, dtype.name))


def _as_of(result: Any, array: Any) -> Any:
    """A DeviceResult as an array of the library of `array`, once its work is queued."""
    if not isinstance(result, DeviceResult):
        return result
    if _module_of(array) in ("jax", "jaxlib"):
        import jax  # type: ignore[import-not-found]
        return jax.dlpack.from_dlpack(result)
    if hasattr(array, "__array_namespace__"):
        namespace = array.__array_namespace__()
        if hasattr(namespace, "from_dlpack"):
            return namespace.from_dlpack(result)
    return result


def _writable(output: Any, name: str, like: DeviceArray, dtypes: Tuple[Any, ...]) -> DeviceArray:
    facts = DeviceArray(output, name, like.stream or 0)
    wanted = [numpy.dtype(dtype) for dtype in dtypes]
    if facts.shape != like.shape or facts.dtype not in wanted or facts.is_read_only:
        raise usage(name, f"an array of dtype {facts.dtype} and shape {facts.shape}, or read-only",
                    f"give a writable one of {' or '.join(str(dtype) for dtype in wanted)} and shape {like.shape}")
    return facts


def require_on_device(array: Any, name: str) -> None:
    if not is_on_device(array):
        raise usage(name, f"needs an array in device memory, not a {type(array).__name__}",
                    "give one of CuPy, PyTorch or JAX, on the GPU")


def _keys_of(array: Any, name: str, stream: Any) -> DeviceArray:
    require_on_device(array, name)
    return DeviceArray(array, name, stream_handle(stream))


def _offsets_of(offsets: Any, name: str, keys: DeviceArray) -> Optional[DeviceArray]:
    if offsets is None:
        return None
    require_on_device(offsets, "offsets")
    facts = DeviceArray(offsets, "offsets", keys.stream or 0)
    if facts.dtype not in (numpy.dtype("i8"), numpy.dtype("u8")) or len(facts.shape) != 1 or facts.size < 2:
        raise usage("offsets", f"an array of dtype {facts.dtype} and shape {facts.shape}",
                    "give int64, one more than segments, from 0 to the number of keys")
    if len(keys.shape) != 1:
        raise usage(name, f"keys of {len(keys.shape)} dimensions have no offsets", "give a one-dimensional array")
    return facts


def sort_keys(name: str, array: Any, output: Any, descending: bool, stream: Any, offsets: Any = None, *,
              float_order: str = "numeric") -> Any:
    keys = _keys_of(array, name, stream)
    words = keys.words(name, descending, float_order, _offsets_of(offsets, name, keys))
    result = _new_like(array, keys, keys.dtype) if output is None else output
    place = _writable(result, "output", keys, (keys.dtype,))
    _native.sort_on_device(*words, place.address, keys.stream or 0)
    return _as_of(result, array)


def argsort_keys(name: str, array: Any, output: Any, descending: bool, stream: Any, offsets: Any = None, *,
                 float_order: str = "numeric") -> Any:
    keys = _keys_of(array, name, stream)
    words = keys.words(name, descending, float_order, _offsets_of(offsets, name, keys))
    result = _new_like(array, keys, numpy.dtype("i8")) if output is None else output
    place = _writable(result, "output", keys, ("i8", "u8", "i4", "u4"))
    if place.dtype == numpy.dtype("i4") and keys.shape[-1] > 1 << 31:
        raise usage("output", f"{keys.shape[-1]} indices do not fit in int32", "give int64")
    _native.argsort_on_device(*words, place.address, place.dtype.itemsize, keys.stream or 0)
    return _as_of(result, array)


def segmented_sort(array: Any, offsets: Any, output: Any = None, *, descending: bool = False,
                   float_order: str = "numeric", stream: Any = None) -> Any:
    """Sorts segments of a one-dimensional array in device memory, each separately.

    Args:
        array: keys of 8 to 64 bits, by __cuda_array_interface__ or __dlpack__; bfloat16 by __dlpack__.
        offsets: int64 in device memory; segment i is array[offsets[i]:offsets[i + 1]]. The first is 0, the last the
            number of keys. They are not checked: with other values the result is undefined. None: the segments are
            the rows of the last dimension.
        output: an array for the result, which may be `array`; None for a new one of the same library.
        stream: queue the work there, a number or an object of CuPy, PyTorch or cuda.core; None: the stream of the
            array's library. The call returns at once.

    Raises: as sort.
    """
    return sort_keys("segmented_sort", array, output, descending, stream, offsets, float_order=float_order)


def segmented_argsort(array: Any, offsets: Any, output: Any = None, *, descending: bool = False,
                      float_order: str = "numeric", stream: Any = None) -> Any:
    """The indices that sort each segment of an array in device memory, stably. In each segment they begin at 0.

    Args: as segmented_sort; output: int64, uint64, int32 or uint32; None for int64.

    Raises: as sort.
    """
    return argsort_keys("segmented_argsort", array, output, descending, stream, offsets, float_order=float_order)


def sort_pairs(array: Any, values: Any, output: Optional[Tuple[Any, Any]] = None, *, offsets: Any = None,
               descending: bool = False, float_order: str = "numeric", stream: Any = None) -> Tuple[Any, Any]:
    """As the package's sort_pairs."""
    keys = _keys_of(array, "sort_pairs", stream)
    words = keys.words("sort_pairs", descending, float_order, _offsets_of(offsets, "sort_pairs", keys))
    require_on_device(values, "values")
    data = DeviceArray(values, "values", keys.stream or 0)
    if data.shape != keys.shape or data.dtype.itemsize not in (4, 8):
        raise usage("values", f"an array of dtype {data.dtype} and shape {data.shape}",
                    f"give one of elements of 4 or 8 bytes and shape {keys.shape}")
    if output is None:
        output = _new_like(array, keys, keys.dtype), _new_like(values, data, data.dtype)
    keys_place = _writable(output[0], "output", keys, (keys.dtype,))
    values_place = _writable(output[1], "output", keys, (data.dtype,))
    _native.sort_pairs_on_device(*words, keys_place.address, data.address, data.dtype.itemsize, values_place.address,
                                 keys.stream or 0)
    return _as_of(output[0], array), _as_of(output[1], values)
