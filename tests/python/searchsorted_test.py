"""gsort.searchsorted, beside NumPy's."""

import datetime
import gzip
import os
import re
from decimal import Decimal
from fractions import Fraction

import gsort
import numpy
import pytest

from support import NUMBERS, OTHERS, random_array

SIDES = "left", "right"


@pytest.mark.parametrize("dtype", [*NUMBERS, *OTHERS], ids=str)
def test_positions_are_those_of_numpy(dtype, tmp_path):
    few = random_array("u1", 3000).astype("u2")  # so that keys repeat
    array = gsort.sort(random_array(dtype, 3000) if dtype.kind in "fmM" else few.astype(dtype))
    values = numpy.concatenate([array[::7], random_array(dtype, 500, seed=2) if dtype.kind in "uifmM" else array[:9]])
    numpy.save(tmp_path / "in.npy", array)
    for side in SIDES:
        wanted = numpy.searchsorted(array, values, side)
        for source in array, tmp_path / "in.npy":
            result = gsort.searchsorted(source, values, side)
            assert result.dtype == numpy.intp and numpy.array_equal(result, wanted)
        reverse = array[::-1].copy()
        other = SIDES[side == "left"]
        assert numpy.array_equal(gsort.searchsorted(reverse, values, side, reverse=True),
                                 array.size - numpy.searchsorted(array, values, other))


def test_files_values_and_shapes(tmp_path):
    keys = numpy.sort(random_array("<u8", 10_000))
    keys.tofile(tmp_path / "in.u64")
    assert gsort.searchsorted(tmp_path / "in.u64", int(keys[77])) == 77
    assert numpy.array_equal(gsort.searchsorted(tmp_path / "in.u64", keys.reshape(100, 100)[:3]), numpy.arange(300).reshape(3, 100))
    assert gsort.searchsorted(tmp_path / "in.u64", [], dtype="<u8").shape == (0,)
    assert gsort.searchsorted(numpy.arange(10, dtype="f4"), [2.5, 3], "right").tolist() == [3, 4]
    (tmp_path / "none.u64").write_bytes(b"")
    assert gsort.searchsorted(tmp_path / "none.u64", [1, 2]).tolist() == [0, 0]


KEYS = numpy.arange(1000, dtype="<u4")


def _npy(tmp_path, array, more=b""):
    numpy.save(tmp_path / "made.npy", array)
    return (tmp_path / "made.npy").read_bytes() + more


@pytest.mark.parametrize("dtype", [None, "<u4", "M8[s]", "S4"], ids=str)
def test_a_file_is_opened_as_by_a_sort(dtype, tmp_path):
    """With every dtype, those too that the program has no name for."""
    kind = numpy.dtype(dtype or "<u4")
    array = KEYS.astype(kind) if kind.kind != "S" else numpy.array([f"{key:04}" for key in KEYS], kind)
    (tmp_path / "zipped.u32").write_bytes(gzip.compress(array.tobytes()))
    (tmp_path / "header.u32").write_bytes(_npy(tmp_path, array))
    (tmp_path / "more.npy").write_bytes(_npy(tmp_path, array, b"1234"))
    (tmp_path / "other.npy").write_bytes(_npy(tmp_path, KEYS.astype(">u2")))
    os.mkfifo(tmp_path / "pipe.u32")
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "folder.u32").mkdir()
    for name, message in [("zipped.u32", "its content is compressed"), ("header.u32", "begins with the header of a NumPy array"),
                          ("more.npy", "more"), ("pipe.u32", "is not a regular file"), ("pipe.npy", "is not a regular file"),
                          ("folder.u32", "Is a directory"), ("none.u32", "No such file"),
                          ("other.npy", "holds (u16|elements of dtype >u2)")]:
        if name == "other.npy" and dtype is None:
            continue
        with pytest.raises(gsort.Error, match=message):
            gsort.searchsorted(tmp_path / name, array[:1], dtype=dtype)
        if kind.kind in "MS":  # a sort maps these, too
            with pytest.raises(gsort.Error, match=message):
                gsort.sort(tmp_path / name, dtype=dtype)
    with pytest.raises(gsort.UsageError, match="is not a regular file"):
        gsort.searchsorted("/dev/zero", array[:1], dtype=kind)
    array.tofile(tmp_path / "in.u32")
    array.tofile(tmp_path / "in.txt")  # such a dtype is that of raw bytes, whatever the name is
    if kind.kind in "MS":
        assert numpy.array_equal(gsort.sort(tmp_path / "in.txt", dtype=dtype), array)
    assert gsort.searchsorted(tmp_path / "in.u32", array[7], dtype=dtype) == 7


def test_an_array_is_of_the_dtype_that_is_asked_for():
    with pytest.raises(gsort.UsageError, match="^dtype: the array holds int64, not uint8"):
        gsort.searchsorted(numpy.arange(3), [1], dtype="u1")


FLOATS = numpy.array([1, 2.0**53, 2.0**53 + 2])
TIMES = numpy.array(["1999-01-01", "2001-01-01"], "M8[ns]")


