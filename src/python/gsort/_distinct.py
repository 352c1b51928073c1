"""Distinct elements with their counts and positions, made from sorted elements, or from the positions that sort them."""

from __future__ import annotations

from typing import List, Tuple

import numpy

from ._results import CHUNK


def _differ(here: numpy.ndarray, before: numpy.ndarray, by_value: bool) -> numpy.ndarray:
    if here.dtype.names:
        return numpy.asarray(numpy.any([_differ(here[name], before[name], by_value) for name in here.dtype.names], axis=0))
    if not by_value:
        here, before = here.view(f"V{here.dtype.itemsize}"), before.view(f"V{here.dtype.itemsize}")
    differ = numpy.asarray(here != before)
    return differ & ((here == here) | (before == before)) if here.dtype.kind in "fmM" else differ


def _begins_of_groups(keys: numpy.ndarray, by_value: bool) -> numpy.ndarray:
    """The places where a key, or a field of a record, differs from the one before it, found in pieces. By value, -0 is equal to
    0, and NaN to NaN."""
    begins = [numpy.zeros(min(keys.size, 1), numpy.intp)]
    for begin in range(1, keys.size, CHUNK):
        end = min(begin + CHUNK, keys.size)
        begins.append(begin + numpy.flatnonzero(_differ(keys[begin:end], keys[begin - 1:end - 1], by_value)))
    return numpy.concatenate(begins)


def counted_texts(keys: numpy.ndarray) -> Tuple[numpy.ndarray, numpy.ndarray]:
    """Counts sorted texts, which the program sorts as records and does not count."""
    begins = _begins_of_groups(keys.ravel(), False)
    return keys.ravel()[begins], numpy.diff(begins, append=keys.size).astype(numpy.int64)


def indexed(array: numpy.ndarray, order: numpy.ndarray, index: bool, inverse: bool,
            counts: bool, by_value: bool) -> Tuple[numpy.ndarray, ...]:
    """Returns what numpy.unique does, from the positions that sort the flattened array stably."""
    flat = array.reshape(-1)
    ordered = flat[order]
    begins = _begins_of_groups(ordered, by_value)
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
