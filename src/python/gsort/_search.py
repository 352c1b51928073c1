"""Finds the places of values in a sorted file or array that may be larger than memory: only the pages of a binary search are
read."""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
from typing import Any, Optional, Tuple

import numpy

from ._arrays import as_array, holds_elements, is_path, sole
from ._errors import naming, usage
from ._sources import (Inputs, as_bool, dtype_of, is_raw, is_text, mapped_npy, mapped_raw, path_name, refuse_compressed,
                       require_dtype, require_regular, require_sortable, wanted_dtype)

_Keys = Tuple[numpy.ndarray, Any, Any]


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


def _nearest(number: Any, dtype: numpy.dtype) -> Tuple[Any, bool, bool]:
    """The key that equals a number, or else the greatest one below it: the key, whether it is equal, and False if all keys are
    greater. Python compares numbers exactly."""
    if dtype.kind == "f":
        if number != number:
            return dtype.type("nan"), True, True
        try:
            key = dtype.type(number)
        except OverflowError:
            key = dtype.type("inf" if number > 0 else "-inf")
        if key.item() > number:
            key = numpy.nextafter(key, dtype.type("-inf"))
        return key, key.item() == number, True
    low, high = _range_of(dtype)
    if number != number or number > high:
        return high, False, True
    if number < low:
        return low, False, False
    return math.floor(number), math.floor(number) == number, True


def _of_numbers(given: numpy.ndarray, dtype: numpy.dtype) -> _Keys:
    keys, fits = _cast(given, dtype)
    again, fits_again = _cast(keys, given.dtype)
    equal = numpy.array(fits & fits_again & (again == given) & (keys == keys) | (given != given) & (keys != keys))
    below = numpy.ones(given.shape, bool)
    if given.dtype.kind == dtype.kind == "f":
        is_above = keys.astype(numpy.result_type(given, dtype)) > given
        return numpy.where(is_above, numpy.nextafter(keys, dtype.type("-inf")), keys), equal, below
    for at in numpy.flatnonzero(~equal):
        keys.flat[at], equal.flat[at], below.flat[at] = _nearest(given.flat[at].item(), dtype)
    return keys, equal, below


def _converted(given: numpy.ndarray, dtype: numpy.dtype) -> Optional[_Keys]:
    """The elements of an array as keys; None if they are no numbers and the conversion changes one."""
    kinds = given.dtype.kind + dtype.kind
    if all(kind in "biuf" for kind in kinds):
        return _of_numbers(given, dtype)
    is_one_kind = kinds in ("SS", "UU", "SU", "MM", "mm") and numpy.can_cast(given.dtype, dtype, "same_kind")
    if not is_one_kind and not (kinds in ("im", "um") and numpy.can_cast(given.dtype, dtype)):
        return None
    keys = given.astype(dtype)
    are_same = (keys.astype(given.dtype) == given) & (keys == keys) | (given != given) & (keys != keys)
    return (keys, True, True) if bool(numpy.all(are_same)) else None


def _of_objects(items: numpy.ndarray, dtype: numpy.dtype) -> Optional[_Keys]:
    """The same for Python's objects."""
    if is_text(dtype):
        # NumPy drops NUL at the end of a text.
        are_texts = all(isinstance(item, (str, bytes)) and item[-1:] not in ("\0", b"\0") for item in items.flat)
        return _converted(numpy.array(items.tolist()), dtype) if are_texts else None
    if dtype.kind in "mM":
        values = items.tolist()
        if all(isinstance(item, (datetime.date, datetime.timedelta)) for item in items.flat):
            return _converted(numpy.array(values, f"{dtype.kind}8"), dtype)
        return _converted(as_array(values) if isinstance(values, list) else numpy.asarray(values), dtype)
    given = [item.item() if isinstance(item, numpy.generic) else item for item in items.flat]
    if not all(isinstance(item, (numbers.Real, decimal.Decimal)) for item in given):
        return None
    keys, equal, below = (numpy.empty(items.shape, kind) for kind in (dtype, bool, bool))
    for at, number in enumerate(given):
        keys.flat[at], equal.flat[at], below.flat[at] = _nearest(number, dtype)
    return keys, equal, below


def _as_keys(values: Any, dtype: numpy.dtype) -> _Keys:
    """The values in the type of the keys: the keys, whether they equal the values, and else whether they are below them."""
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
            keys = convert(given, dtype) if given.size else (numpy.empty(given.shape, dtype), True, True)
    except (TypeError, ValueError, OverflowError):
        keys = None
    if keys is None:
        raise usage("values", f"one cannot become {dtype}, the type of the keys", f"give values that {dtype} can hold")
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
    (keys, equal, below), descending = _as_keys(values, array.dtype), as_bool("descending", descending)
    takes_equal = numpy.where(equal, (side == "right") != descending, below)
    low = numpy.zeros(keys.shape, numpy.int64)
    high = numpy.full(keys.shape, array.size, numpy.int64)
    while bool(numpy.any(low < high)):
        middle = (low + high) // 2
        here = array[numpy.minimum(middle, array.size - 1)]
        is_before = (here < keys) | takes_equal & (here == keys)  # NaN, and NaT, are the greatest
        if array.dtype.kind in "fmM":
            is_before |= (keys != keys) & (takes_equal | (here == here))
        low, high = (numpy.where((low < high) & (is_before != descending), middle + 1, low),
                     numpy.where((low < high) & (is_before == descending), middle, high))
    return low.astype(numpy.intp)[()]
