"""Arrays in device memory, by the interface that CuPy, PyTorch, Numba and JAX share: __cuda_array_interface__."""

from __future__ import annotations

import math
import sys
from typing import Any, Optional, Tuple

import numpy

from . import _native
from ._errors import usage
from ._sources import is_big_endian, key_type


def is_on_device(source: object) -> bool:
    return hasattr(source, "__cuda_array_interface__")  # PyTorch's arrays in host memory say no


class DeviceArray:
    """What an array says about itself."""

    def __init__(self, array: Any, name: str) -> None:
        facts = array.__cuda_array_interface__
        self.shape: Tuple[int, ...] = tuple(facts["shape"])
        self.dtype = numpy.dtype(facts["typestr"])
        self.address, self.is_read_only = facts["data"]
        self.size = math.prod(self.shape)
        self.stream = facts.get("stream")
        if not self._is_contiguous(facts.get("strides")) or facts.get("mask") is not None:
            raise usage(name, "the array in device memory is not contiguous", "copy it: array.copy(), .contiguous()")

    def _is_contiguous(self, strides: Optional[Tuple[int, ...]]) -> bool:
        expected = self.dtype.itemsize
        for length, stride in reversed(list(zip(self.shape, strides or ()))):
            if length != 1 and stride != expected and self.size:
                return False
            expected *= length
        return True

    def words(self) -> Tuple[int, int, int, str, bool]:
        """Address, rows, keys of a row, type, byte order."""
        name = key_type(self.dtype)
        if name is None or not self.shape:
            raise usage("sorting in device memory", f"an array of dtype {self.dtype} and {len(self.shape)} dimensions",
                        "give one of numbers of 32 or 64 bits")
        row = self.shape[-1]
        return self.address, self.size // row if row else 0, row, name, is_big_endian(self.dtype)


def _library_of(array: Any) -> Any:
    """The module of an array, if it can make others: numpy's functions under the same names."""
    module = sys.modules.get(type(array).__module__.partition(".")[0])
    return module if hasattr(module, "empty_like") and hasattr(module, "empty") else None


def _made_by_library(array: Any, name: str) -> Any:
    library = _library_of(array)
    if library is None:
        raise usage(name, "no array in device memory is given", "give one as output; it may be the source of a sort")
    return library


def _stream_of(array: Any, facts: DeviceArray) -> int:
    """The caller's: of the interface, or PyTorch's current one."""
    if facts.stream is not None:
        return int(facts.stream)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return int(torch.cuda.current_stream(array.device).cuda_stream)
    return 0


def _writable(output: Any, shape: Tuple[int, ...], dtypes: Tuple[str, ...]) -> DeviceArray:
    facts = DeviceArray(output, "output")
    if facts.shape != shape or facts.dtype not in [numpy.dtype(name) for name in dtypes] or facts.is_read_only:
        raise usage("output", f"an array of dtype {facts.dtype} and shape {facts.shape}, or read-only",
                    f"give a writable one of {' or '.join(dtypes)} and shape {shape}")
    return facts


def sort(array: Any, output: Any, descending: bool) -> Any:
    keys = DeviceArray(array, "sort")
    result = _made_by_library(array, "output").empty_like(array) if output is None else output
    place = _writable(result, keys.shape, (keys.dtype.str,))
    _native.sort_on_device(*keys.words(), descending, place.address, _stream_of(array, keys))
    return result


def argsort(array: Any, output: Any) -> Any:
    keys = DeviceArray(array, "argsort")
    if len(keys.shape) != 1:
        raise usage("argsort", f"needs a one-dimensional array, not one with {len(keys.shape)} dimensions",
                    "give one row, as array[0]")
    result = output
    if output is None:
        library = _made_by_library(array, "output")
        result = (library.empty(keys.size, dtype=library.int32, device=array.device) if library.__name__ == "torch"
                  else library.empty(keys.size, dtype="u4"))
    place = _writable(result, keys.shape, ("u4", "i4"))
    if place.dtype.kind == "i" and keys.size > 1 << 31:
        raise usage("output", f"{keys.size} indices do not fit in int32")
    _native.argsort_on_device(*keys.words(), place.address, _stream_of(array, keys))
    return result
