"""Arrays of several dimensions, results in place, and arguments with the names of NumPy and of the program."""

import numpy
import pytest
from support import NUMBERS, assert_same, random_array

import gsort

CUBE = random_array("u1", 24 * 35).astype("i2").reshape(4, 35, 6)
AXES = [0, 1, 2, -1, -2, -3, numpy.int64(1)]
RECORDS = numpy.zeros((6, 50), [("a", "i2"), ("b", "u1")])
RECORDS["a"], RECORDS["b"] = random_array("u1", 300).reshape(6, 50) % 9, random_array("u1", 300, 2).reshape(6, 50)


@pytest.mark.parametrize("axis", AXES + [None])
@pytest.mark.parametrize("dtype", ["i2", ">u4", "f8", "S3"])
def test_axes_equal_those_of_numpy(axis, dtype):
    cube = CUBE.astype(dtype)
    for source in cube, numpy.asfortranarray(cube), cube[::-1, ::2]:
        expected = numpy.sort(source, axis=axis)
        assert_same(gsort.sort(source, axis=axis, kind="quicksort"), expected)
        positions = numpy.argsort(source, axis=axis, kind="stable")
        assert (gsort.argsort(source, axis=axis, kind="stable") == positions).all()
        assert gsort.check(expected, axis=-1 if axis is None else axis)
        room = numpy.empty(expected.shape, dtype)
        assert gsort.sort(source, out=room, axis=axis) is room
        assert_same(room, expected)
        room = numpy.empty(expected.shape, "u4")
        assert gsort.argsort(source, out=room, axis=axis) is room
        assert (room == positions).all()
    assert not gsort.check(CUBE, axis=axis)
    assert_same(gsort.sort(CUBE, axis=axis, descending=True), -numpy.sort(-CUBE, axis=axis))


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("dtype", ["i2", ">u4", "f8", "S3", "M8[s]"])
def test_in_place_along_an_axis(axis, dtype):
    for view in lambda array: array, lambda array: array[:, ::-2], numpy.transpose:
        array = view(CUBE.astype(dtype))
        expected = numpy.sort(array, axis=axis)
        assert gsort.sort(array, out=array, axis=axis) is array
        assert_same(array, expected)
    records = RECORDS.copy()
    assert_same(gsort.sort(records, records), numpy.sort(RECORDS))


@pytest.mark.parametrize("dtype", [dtype for dtype in NUMBERS if dtype.isnative and dtype.kind != "f"], ids=str)
@pytest.mark.parametrize("shape", [(3, 200_001), (70_000, 3), (1, 5), (5, 1), (300, 1_000)], ids=str)
def test_rows_in_place(dtype, shape):
    """Rows that are shared by threads, and threads that have several rows."""
    array = random_array(dtype, shape[0] * shape[1]).reshape(shape).copy()
    expected = numpy.sort(array)
    address = array.ctypes.data
    assert gsort.sort(array, array, threads=3) is array and array.ctypes.data == address
    assert_same(array, expected)
    assert_same(gsort.sort(array[:, ::-1].copy(), descending=True), expected[:, ::-1])


def test_rows_in_place_take_no_copy():
    import tracemalloc
    array = random_array("i4", 1 << 20).reshape(1 << 10, 1 << 10).copy()
    tracemalloc.start()
    try:
        gsort.sort(array, array)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_memmap_in_place_takes_no_copy(tmp_path):
    import tracemalloc
    array = random_array("i4", 1 << 20)
    array.tofile(tmp_path / "keys")
    mapped = numpy.memmap(tmp_path / "keys", "i4", mode="r+")
    tracemalloc.start()
    try:
        assert gsort.sort(mapped, mapped) is mapped
        part = mapped[1 << 19:]
        assert gsort.sort(part, part, descending=True) is part
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    expected = numpy.sort(array)
    assert_same(numpy.fromfile(tmp_path / "keys", "i4"), numpy.concatenate([expected[:1 << 19], expected[:(1 << 19) - 1:-1]]))


def test_the_copy_of_a_result_in_place_is_within_the_memory(tmp_path):
    import tracemalloc
    array = random_array("u8", 1 << 21).copy()
    array.tofile(tmp_path / "keys")
    mapped = numpy.memmap(tmp_path / "keys", "u8", mode="r+")
    tracemalloc.start()
    try:
        assert gsort.sort(mapped, mapped, memory="12M", temporary=tmp_path) is mapped
        assert tracemalloc.get_traced_memory()[1] < 12 << 20
    finally:
        tracemalloc.stop()
    assert_same(numpy.array(mapped), numpy.sort(array))
    rows = array.reshape(1 << 10, -1)
    expected = numpy.sort(rows, axis=0)
    assert gsort.sort(rows, rows, axis=0, memory="12M", temporary=tmp_path) is rows
    assert_same(rows, expected)


