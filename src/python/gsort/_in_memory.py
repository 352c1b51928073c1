"""Arrays of numbers that are sorted from memory to memory without a plan, and the positions that sort them:
small arrays take microseconds."""

from __future__ import annotations

from typing import Any, Optional

import numpy

from . import _native
from ._axes import index_dtype
from ._outputs import new_array, require_usable
from ._sources import key_type

_NUMBERS = {dtype: str(key_type(dtype)) for dtype in map(numpy.dtype, "? u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8".split())}
_MOST_THREADS = 1024
_MOST_WITHOUT_PLAN = 1 << 28  # bytes, sorted in less time than a GPU takes to start
_MOST_PACKED_WITHOUT_PLAN = 1 << 22  # a plan packs more short keys with their positions into one number


def sorted_in_memory(source: numpy.ndarray, output: Any, descending: Any, float_order: Any,
                     threads: Any, engine: Any, progress: Any) -> Optional[numpy.ndarray]:
    """Rows of an array of numbers, into an array, without a plan; None where this does not apply."""
    number = _number_of(source, descending, float_order, threads, engine, progress)
    if number is None:
        return None
    if output is source:
        if not source.flags.writeable:
            return None
    elif source.nbytes > _MOST_WITHOUT_PLAN or _is_of_file(source):
        return None
    elif output is None:
        output = new_array(source.shape, source.dtype)
    elif type(output) is numpy.ndarray and output.shape == source.shape and output.flags.aligned:
        require_usable(output, source.dtype, [source])
    else:
        return None
    _native.sort_numbers(source, output, source.shape[-1], number, descending, float_order == "total",
                         threads or 0)
    return output  # type: ignore[no-any-return]


def argsorted_in_memory(source: numpy.ndarray, output: Any, descending: Any, float_order: Any,
                        threads: Any, engine: Any, progress: Any) -> Optional[numpy.ndarray]:
    """The positions that sort rows of an array of numbers, without a plan; None where this does not apply."""
    number = _number_of(source, descending, float_order, threads, engine, progress)
    most = _MOST_WITHOUT_PLAN if source.itemsize > 4 else _MOST_PACKED_WITHOUT_PLAN
    if number is None or source.nbytes > most or _is_of_file(source):
        return None
    dtype = index_dtype(source)
    if output is None:
        output = new_array(source.shape, dtype)
    elif type(output) is numpy.ndarray and output.shape == source.shape and output.flags.aligned:
        require_usable(output, dtype, [source])
    else:
        return None
    _native.argsort_numbers(source, output, source.shape[-1], number, descending, float_order == "total",
                            dtype.itemsize, threads or 0)
    return output  # type: ignore[no-any-return]


def _number_of(source: numpy.ndarray, descending: Any, float_order: Any, threads: Any, engine: Any,
               progress: Any) -> Optional[str]:
    """The type of the numbers; None if they cannot be sorted where they are, or if an argument needs a plan or a check."""
    if source.ndim == 0 or not (source.flags.c_contiguous and source.flags.aligned) or type(descending) is not bool \
            or float_order not in ("numeric", "total") or engine not in ("auto", "cpu") or progress \
            or not (threads is None or type(threads) is int and 0 < threads <= _MOST_THREADS):
        return None
    return _NUMBERS.get(source.dtype)


def _is_of_file(array: numpy.ndarray) -> bool:
    """Whether it is a view of a memmap, which is read as a file."""
    base = array.base
    while isinstance(base, numpy.ndarray):
        if isinstance(base, numpy.memmap):
            return True
        base = base.base
    return False
