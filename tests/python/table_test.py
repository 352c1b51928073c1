"""Tables: arrays of two dimensions whose rows are sorted as a whole, by columns."""

import gsort
import numpy
import pytest

from support import random_array


def sorted_by(table, *columns):
    """The stable order of the columns, the last of which decides first. NumPy sorts foreign-endian texts wrongly."""
    native = table.astype(table.dtype.newbyteorder("="))
    return numpy.lexsort([native[:, column] for column in columns])


def table_of(dtype, rows=1003, columns=4):
    table = random_array("u1", rows * columns, seed=3).reshape(rows, columns) % 7
    return table.astype(dtype)


@pytest.mark.parametrize("dtype", ["u1", ">u2", "i4", "<f4", ">f8", "M8[s]", "?", "S3", "S40", "<U2", ">U9"])
def test_rows_are_in_the_order_of_the_columns(dtype):
    table = table_of(dtype)
    wanted = table[sorted_by(table, 0, 2)]
    for layout in (numpy.ascontiguousarray, numpy.asfortranarray):
        result = gsort.sort(layout(table), order=[2, 0])
        assert result.dtype == table.dtype and result.shape == table.shape
        assert numpy.array_equal(result, wanted)
    assert numpy.array_equal(gsort.argsort(table, order=[2, 0]), sorted_by(table, 0, 2))
    assert gsort.check(wanted, order=(2, 0)) and not gsort.check(table, order=2)


def test_columns_may_be_descending():
    table = table_of("i8")
    result = gsort.sort(table, order=["-1", 0])
    assert numpy.array_equal(result, table[numpy.lexsort((table[:, 0], -table[:, 1]))])
    assert numpy.array_equal(gsort.sort(table, order=1, descending=True), table[numpy.argsort(-table[:, 1], kind="stable")])


def test_distinct_rows_the_first_ones_and_positions():
    table = table_of("i2", columns=2)
    assert numpy.array_equal(gsort.sort(table, order=[0, 1], unique=True), numpy.unique(table, axis=0))
    first = table[numpy.argsort(table[:, 1], kind="stable")]
    assert numpy.array_equal(gsort.sort(table, order=1, top=10), first[:10])
    assert numpy.array_equal(gsort.argsort(table, order=1, top=10), numpy.argsort(table[:, 1], kind="stable")[:10])
    twice = numpy.concatenate([first, first])
    assert numpy.array_equal(gsort.merge([first, first], order=1), twice[numpy.argsort(twice[:, 1], kind="stable")])


@pytest.mark.parametrize("dtype", ["f8", "S5", "U3"])
def test_tables_in_place_and_in_files(tmp_path, dtype):
    table = table_of("u1").astype(dtype)
    wanted = table[numpy.argsort(table[:, 3], kind="stable")]
    numpy.save(tmp_path / "table.npy", table)
    summary = gsort.sort(tmp_path / "table.npy", tmp_path / "sorted.npy", order=3)
    assert numpy.array_equal(numpy.load(tmp_path / "sorted.npy"), wanted) and summary.elements == len(table)
    assert numpy.array_equal(gsort.sort(tmp_path / "table.npy", order=3), wanted)
    place = numpy.zeros_like(table)
    assert gsort.sort(table, place, order=3) is place and numpy.array_equal(place, wanted)
    assert gsort.sort(table, table, order=3) is table and numpy.array_equal(table, wanted)


def test_the_dtype_of_a_file_is_that_of_its_columns(tmp_path):
    table = table_of("i4")
    numpy.save(tmp_path / "table.npy", table)
    assert numpy.array_equal(gsort.sort(tmp_path / "table.npy", dtype="i4", order=0), gsort.sort(table, order=0))
    numpy.save(tmp_path / "texts.npy", table.astype("U2"))
    for dtype, holds in ("i8", "holds i32, but i64"), ("i4", "holds elements of dtype '<U2', but i32"):
        with pytest.raises(ValueError, match=f"{holds} is to be sorted"):
            gsort.sort(tmp_path / ("table.npy" if dtype == "i8" else "texts.npy"), dtype=dtype, order=0)


def test_a_scalar_is_no_output():
    for output in numpy.int32(3), numpy.zeros(1, "i4,i4")[0]:
        with pytest.raises(ValueError, match=f"output: has type {type(output).__name__}"):
            gsort.sort(table_of("i4"), output, order=0)


def test_tables_of_0_columns_and_of_long_texts():
    for dtype in "i4", "S3":
        with pytest.raises(ValueError, match="the array is a table of 0 columns"):
            gsort.sort(numpy.zeros((3, 0), dtype), order=0)
    with pytest.raises(ValueError, match="texts of 40 characters: texts of up to 32 characters are compared"):
        gsort.sort(numpy.zeros((3, 2), "U40"), order="-1")
    with pytest.raises(ValueError, match="sorting by these columns: they make more than 32 keys"):
        gsort.sort(numpy.zeros((3, 2), "U20"), order=[0, 1])


def test_columns_that_are_not_there():
    table = table_of("f8")
    for order in (4, [0, 9], "x"):
        with pytest.raises(ValueError, match="is not a column of the table"):
            gsort.sort(table, order=order)
    with pytest.raises(ValueError, match="order -1: is not the number of a column"):
        gsort.sort(table, order=[-1])
    for call in gsort.sort, gsort.argsort, gsort.check:
        with pytest.raises(ValueError, match="order: the array has 3 dimensions, a table has two"):
            call(numpy.zeros((2, 3, 4)), order=[0])
    with pytest.raises(ValueError, match="axis"):
        gsort.sort(table, order=0, axis=0)
    with pytest.raises(ValueError, match="not records"):
        gsort.sort(table[0], order=0)


def test_elements_without_fields(tmp_path):
    array = numpy.zeros(6, {"names": [], "formats": [], "offsets": [], "itemsize": 4})
    for place, arguments in (array, {}), (array.reshape(2, 3), {}), (array.reshape(2, 3), {"order": 0}):
        numpy.save(tmp_path / "void.npy", place)
        for call in gsort.sort, gsort.argsort, gsort.check:
            with pytest.raises(ValueError, match="its elements have no order of their own"):
                call(tmp_path / "void.npy", **arguments)
            with pytest.raises(ValueError, match="an array of dtype .* cannot be sorted"):
                call(place, **arguments)
