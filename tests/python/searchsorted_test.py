"""gsort.searchsorted, beside NumPy's."""

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


@pytest.mark.parametrize("source, values, options, message", [
    (numpy.arange(3, dtype="u4"), [-1], {}, "^values: of dtype int64 change if they become uint32, as the keys are"),
    (numpy.arange(3, dtype="f4"), [0.1], {}, "^values: of dtype float64 change if they become float32"),
    (numpy.arange(3), [0.5], {}, "^values: of dtype float64 change if they become int64"),
    (numpy.arange(3), [1], {"side": "middle"}, "^side 'middle': is neither 'left' nor 'right'"),
    (numpy.zeros((2, 2)), [1], {}, "^source: is not one file or array of keys in one dimension"),
    ("in.txt", [1], {}, "^searching in.txt: text and compressed files cannot be mapped")])
def test_what_cannot_be_searched(source, values, options, message):
    with pytest.raises(gsort.UsageError, match=message):
        gsort.searchsorted(source, values, **options)
