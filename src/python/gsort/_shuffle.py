"""The arguments of gsort.shuffle: its seed, and arrays as elements that it moves as a whole."""

from __future__ import annotations

import operator
from typing import Any

import numpy

from ._errors import has_type, usage
from ._outputs import reserving
from ._sources import as_word

_MOST_BYTES = (16 << 10) - 8  # of a record, less its number


def seed_word(seed: Any) -> bytes:
    if seed is not None and (isinstance(seed, bool) or not hasattr(seed, "__index__")):
        raise has_type("seed", seed, "give a whole number, or None")
    return as_word("shuffle", "random" if seed is None else operator.index(seed))


def in_whole_elements(array: numpy.ndarray) -> numpy.ndarray:
    """The elements of the first dimension, each as a string of its bytes."""
    if isinstance(array, numpy.ma.MaskedArray) or array.ndim == 0 or array.dtype.hasobject:
        raise usage("sources", f"{type(array).__name__} of dtype {array.dtype} with {array.ndim} dimensions cannot be shuffled",
                    "give an array of numbers, texts or records, without a mask")
    size = array[:1].nbytes
    if not 0 < size <= _MOST_BYTES and len(array) > 0:
        raise usage("sources", f"elements of the array have {size:,} bytes, not 1 to {_MOST_BYTES:,}",
                    "shuffle numpy.arange(len(array)), and index the array with the result")
    with reserving("a copy of a source", "give an array that is contiguous, as a file or a memmap"):
        whole = numpy.ascontiguousarray(array)
    return whole.reshape(-1).view(f"S{size}") if len(array) > 0 else numpy.empty(0, f"S{max(array.dtype.itemsize, 1)}")