@pytest.mark.parametrize("dtype", ["f2", "<f4", ">f8", "M8[s]", "u8"])
def test_positions_in_rows_equal_those_of_numpy(dtype):
    rows = (random_array("u1", 3_000) % 7).astype("u2").astype(dtype).reshape(30, 100)
    if rows.dtype.kind == "f":
        rows[::3, ::5], rows[1::3, ::7], rows[::2, ::9] = numpy.nan, -numpy.nan, -0.0
        rows[1, :4] = rows.dtype.type(numpy.inf), -rows.dtype.type(numpy.inf), -0.0, 0.0
    else:
        rows.view("i8")[::3, ::5] = numpy.iinfo("i8").min if dtype != "u8" else 0
    for array in rows, rows.reshape(3, 10, 100), rows[:, :0], rows[:0]:
        found = gsort.argsort(array, threads=2, memory="16M")
        assert found.dtype == "u4" and (found == numpy.argsort(array, kind="stable")).all()
    backwards = gsort.argsort(rows[:, ::-1], descending=True)
    assert (backwards == 99 - numpy.argsort(rows, kind="stable")[:, ::-1]).all()  # equal ones in the order of the source
    line = rows[0]
    assert (gsort.argsort(line[::-1], descending=True) == 99 - numpy.argsort(line, kind="stable")[::-1]).all()
    assert (gsort.argsort(line, top=5) == numpy.argsort(line, kind="stable")[:5]).all()


def test_positions_of_records_in_rows():
    for order in None, "b", ["b", "a"]:
        expected = [gsort.argsort(row, order=order) for row in RECORDS]
        assert (gsort.argsort(RECORDS, order=order) == expected).all()
    assert (gsort.argsort(RECORDS) == numpy.argsort(RECORDS, kind="stable")).all()


NUMBERS_4 = numpy.array([3, 1, 2, 1])
WRONG = [
    (lambda: gsort.sort(CUBE, axis=3), "axis 3: the array has 3 dimensions\n  give a number from -3 to 2, or None"),
    (lambda: gsort.argsort(NUMBERS_4, axis=-2), "axis -2: the array has 1 dimension\n"),
    (lambda: gsort.check(NUMBERS_4, axis="0"), "axis: has type str\n"),
    (lambda: gsort.sort(CUBE, axis=True), "axis: has type bool"),
    (lambda: gsort.sort("in.u32", axis=0), "axis: a file, or a list of sources, has none\n"),
    (lambda: gsort.sort([NUMBERS_4, NUMBERS_4], axis=None), "axis: a file, or a list of sources, has none\n"),
    (lambda: gsort.sort(CUBE, "out.npy", axis=0), "output: this result cannot be written to a file\n"),
    (lambda: gsort.argsort(CUBE, "out.npy"), "output: this result cannot be written to a file\n"),
    (lambda: gsort.sort(CUBE, numpy.empty((6, 35, 4), "i2"), axis=0),
     "output: the array has shape (6, 35, 4), the result (4, 35, 6)"),
    (lambda: gsort.argsort(CUBE, numpy.empty(CUBE.shape, "i8")), "output: the array has dtype int64, the result uint32\n"),
    (lambda: gsort.sort(CUBE, CUBE[::-1], axis=0), "output: the array shares memory with a source\n"),
    (lambda: gsort.argsort(CUBE, top=1), "top: cannot be combined with rows of an array\n"),
    (lambda: gsort.argsort(CUBE, dtype="i4"), "dtype: the array holds int16, not int32\n"),
    (lambda: gsort.unique(CUBE, return_index=True, dtype="i4"), "dtype: the array holds int16, not int32\n"),
    (lambda: gsort.unique(CUBE, return_inverse=True, dtype="i4"), "dtype: the array holds int16, not int32\n"),
    (lambda: gsort.argsort(CUBE, descending="no"), "descending: has type str\n"),
    (lambda: gsort.argsort(CUBE, order="a"), "order: the array has 3 dimensions, a table has two\n"),
    (lambda: gsort.sort(CUBE, kind="bubble"), "kind 'bubble': is none of NumPy's\n  leave it out: every sort is stable"),
    (lambda: gsort.sort(NUMBERS_4, memory="1G", S="1G"), "S: is another name of memory\n  give one of them")]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_errors_name_the_argument(number):
    call, words = WRONG[number]
    before = CUBE.tobytes(), NUMBERS_4.tobytes()
    with pytest.raises(gsort.UsageError) as caught:
        call()
    assert words in str(caught.value), str(caught.value)
    assert (CUBE.tobytes(), NUMBERS_4.tobytes()) == before


def test_an_array_that_is_only_read_is_not_sorted_in_place():
    array = CUBE.copy()
    array.flags.writeable = False
    for axis in -1, 0:
        with pytest.raises(gsort.UsageError, match="read-only"):
            gsort.sort(array, array, axis=axis)
    assert_same(array, CUBE)


def test_names_of_numpy_and_of_the_program(tmp_path):
    room = numpy.empty(4, "i8")
    assert gsort.sort(NUMBERS_4, out=room, reverse=True, parallel=2, S="16M", temporary_directory=tmp_path) is room
    assert room.tolist() == [3, 2, 1, 1]
    assert gsort.argsort(NUMBERS_4, reverse=True, buffer_size="16M").tolist() == [0, 2, 1, 3]
    assert gsort.merge([[1, 2]], out=numpy.empty(2, "i8"), S="16M").tolist() == [1, 2]
    assert gsort.check([2, 1], reverse=True, parallel=1)
    assert gsort.unique(NUMBERS_4, return_counts=True)[1].tolist() == [2, 1, 1]
    assert gsort.setdiff1d(NUMBERS_4, [1], parallel=1, S="16M").tolist() == [2, 3]
    with pytest.raises(TypeError, match="counts"):
        gsort.sort(NUMBERS_4, return_counts=True)
