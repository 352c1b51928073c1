"""Shared by the tests of the package: dtypes, and sorts by NumPy to compare with."""

import os
import subprocess
import sys
import textwrap

import numpy
import pytest
from hypothesis import strategies
from hypothesis.extra import numpy as arrays

NUMBERS = [numpy.dtype(order + name) for name in "u1 i1 u2 i2 u4 i4 u8 i8 f2 f4 f8".split() for order in "<>"]
OTHERS = [numpy.dtype(name) for name in ("?", "M8[s]", ">m8[ms]", "S5", "<U3")]


def sorted_by_numpy(array, descending=False):
    """In gsort's order: NumPy's, but equal floats are ordered by their bits: -0 first, NaN with a sign last."""
    if array.dtype.kind != "f":
        keys = numpy.sort(array)
    else:
        native = array.astype(array.dtype.newbyteorder("="))
        bits = native.view(f"i{array.dtype.itemsize}")
        low = numpy.iinfo(bits.dtype).max
        total = numpy.sort(numpy.where(bits < 0, bits ^ low, bits))
        keys = numpy.where(total < 0, total ^ low, total).view(native.dtype)
        for row in keys.reshape(-1, keys.shape[-1]) if keys.size else ():  # in total order, NaN with a sign are first
            row[:] = numpy.roll(row, -numpy.count_nonzero(numpy.isnan(row) & numpy.signbit(row)))
        keys = keys.astype(array.dtype)
    return keys[..., ::-1] if descending else keys


def assert_same(actual, expected):
    """The same bits: NaN equal NaN, -0 is not 0."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    assert actual.tobytes() == expected.tobytes()


def arrays_of(dtype, shapes=strategies.integers(0, 300)):
    if numpy.dtype(dtype) in (numpy.dtype("<f2"), numpy.dtype(">f2")):  # hypothesis drops most of the floats that it draws
        return arrays.arrays("u2", shapes).map(lambda bits: bits.view(dtype))
    return arrays.arrays(dtype, shapes)


def random_array(dtype, count, seed=1):
    dtype = numpy.dtype(dtype)
    return numpy.frombuffer(numpy.random.default_rng(seed).bytes(count * dtype.itemsize), dtype)


def skip_without_gpu(error):
    """For an error of a test that needs a GPU: it is one where a GPU must be there."""
    wanted = os.environ.get("GSORT_TEST_GPU", "1" if os.path.exists("/dev/nvidiactl") else "0")
    if wanted == "1" and "built without CUDA" not in str(error):
        raise error
    pytest.skip(f"no GPU: {error}")


def run_python(text, *arguments, timeout=120, **more):
    """A program in a process of its own. Returns it when it has ended."""
    words = [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=timeout, **more)
