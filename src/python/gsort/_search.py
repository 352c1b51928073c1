"""Where values belong in a sorted file or array that may be larger than memory: only the pages of a binary search are read."""

from __future__ import annotations

import os
from typing import Any

import numpy

from ._arrays import is_path, sole
from ._errors import file_errors, usage
from ._sources import Inputs, as_bool, dtype_of, is_raw, mapped_npy, path_word, require_sortable, wanted_dtype


def _in_file(path: Any, dtype: Any) -> numpy.ndarray:
    name = os.fsdecode(path_word(path))
    if name.lower().endswith(".npy"):
        return mapped_npy(name)
    if not is_raw(name):
        raise usage(f"searching {name}", "text and compressed files cannot be mapped", "sort it into a raw or .npy file")
    kind = wanted_dtype(dtype) or dtype_of(Inputs(path).call([b"--engine=cpu"]))
    with file_errors("searching", name):
        size = os.path.getsize(name)
        if size % kind.itemsize:
            raise usage(f"searching {name}", f"the size, {size} bytes, is not a multiple of the element size, "
                        f"{kind.itemsize}", "check the dtype")
        return numpy.memmap(name, kind, mode="r") if size else numpy.empty(0, kind)


def _as_keys(values: Any, dtype: numpy.dtype) -> numpy.ndarray:
    """The values in the type of the keys, unless one changes."""
    given = numpy.asarray(values)
    kinds = given.dtype.kind + dtype.kind
    if given.size == 0:
        return numpy.empty(given.shape, dtype)
    if kinds in ("ii", "iu", "ui", "uu"):
        fits = numpy.iinfo(dtype).min <= int(given.min()) and int(given.max()) <= numpy.iinfo(dtype).max
    elif kinds == "ff":
        with numpy.errstate(over="ignore"):
            fits = bool(numpy.all((given.astype(dtype) == given) | (given != given)))
    else:
        fits = numpy.can_cast(given.dtype, dtype)
    if not fits:
        raise usage("values", f"of dtype {given.dtype} change if they become {dtype}, as the keys are",
                    f"give values that {dtype} has")
    return given.astype(dtype)


def found(source: Any, values: Any, side: str, dtype: Any, descending: bool) -> Any:
    if side not in ("left", "right"):
        raise usage(f"side {side!r}", "is neither 'left' nor 'right'", "give one of these")
    source = sole(source, wanted_dtype(dtype))
    array = _in_file(source, dtype) if is_path(source) else source
    if not isinstance(array, numpy.ndarray) or array.ndim != 1 or array.dtype.names:
        raise usage("source", "is not one file or array of keys in one dimension", "give one, which gsort.sort made")
    require_sortable(array)
    keys, descending = _as_keys(values, array.dtype), as_bool("descending", descending)
    takes_equal = (side == "right") != descending
    low = numpy.zeros(keys.shape, numpy.int64)
    high = numpy.full(keys.shape, array.size, numpy.int64)
    while bool(numpy.any(low < high)):
        middle = (low + high) // 2
        here = array[numpy.minimum(middle, array.size - 1)]
        is_before = here <= keys if takes_equal else here < keys  # NaN, and NaT, are the greatest
        if array.dtype.kind in "fmM":
            is_before |= (keys != keys) & (takes_equal | (here == here))
        low, high = (numpy.where((low < high) & (is_before != descending), middle + 1, low),
                     numpy.where((low < high) & (is_before == descending), middle, high))
    return low.astype(numpy.intp)[()]
