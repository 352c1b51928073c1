"""Finds the places of values in a sorted file or array that may be larger than memory: only the pages of a binary search are
read."""

from __future__ import annotations

import datetime
from typing import Any

import numpy

from ._arrays import as_array, holds_elements, is_path, sole
from ._errors import naming, usage
from ._sources import (Inputs, as_bool, dtype_of, is_raw, is_text, mapped_npy, mapped_raw, path_name, refuse_compressed,
                       require_dtype, require_regular, require_sortable, wanted_dtype)


def _in_file(path: Any, dtype: Any) -> numpy.ndarray:
    """Maps the file, after opening it as a sort does, which finds its faults."""
    name = path_name(path)
    is_npy = name.lower().endswith(".npy")
    if not is_npy and not is_raw(name):
        raise usage(f"searching {name}", "text and compressed files cannot be mapped", "sort it into a raw or .npy file")
    require_regular(name)
    inputs = Inputs(path, dtype)
    call = inputs.call([b"--engine=cpu"])
    if inputs.held:
        return inputs.held[0]
    refuse_compressed(call, name)
    return mapped_npy(name) if is_npy else mapped_raw(name, dtype_of(call))


def _range_of(dtype: numpy.dtype) -> Any:
    return (0, 1) if dtype.kind == "b" else (int(numpy.iinfo(dtype).min), int(numpy.iinfo(dtype).max))


def _cast(array: numpy.ndarray, dtype: numpy.dtype) -> Any:
    """The array in another dtype, and the elements that are in its range: others have any value."""
    inside = numpy.ones(array.shape, bool)
    if array.dtype.kind in "fiu" and dtype.kind in "iub" and array.size:
        low, high = _range_of(dtype)
        if array.dtype.kind == "f":
            wide = array.astype(numpy.result_type(array, "f8"))
            inside = (wide >= float(low)) & (wide < float(high + 1))
        elif low > int(array.min()) or high < int(array.max()):
            first, last = _range_of(array.dtype)
            inside = (array >= max(low, first)) & (array <= min(high, last))
        array = numpy.where(inside, array, array.dtype.type(0))
    return array.astype(dtype), inside


def _converted(given: numpy.ndarray, dtype: numpy.dtype) -> Any:
    """The elements of an array in the type of the keys; None if one changes."""
    kinds = given.dtype.kind + dtype.kind
    if not all(kind in "biuf" for kind in kinds):
        is_one_kind = kinds in ("SS", "UU", "SU", "MM", "mm") and numpy.can_cast(given.dtype, dtype, "same_kind")
        if not is_one_kind and not (kinds in ("im", "um") and numpy.can_cast(given.dtype, dtype)):
            return None
    keys, fits = _cast(given, dtype)
    again, fits_again = _cast(keys, given.dtype)
    are_same = fits & fits_again & (again == given) & (keys == keys) | (given != given) & (keys != keys)
    return keys if bool(numpy.all(are_same)) else None


def _of_objects(items: numpy.ndarray, dtype: numpy.dtype) -> Any:
    """Python's objects in the type of the keys; None if one changes. Python compares numbers exactly."""
    if is_text(dtype):
        # NumPy drops NUL at the end of a text.
        are_texts = all(isinstance(item, (str, bytes)) and item[-1:] not in ("\0", b"\0") for item in items.flat)
        return _converted(numpy.array(items.tolist()), dtype) if are_texts else None
    if dtype.kind in "mM":
        values = items.tolist()
        if all(isinstance(item, (datetime.date, datetime.timedelta)) for item in items.flat):
            return _converted(numpy.array(values, f"{dtype.kind}8"), dtype)
        return _converted(as_array(values) if isinstance(values, list) else numpy.asarray(values), dtype)
    keys = items.astype(dtype)
    for item, key in zip(items.flat, keys.ravel().tolist()):
        given = item.item() if isinstance(item, numpy.generic) else item
        if not (given == key or (given != given and key != key)):
            return None
    return keys


def _as_keys(values: Any, dtype: numpy.dtype) -> numpy.ndarray:
    """The values in the type of the keys, unless one changes."""
    if isinstance(values, numpy.generic):
        values = numpy.asarray(values)
    with naming("values"):
        given = as_array(values) if holds_elements(values) else None
    if isinstance(given, numpy.ma.MaskedArray):
        raise usage("values", "the array has a mask", "give array.compressed(), or array.data")
    try:
        with numpy.errstate(all="ignore"):
            given = numpy.array(values, object) if given is None else given
            convert = _of_objects if given.dtype.kind == "O" else _converted
            keys = convert(given, dtype) if given.size else numpy.empty(given.shape, dtype)
    except (TypeError, ValueError, OverflowError):
        keys = None
    if keys is None:
        raise usage("values", f"one changes if they become {dtype}, as the keys are", f"give values that {dtype} has")
    return keys


def found(source: Any, values: Any, side: str, dtype: Any, descending: bool) -> Any:
    if side not in ("left", "right"):
        raise usage(f"side {side!r}", "is neither 'left' nor 'right'", "give one of these")
    source = sole(source, wanted_dtype(dtype))
    array = _in_file(source, dtype) if is_path(source) else source
    if not isinstance(array, numpy.ndarray) or array.ndim != 1 or array.dtype.names:
        raise usage("source", "is not one file or array of keys in one dimension", "give one, which gsort.sort made")
    require_dtype(array, wanted_dtype(dtype))
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
