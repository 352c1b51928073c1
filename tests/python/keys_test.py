"""argsort, unique, intersect1d and setdiff1d, compared with NumPy."""

import numpy
import pytest
from hypothesis import given, strategies
from support import NUMBERS, arrays_of, assert_same, random_array

import gsort

TIMES = [numpy.dtype(name) for name in ("?", "M8[s]", ">m8[ms]")]
INTEGERS = [dtype for dtype in NUMBERS if dtype.kind != "f"]


@pytest.mark.parametrize("dtype", NUMBERS + TIMES, ids=str)
@given(data=strategies.data())
def test_argsort_equals_numpy(dtype, data):
    array = data.draw(arrays_of(dtype))
    if data.draw(strategies.booleans()):  # few values, so that stability shows
        array = numpy.resize(array[:5], array.shape)
    indices = gsort.argsort(array)
    assert indices.dtype == numpy.uint32
    assert (indices == numpy.argsort(array, kind="stable")).all()


@pytest.mark.parametrize("dtype", ["u1", "<f4", "<f8", ">i8"])
def test_argsort_beyond_memory(tmp_path, dtype):
    random_array(dtype, 1 << 20).tofile(tmp_path / "keys")
    mapped = numpy.memmap(tmp_path / "keys", dtype, mode="r")
    output = numpy.lib.format.open_memmap(tmp_path / "indices.npy", "w+", "u4", mapped.shape)
    assert gsort.argsort(mapped, output, memory="6M", temporary=tmp_path) is output
    assert (output == numpy.argsort(mapped, kind="stable")).all()
    assert len(list(tmp_path.iterdir())) == 2


def test_argsort_of_views():
    array = random_array("f4", 4_000).reshape(2_000, 2)
    assert (gsort.argsort(array[::-3, 1]) == numpy.argsort(array[::-3, 1], kind="stable")).all()


def test_argsort_refuses_what_has_no_such_order():
    for wrong in numpy.zeros((2, 2)), numpy.zeros(3, "c8"), numpy.zeros(3, "f2"), numpy.array(["a"]), [1, 2]:
        with pytest.raises(ValueError, match="one-dimensional"):
            gsort.argsort(wrong)
    for wrong in numpy.empty(3, "i8"), numpy.empty(2, "u4"), numpy.empty(6, "u4")[::2]:
        with pytest.raises(ValueError, match="output"):
            gsort.argsort(numpy.zeros(3), wrong)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@given(data=strategies.data())
def test_sets_equal_those_of_numpy(dtype, data):
    a, b = data.draw(arrays_of(dtype)), data.draw(arrays_of(dtype))
    assert_same(gsort.intersect1d(a, b), numpy.intersect1d(a, b).astype(dtype))
    assert_same(gsort.setdiff1d(a, b), numpy.setdiff1d(a, b).astype(dtype))
    keys, counts = gsort.unique(a, counts=True)
    expected_keys, expected_counts = numpy.unique(a, return_counts=True)
    assert_same(keys, expected_keys)
    assert (counts == expected_counts).all()
    assert_same(gsort.unique(a), expected_keys)


@pytest.mark.parametrize("dtype", ["S1", "S3", "S5", "S8", "S16", "<U1", "<U3"])
def test_counts_of_texts(dtype):
    array = numpy.array(["b", "a", "b", "c", "a", "b"]).astype(dtype)
    keys, counts = gsort.unique(array, counts=True)
    assert_same(keys, numpy.unique(array))
    assert (counts == [2, 3, 1]).all()


def test_sets_of_files(tmp_path):
    a, b = random_array("u2", 30_000, 1), random_array("u2", 30_000, 2)
    a.tofile(tmp_path / "a.u16")
    b.tofile(tmp_path / "b.u16")
    summary = gsort.intersect1d(tmp_path / "a.u16", b, tmp_path / "both.u16")
    assert_same(summary.memmap(), numpy.intersect1d(a, b))
    assert_same(gsort.setdiff1d([tmp_path / "a.u16"], tmp_path / "b.u16"), numpy.setdiff1d(a, b))
    keys, counts = gsort.unique(tmp_path / "a.u16", counts=True, temporary=tmp_path)
    assert_same(keys, numpy.unique(a))
    assert counts.sum() == a.size
    assert len(list(tmp_path.iterdir())) == 3


def test_sets_of_what_is_sorted():
    a, b = numpy.arange(0, 100, 2), numpy.arange(0, 100, 3)
    assert_same(gsort.intersect1d(a, b, assume_sorted=True), numpy.intersect1d(a, b))
    with pytest.raises(ValueError, match="not sorted|out of order|comes before"):
        gsort.setdiff1d(a[::-1], b, assume_sorted=True)


def test_counts_of_many_keys():
    array = random_array("u8", 3 << 20) % 1_500_000
    keys, counts = gsort.unique(array, counts=True)
    expected, expected_counts = numpy.unique(array, return_counts=True)
    assert_same(keys, expected)
    assert (counts == expected_counts).all()