@pytest.mark.parametrize("keys, values, wanted", [
    (numpy.arange(4, dtype="f4"), [2, numpy.nan], [2, 4]),
    (numpy.arange(4), [2.0, 3], [2, 3]),
    (numpy.arange(4), numpy.array([2.0, -2.0**63]), [2, 0]),
    (numpy.array([0, 5, 2**64 - 1], "u8"), [2**64 - 1, 1], [2, 1]),
    (FLOATS, [2**53, 2**53 + 2], [1, 2]),
    (FLOATS, numpy.array([2**63], "u8"), [3]),
    (numpy.array([False, True]), [1, 0], [1, 0]),
    (TIMES, numpy.array(["2000-01-01", "NaT"], "M8[D]"), [1, 2]),
    (TIMES, [datetime.datetime(2000, 1, 1)], [1]),
    (numpy.arange(4).astype("m8[s]"), [2], [2]),
    (numpy.array(["a", "b"]), numpy.array(["b"], "U9"), [1])])
def test_values_that_do_not_change_are_taken(keys, values, wanted):
    assert gsort.searchsorted(keys, values).tolist() == wanted


def exact_place(keys, number, takes_equal):
    """The number of keys before a number, as Python compares them."""
    if number != number:
        return keys.size if takes_equal else int(numpy.count_nonzero(keys == keys))
    return sum(key < number or (takes_equal and key == number) for key in keys[keys == keys].tolist())


@pytest.mark.parametrize("dtype", ["?", "u1", ">i2", "i8", "u8", "f2", ">f4", "f8"])
def test_numbers_that_are_no_keys_have_places_between_them(dtype):
    few = numpy.array([0, 1, 1, 0, 0.25, -2, -7.5, 100, 1000, 65500, 2**24, 2**53, 2**62, 1e30, -0.0, -1e30, 1e300, -numpy.inf, numpy.inf,
                       numpy.nan])
    kind = numpy.dtype(dtype)
    with numpy.errstate(all="ignore"):
        low, high = (0, 1) if kind.kind == "b" else (numpy.iinfo(kind).min, numpy.iinfo(kind).max) if kind.kind in "iu" else (-numpy.inf, numpy.inf)
        fit = few if kind.kind == "f" else few[(few >= low) & (few <= high)]
        keys = numpy.sort(fit.astype(kind))
    groups = [
        [0.1, -0.1, 1e-320, -1e-320, 0.5, 1.5, -2.5, 99.999, 255.5, 65519.9, 2.0**63, -2.0**63, 1e40, -1e40, numpy.inf, -numpy.inf, numpy.nan],
        [-1, 2, 256, -300, 2**24 + 1, 2**53 + 1, 2**53 - 1, 2**63 - 1, -2**63], [2**64 - 1, 2**63, 2**53 + 1, 3],
        [2**64, -2**70, 10**400, -10**400, Fraction(1, 3), Decimal("0.1"), Decimal("-2.5"), Fraction(10**30 + 1), True]]
    arrays = [numpy.array(groups[0]), numpy.array(groups[1]), numpy.array(groups[2], "u8"), numpy.array([0.1, -2.5, 3e38, numpy.inf, numpy.nan], "f4")]
    reverse = keys[::-1].copy()
    for values in *groups, *arrays, numpy.float64(0.3), 2.5, -1, [[0.5, 1], [2.5, 3]]:
        numbers = numpy.array(values, object) if not isinstance(values, numpy.ndarray) else values
        for side in SIDES:
            found = gsort.searchsorted(keys, values, side)
            wanted = [exact_place(keys, number.item() if isinstance(number, numpy.generic) else number, side == "right")
                      for number in numbers.flat]
            assert numpy.ravel(found).tolist() == wanted and found.shape == numbers.shape
            other = [exact_place(keys, number.item() if isinstance(number, numpy.generic) else number, side == "left")
                     for number in numbers.flat]
            assert (keys.size - numpy.ravel(gsort.searchsorted(reverse, values, side, r=True))).tolist() == other


@pytest.mark.parametrize("keys, values", [
    (FLOATS, [None]),
    (FLOATS, [[1, 2], [3]]),
    (FLOATS, [1j]),
    (TIMES, numpy.array(["9999-01-01"], "M8[D]")),
    (TIMES, [numpy.datetime64("9999-01-01", "D")]),
    (numpy.arange(4).astype("m8[s]"), numpy.array([-2**63])),
    (numpy.array(["a", "b"]), ["ab"]),
    (numpy.array(["a", "b"]), ["a\0"]),
    (numpy.array(["5" * 30]), [5])])
def test_values_of_another_kind_are_refused(keys, values):
    with pytest.raises(gsort.UsageError, match=f"^values: one cannot become {re.escape(str(keys.dtype))}, the type of the keys"):
        gsort.searchsorted(keys, values)


@pytest.mark.parametrize("source, values, options, message", [
    (numpy.arange(3), numpy.ma.array([1]), {}, "^values: the array has a mask"),
    (numpy.arange(3), [1], {"side": "middle"}, "^side 'middle': is neither 'left' nor 'right'"),
    (numpy.zeros((2, 2)), [1], {}, "^source: is not one file or array of keys in one dimension"),
    ("in.txt", [1], {}, "^searching in.txt: text and compressed files cannot be mapped")])
def test_what_cannot_be_searched(source, values, options, message):
    with pytest.raises(gsort.UsageError, match=message):
        gsort.searchsorted(source, values, **options)
