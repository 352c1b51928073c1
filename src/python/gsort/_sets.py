"""Keys that are in two sources, or only in one of them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Callable, Iterable, Iterator, List, Tuple

import numpy

from ._arrays import as_output, flattened, listed
from ._errors import naming, usage
from ._in_memory import sorted_in_memory
from ._outputs import refuse_overlap
from ._results import CHUNK, copied, gathered, place_of, run
from ._sources import Inputs, as_bool, is_big_endian, option_words, wanted_dtype


def _sorted_copy(inputs: Inputs, words: List[bytes], float_order: Any, place: str, progress: Any,
                 stack: ExitStack) -> numpy.ndarray:
    """The same for keys that are not sorted; a few are sorted without a plan, and may repeat."""
    array = inputs.only_array
    if array is not None and array.nbytes <= CHUNK:
        found = sorted_in_memory(array, None, False, float_order, None, "cpu", progress)
        if found is not None:
            return found
    return copied(inputs, words, place, progress, stack)


def _pieces(keys: numpy.ndarray, dtype: numpy.dtype) -> Iterator[Tuple[int, int]]:
    """Yields the beginning and the end of each piece of `keys`. A piece takes little memory, also as elements of `dtype`."""
    step = max(CHUNK // dtype.itemsize, 1)
    return ((begin, min(begin + step, keys.size)) for begin in range(0, keys.size, step))


def _in_byte_order(array: numpy.ndarray, dtype: numpy.dtype) -> numpy.ndarray:
    """The array in the byte order of `dtype`. Its elements may be changed: no other code uses it."""
    other = array.dtype.newbyteorder()
    return array.byteswap(inplace=True).view(other) if array.dtype != dtype and other == dtype else array


def _common_dtype(first: numpy.dtype, second: numpy.dtype) -> numpy.dtype:
    """The dtype that numpy.result_type gives, if it holds every value of both; in the byte order of the first."""
    try:
        wide = numpy.result_type(first, second)
    except TypeError:  # NumPy has none
        wide = None
    if wide is None or not all(_holds(wide, dtype) for dtype in (first, second)):
        raise usage("a and b", f"no dtype holds all values of {first} and of {second}",
                    "convert one of them: array.astype(dtype)")
    return wide.newbyteorder(first.byteorder)


def _holds(wide: numpy.dtype, dtype: numpy.dtype) -> bool:
    if wide.kind == "f" and dtype.kind in "iu":
        return 8 * dtype.itemsize <= numpy.finfo(wide).nmant + 1
    is_alike = any(wide.kind in kinds and dtype.kind in kinds for kinds in ("biuf", "S", "U"))  # times may overflow
    return is_alike or wide == dtype.newbyteorder("=")


def _kept(keys: numpy.ndarray, dtype: numpy.dtype, wide: numpy.dtype) -> Iterator[numpy.ndarray]:
    """Yields the keys that another dtype holds, in it, in pieces. `wide` holds those of both."""
    for begin, end in _pieces(keys, wide):
        piece = keys[begin:end]
        with numpy.errstate(invalid="ignore", over="ignore"):
            there = piece.astype(dtype)
        is_nan = (piece != piece) if dtype.kind == "f" else False
        yield there[(there.astype(wide) == piece.astype(wide)) | is_nan]


def _of_one_dtype(sides: List[numpy.ndarray], pairs: bool, gather: Callable[..., numpy.ndarray]) -> List[numpy.ndarray]:
    """Sorted keys of two dtypes as such of one: of the common one, or of the first if its keys are to be the result."""
    first, second = (side.dtype for side in sides)
    if first == second or (first.names or second.names):
        return sides
    wide = _common_dtype(first, second)
    dtype = wide if pairs else first
    return [side if side.dtype == dtype else gather(_kept(side, dtype, wide), dtype, side.size) for side in sides]


def compared(operation: bytes, a: Any, b: Any, output: Any, assume_sorted: bool, dtype: Any, progress: Any,
             temporary: Any, **options: Any) -> Any:
    """The keys of `a` that are also in `b`, by --intersect, or that are not, by --subtract."""
    place = place_of(temporary, output)
    words = option_words(temporary=place if temporary is None else temporary, **options)
    inputs = []
    for name, side in ("a", a), ("b", b):
        with naming(name):
            inputs.append(Inputs(flattened(listed(side, wanted_dtype(dtype))), dtype))
    output = as_output(output)
    if isinstance(output, numpy.ndarray):
        refuse_overlap(output, [item for one in inputs for item in one.items])
    if as_bool("assume_sorted", assume_sorted) and all(len(one.items) == 1 for one in inputs):
        known = [each for one in inputs for each in one.known_dtypes]
        is_mixed = len(set(known)) > 1 or (len(known) == 1 and dtype is None and is_big_endian(known[0]))  # raw: little
        if not is_mixed:
            both = [one.held[0] if one.held else one.items[0] for one in inputs]
            return run(Inputs(both, dtype), [*words, b"--merge", operation], output, progress, temporary)
    distinct = [*words, b"--unique"] + [b"--merge"] * bool(assume_sorted)
    with ExitStack() as stack:
        first, second = (copied(one, distinct, place, progress, stack) if assume_sorted else
                         _sorted_copy(one, distinct, options["float_order"], place, progress, stack) for one in inputs)
        sides = [first, _in_byte_order(second, first.dtype)]
        pairs = operation == b"--intersect"

        def gather(pieces: Iterable[numpy.ndarray], dtype: numpy.dtype, most: int) -> numpy.ndarray:
            return gathered(pieces, dtype, most, place, stack)

        return run(Inputs(_of_one_dtype(sides, pairs, gather)), [*words, b"--merge", operation], output, progress, temporary)
