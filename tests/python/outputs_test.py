"""An output array that shares memory with a source is an error, and the source stays as it was, except that an array is
sorted in place."""

import time

import numpy
import pytest
from support import NUMBERS, assert_same, random_array, sorted_by_numpy

import gsort

KEYS = random_array("i4", 20_000)


@pytest.fixture
def file(tmp_path):
    KEYS.tofile(tmp_path / "keys.i32")
    yield tmp_path / "keys.i32"
    assert (numpy.fromfile(tmp_path / "keys.i32", "i4") == KEYS).all()


def refused(call):
    with pytest.raises(gsort.UsageError, match="^output: .*source"):
        call()


def test_a_map_of_the_file_that_is_read(file):
    output = numpy.memmap(file, "i4", mode="r+")
    refused(lambda: gsort.sort(file, output))
    refused(lambda: gsort.sort([KEYS, str(file)], numpy.memmap(file, "i4", mode="r+")))


def test_two_maps_of_a_file(file):
    source = numpy.memmap(file, "i4", mode="r")
    refused(lambda: gsort.sort(source, numpy.memmap(file, "i4", mode="r+")))
    refused(lambda: gsort.sort(source[10_000:], numpy.memmap(file, "i4", mode="r+")[:10_001]))
    refused(lambda: gsort.sort(source[::2], numpy.memmap(file, "i4", mode="r+")[:10_000]))
    refused(lambda: gsort.sort(numpy.memmap(file, "i4", mode="c"), numpy.memmap(file, "i4", mode="r+")))
    refused(lambda: gsort.argsort(source, numpy.memmap(file, "u4", mode="r+")))
    (file.parent / "link").hardlink_to(file)
    refused(lambda: gsort.sort(source, numpy.memmap(file.parent / "link", "i4", mode="r+")))


def test_other_parts_of_a_file_and_private_maps_are_no_overlap(tmp_path):
    KEYS.tofile(tmp_path / "keys")
    source = numpy.memmap(tmp_path / "keys", "i4", mode="r")
    output = numpy.memmap(tmp_path / "keys", "i4", mode="r+")
    assert_same(numpy.array(gsort.sort(source[:10_000], output[10_000:])), numpy.sort(KEYS[:10_000]))
    assert (source[:10_000] == KEYS[:10_000]).all()
    private = numpy.memmap(tmp_path / "keys", "i4", mode="c")
    expected = numpy.sort(numpy.array(source))
    assert (gsort.sort(source, private) == expected).all()


def test_views_of_the_output():
    array = KEYS.copy()
    for source in array[:], array[::-1], array[1:], [KEYS, array[:5]]:
        refused(lambda: gsort.sort(source, array))
    assert (array == KEYS).all()


def test_elements_of_an_output_that_share_memory():
    def stepwise(shape, strides, dtype="i4"):
        return numpy.lib.stride_tricks.as_strided(numpy.zeros(99, dtype), shape, strides)

    keys = random_array("i4", 20).reshape(5, 4)
    for array in stepwise((5, 4), (4, 4)), stepwise((5, 4), (0, 4)), stepwise((5, 4), (16, 2)):
        before = array.tolist()
        for call in (lambda: gsort.sort(array, array), lambda: gsort.sort(keys, array, axis=0), lambda: gsort.sort(keys.T, array.T),
                     lambda: gsort.shuffle(array, array), lambda: gsort.sort_pairs(keys, keys, (keys.copy(), array))):
            with pytest.raises(gsort.UsageError, match="elements of the array share memory|not contiguous"):
                call()
        assert array.tolist() == before
    for array in stepwise((5, 4), (4, 20)), numpy.zeros((9, 9), "i4")[::-2, 8:4:-1]:
        assert_same(gsort.sort(keys, array, axis=0), numpy.sort(keys, axis=0))


@pytest.mark.parametrize("dtype", [dtype for dtype in NUMBERS if dtype.isnative], ids=str)
@pytest.mark.parametrize("count", [0, 1, 10, 1_000, 100_000, 600_001])
def test_an_array_is_sorted_in_place(dtype, count):
    for descending in False, True:
        array = random_array(dtype, count).copy()
        expected = sorted_by_numpy(array, descending)
        assert gsort.sort(array, array, descending=descending, threads=3) is array
        assert_same(array, expected)


def test_in_place_is_for_whole_results_and_arrays_that_can_be_written():
    array = KEYS.copy()
    refused(lambda: gsort.sort(array, array, unique=True))
    array.flags.writeable = False
    with pytest.raises(gsort.UsageError, match="read-only"):
        gsort.sort(array, array)
    rows = KEYS.copy().reshape(100, 200)
    refused(lambda: gsort.sort(rows, rows[:]))


def test_few_keys_take_microseconds():
    array, least = KEYS[:10].copy(), 1.0
    for _ in range(1000):
        begin = time.perf_counter()
        gsort.sort(array)
        least = min(least, time.perf_counter() - begin)
    assert least < 50e-6


@pytest.mark.parametrize("function", [gsort.intersect1d, gsort.setdiff1d])
def test_outputs_of_sets(function, file):
    array = KEYS.copy()
    for sorted_already in False, True:
        refused(lambda: function(array, KEYS[:5], array, assume_sorted=sorted_already))
        refused(lambda: function(KEYS[:5], [array], array, assume_sorted=sorted_already))
        refused(lambda: function(file, KEYS[:5], numpy.memmap(file, "i4", mode="r+"), assume_sorted=sorted_already))
    assert (array == KEYS).all()
