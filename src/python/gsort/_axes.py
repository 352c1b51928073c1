"""Arrays of several dimensions: the one that is sorted, and the positions that sort each row."""

from __future__ import annotations

from typing import Any, Tuple

import numpy

from ._errors import has_type, usage
from ._outputs import require_usable, reserving
from ._results import positions
from ._sources import Inputs, as_bool, option_words, require_sortable

_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def require_kind(kind: Any) -> None:
    if kind not in _KINDS:
        raise usage(f"kind {kind!r}", "is none of NumPy's", "leave it out: every sort is stable")


def is_table(source: Any, order: Any) -> bool:
    """Whether the rows of an array are sorted as a whole, by the columns that order names."""
    return order is not None and isinstance(source, numpy.ndarray) and source.ndim == 2 and source.dtype.names is None


def arranged(source: Any, axis: Any, order: Any = None) -> Tuple[Any, int]:
    """The source with the sorted dimension as its last one, and the number of this dimension. If `axis` is None: as one row."""
    if order is not None and isinstance(source, numpy.ndarray) and source.ndim > 2 and source.dtype.names is None:
        raise usage("order", f"the array has {source.ndim} dimensions, a table has two", "give array.reshape(len(array), -1)")
    if type(axis) is int and axis == -1:
        return source, -1
    if is_table(source, order):
        raise usage("axis", "order sorts whole rows by columns", "leave out one of them")
    if not isinstance(source, numpy.ndarray):
        raise usage("axis", "a file, or a list of sources, has none", "leave it out, or give one array")
    if axis is None:
        return source.reshape(-1), -1
    if not isinstance(axis, (int, numpy.integer)) or isinstance(axis, bool):
        raise has_type("axis", axis, "give a number, or None")
    if not -source.ndim <= axis < source.ndim:
        raise usage(f"axis {axis}", f"the array has {source.ndim} dimension{'s' * (source.ndim != 1)}",
                    f"give a number from {-source.ndim} to {source.ndim - 1}, or None")
    return (source, -1) if axis in (-1, source.ndim - 1) else (numpy.moveaxis(source, axis, -1), int(axis))


def require_place(output: Any, source: numpy.ndarray, dtype: numpy.dtype, shape: Tuple[int, ...]) -> None:
    """Raises UsageError if a result that is made first cannot be copied into the output, which may be the source."""
    if not isinstance(output, numpy.ndarray):
        raise usage("output", "this result cannot be written to a file", "give an array, or None")
    require_usable(output, dtype, [] if output is source else [source], must_be_contiguous=False)
    if output.shape != shape:
        raise usage("output", f"the array has shape {output.shape}, the result {shape}", "give an array of that shape")


def index_dtype(array: numpy.ndarray) -> numpy.dtype:
    """The dtype of positions in a row of the last dimension."""
    return numpy.dtype("u4" if array.shape[-1] <= 1 << 32 else "u8")


def positions_of_rows(array: numpy.ndarray, order: Any, descending: bool, progress: Any, temporary: Any,
                      **options: Any) -> numpy.ndarray:
    """The positions that sort each row of the last dimension: by an argsort of pairs of a row's number and an element."""
    require_sortable(array)
    as_bool("descending", descending)
    length = array.shape[-1]
    if array.size == 0:
        return numpy.empty(array.shape, index_dtype(array))
    rows = array.size // length
    if array.dtype.names:
        words = option_words(order=order, descending=descending, temporary=temporary, **options)
        return numpy.stack([positions(Inputs(row), words, None, progress, temporary)
                            for row in array.reshape(rows, length)]).reshape(array.shape)
    if order is not None:
        raise usage("order", "the elements are not records", "leave it out")
    pairs_of = [("row", "u4" if rows <= 1 << 32 else "u8"), ("key", array.dtype)]
    with reserving("the numbers of rows", "sort fewer rows at once"):
        pairs = numpy.empty((rows, length), pairs_of)
        pairs["row"] = numpy.arange(rows)[:, None]
        pairs["key"] = array.reshape(rows, length)
    words = option_words(order=["row", "-key" if descending else "key"], temporary=temporary, **options)
    found: numpy.ndarray = positions(Inputs(pairs.reshape(-1)), words, None, progress, temporary)
    in_rows: numpy.ndarray = found.reshape(rows, length) - (numpy.arange(rows, dtype=found.dtype) * length)[:, None]
    return in_rows.reshape(array.shape).astype(index_dtype(array), copy=False)
