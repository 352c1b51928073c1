"""gsort.shuffle: its seed, and arrays as elements that it moves as a whole."""

from __future__ import annotations

import math
import operator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, List, Optional

import numpy

from ._arrays import is_path
from ._axes import require_place
from ._errors import has_type, usage
from ._outputs import reserving
from ._results import copied, place_of, run
from ._sources import Inputs, as_word, contiguous, is_raw, is_sortable, path_name, require_dtype

_MOST_BYTES = (16 << 10) - 8  # of a record, less its number


def seed_word(seed: Any) -> bytes:
    try:
        if isinstance(seed, bool):
            raise TypeError
        return as_word("shuffle", "random" if seed is None else operator.index(seed))
    except TypeError:
        raise has_type("seed", seed, "give a whole number, or None") from None


def _require_elements(array: numpy.ndarray) -> None:
    if isinstance(array, numpy.ma.MaskedArray) or array.ndim == 0 or array.dtype.hasobject:
        raise usage("sources", f"an array of dtype {array.dtype} and shape {array.shape} cannot be shuffled",
                    "give an array of numbers, texts or records, without a mask")


def _element_bytes(array: numpy.ndarray, least: int) -> int:
    size = array.dtype.itemsize * math.prod(array.shape[1:])
    if not least <= size <= _MOST_BYTES and len(array) > 0:
        raise usage("sources", f"elements of the array have {size:,} bytes, not {least} to {_MOST_BYTES:,}",
                    "shuffle numpy.arange(len(array)), and index the array with the result")
    return size


def _in_whole_elements(array: numpy.ndarray) -> numpy.ndarray:
    """The elements of the first dimension, each as a string of its bytes."""
    size = _element_bytes(array, 1)
    with reserving("a copy of a source", "give an array that is contiguous, as a file or a memmap"):
        whole = numpy.ascontiguousarray(array)
    return whole.reshape(-1).view(f"S{size}") if len(array) > 0 else numpy.empty(0, f"S{size if 0 < size <= _MOST_BYTES else 1}")


def _into_file(arrays: List[numpy.ndarray], words: List[bytes], output: Any, progress: Any, temporary: Any) -> Any:
    """A header has the shape of up to two dimensions; a raw file has the bytes of all elements."""
    first, name = arrays[0], path_name(output)
    if is_sortable(first.dtype) and (first.ndim == 2 or is_raw(name)):
        rows = [contiguous(array).reshape(len(array), _element_bytes(array, 0) // array.itemsize) for array in arrays]
        return run(Inputs(rows), words, output, progress, temporary)
    if not is_raw(name):
        raise usage(f"writing {name}", f"elements of dtype {first.dtype} in {first.ndim} "
                    f"dimension{'s' * (first.ndim != 1)} are written to raw files alone",
                    "give as output a raw file, or numpy.lib.format.open_memmap(path, 'w+', dtype, shape)")
    done = run(Inputs([_in_whole_elements(array) for array in arrays]), words, output, progress, temporary)
    return replace(done, dtype=first.dtype)


def shuffled(source: Any, output: Any, dtype: Optional[numpy.dtype], words: List[bytes], has_top: bool, progress: Any,
             temporary: Any) -> Any:
    sources = source if isinstance(source, list) else [source]
    arrays = [item for item in sources if isinstance(item, numpy.ndarray)]
    for array in arrays:
        require_dtype(array, dtype)
        _require_elements(array)
    is_plain = all(array.ndim == 1 and is_sortable(array.dtype) for array in arrays)
    if len(arrays) < len(sources) or (is_plain and (len(sources) > 1 or is_path(output))):
        if not all(array.ndim <= 2 for array in arrays):
            raise usage("sources", "beside files, arrays have one or two dimensions",
                        "give a file as numpy.load(path, mmap_mode='r')")
        return run(Inputs(source, dtype), words, output, progress, temporary)
    first = arrays[0]
    if any(array.dtype != first.dtype or array.shape[1:] != first.shape[1:] for array in arrays):
        raise usage("sources", "elements of the arrays differ in dtype or shape", "shuffle such arrays separately")
    if is_path(output):
        return _into_file(arrays, words, output, progress, temporary)
    shape = (sum(map(len, arrays)), *first.shape[1:])
    inputs = Inputs([_in_whole_elements(array) for array in arrays])

    def require_output(shape: Any) -> None:
        for array in arrays:
            require_place(output, array, first.dtype, shape)

    if output is not None and not has_top:
        require_output(shape)
    with ExitStack() as stack:
        if output is None:
            result = run(inputs, words, None, progress, temporary)
        else:
            result = copied(inputs, words, place_of(temporary), progress, stack)
        result = result.view(first.dtype).reshape(result.size, *first.shape[1:])
        if output is None:
            return result
        require_output(result.shape)
        output[...] = result
    return output
