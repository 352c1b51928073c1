"""Distinct elements with their counts and positions, made from sorted elements, or from the positions that sort them."""

from __future__ import annotations

from typing import List, Tuple

import numpy

from ._results import CHUNK


def _begins_of_groups(keys: numpy.ndarray, by_value: bool) -> numpy.ndarray:
    """Where a key differs from the one before it, looked for in pieces. By value, -0 is equal to 0, and NaN to NaN."""
    seen = keys if by_value else keys.view(f"V{keys.dtype.itemsize}")
    begins = [numpy.zeros(min(keys.size, 1), numpy.intp)]
    for begin in range(1, keys.size, CHUNK):
        end = min(begin + CHUNK, keys.size)
        here, before = seen[begin:end], seen[begin - 1:end - 1]
        is_new = here != before
        if by_value and keys.dtype.kind in "fmM":
            is_new &= (here == here) | (before == before)
        begins.append(begin + numpy.flatnonzero(is_new))
    return numpy.concatenate(begins)


def counted_texts(keys: numpy.ndarray) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """Of sorted texts, which the program sorts as records, and does not count."""
    begins = _begins_of_groups(keys.ravel(), False)
    return keys.ravel()[begins], numpy.diff(begins, append=keys.size).astype(numpy.int64)


def indexed(array: numpy.ndarray, order: numpy.ndarray, index: bool, inverse: bool,
            counts: bool) -> Tuple[numpy.ndarray, ...]:
    """What numpy.unique returns, of the positions that sort the flattened array stably."""
    flat = array.reshape(-1)
    ordered = flat[order]
    begins = _begins_of_groups(ordered, True)
    sizes = numpy.diff(begins, append=flat.size)
    results: List[numpy.ndarray] = [ordered[begins]]
    if index:
        results.append(order[begins].astype(numpy.intp))
    if inverse:
        numbers = numpy.empty(flat.size, numpy.intp)
        numbers[order] = numpy.repeat(numpy.arange(begins.size), sizes)
        results.append(numbers.reshape(array.shape))
    if counts:
        results.append(sizes.astype(numpy.int64))
    return tuple(results)
