"""Runs README.md's recipe, here as recipe.py, and compares what its function gives with numpy.sort for every type
that gsort has."""

import numpy

import recipe

KEYS = 20_000
random = numpy.random.default_rng(7)


def array_of(dtype):
    """Any bits are a key, but for floats: no NaN, and no zero, whose order is gsort's own."""
    keys = numpy.frombuffer(random.bytes(KEYS * dtype.itemsize), dtype=dtype)
    return keys[~numpy.isnan(keys) & (keys != 0)] if dtype.kind == "f" else keys


def require_equal(actual, expected, what):
    assert actual.dtype == expected.dtype, f"{what}: {actual.dtype}"
    assert actual.tobytes() == expected.tobytes(), what


def test_all_types():
    for name in "u1 i1 u2 i2 u4 i4 u8 i8 f4 f8".split():
        for order in "<", ">":
            dtype = numpy.dtype(order + name)
            keys = array_of(dtype)
            require_equal(recipe.gsort(keys, "out.npy"), numpy.sort(keys), f"{dtype}")
            require_equal(recipe.gsort(keys, "out.npy", "-r"), numpy.sort(keys)[::-1], f"{dtype} -r")


def test_raw_files():
    require_equal(recipe.raw_sorted, numpy.sort(recipe.keys), "raw keys")
    assert isinstance(recipe.raw_sorted, numpy.memmap) and isinstance(recipe.largest_first, numpy.memmap)
    require_equal(recipe.largest_first, numpy.sort(recipe.keys)[::-1], ".npy")


def test_where_floats_differ():
    """As README.md says: -NaN comes first, +NaN last, -0 before +0; the same keys otherwise."""
    for dtype in numpy.float32, numpy.float64:
        keys = numpy.array([numpy.nan, 0.0, 1.0, -0.0, -numpy.nan, -1.0, 0.0, -0.0], dtype=dtype)
        actual = recipe.gsort(keys, "out.npy")
        expected = numpy.array([-numpy.nan, -1.0, -0.0, -0.0, 0.0, 0.0, 1.0, numpy.nan], dtype=dtype)
        require_equal(actual, expected, f"{dtype} in total order")
        numpy.testing.assert_array_equal(numpy.sort(actual), numpy.sort(keys))


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("ok:", name)
