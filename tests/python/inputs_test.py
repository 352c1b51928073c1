"""Sources that are not NumPy arrays, and outputs that are not: as the arrays that they hold, or an error."""

import array
import ctypes
import datetime
import math

import numpy
import pytest
from support import assert_same, random_array, run_python

import gsort

KEYS = random_array("i4", 1_000)


class Holder:
    """An array by one protocol alone."""

    def __init__(self, keys, name):
        self.keys = keys
        setattr(type(self), name, getattr(self, f"give_{name.strip('_')}"))

    def give_array(self, *arguments, **named):
        return self.keys

    def give_dlpack(self, *arguments, **named):
        return self.keys.__dlpack__(*arguments, **named)


def holder(name, keys=KEYS):
    made = type("Holder", (Holder,), {})(keys, name)
    if name == "__dlpack__":
        type(made).__dlpack_device__ = lambda self: (1, 0)
    return made


SOURCES = {
    "list": (KEYS.tolist(), KEYS.astype("i8")), "tuple": (tuple(KEYS.tolist()), KEYS.astype("i8")),
    "list of floats": ([2, math.inf, -1.5], numpy.array([2, math.inf, -1.5])),
    "list of bools": ([True, False, True], numpy.array([True, False, True])),
    "list of scalars": (list(KEYS[:9]), KEYS[:9]), "range": (range(9, -9, -2), numpy.arange(9, -9, -2)),
    "generator of numbers": ((key for key in (3, 1, 2)), numpy.array([3, 1, 2])),
    "generator of arrays": ((KEYS[begin:begin + 300] for begin in range(0, 1_000, 300)), KEYS),
    "iterator of lists and arrays": (iter([KEYS, array.array("i", [7, 5])]), numpy.append(KEYS, [7, 5]).astype("i4")),
    "array.array": (array.array("i", KEYS.tolist()), KEYS), "memoryview": (memoryview(KEYS), KEYS),
    "strided memoryview": (memoryview(KEYS)[::-3], KEYS[::-3]), "bytearray": (bytearray(b"cab"), numpy.array([*b"cab"], "u1")),
    "ctypes": ((ctypes.c_int32 * 3)(3, 1, 2), numpy.array([3, 1, 2], "i4")),
    "__array_interface__": (type("Holder", (), {"__array_interface__": KEYS.__array_interface__})(), KEYS),
    "__array__": (holder("__array__"), KEYS), "__dlpack__": (holder("__dlpack__"), KEYS)}


@pytest.mark.parametrize("name", SOURCES)
def test_sources(name):
    source, keys = SOURCES[name]
    is_iterator = hasattr(source, "__next__")
    assert_same(gsort.sort(source), numpy.sort(keys))
    if is_iterator:  # it has ended
        return
    assert (gsort.argsort(source, descending=True) == numpy.argsort(-keys.astype("f8"), kind="stable")).all()
    assert_same(gsort.merge([gsort.sort(source), source][:1]), numpy.sort(keys))
    assert not gsort.check(source)
    assert_same(gsort.unique(source), numpy.unique(keys))
    assert_same(gsort.unique(source, counts=True)[1], numpy.unique(keys, return_counts=True)[1])
    assert_same(gsort.intersect1d(source, keys[:2]), numpy.unique(keys[:2]))
    assert_same(gsort.setdiff1d(source, keys[:2]), numpy.setdiff1d(keys, keys[:2]))


def test_sources_of_a_dtype():
    raw = KEYS.tobytes()
    for source in bytearray(raw), memoryview(raw), memoryview(raw).cast("c"), array.array("B", raw):
        assert_same(gsort.sort(source, dtype=">i4"), numpy.sort(KEYS.view(">i4")))
        assert (gsort.argsort(source, dtype="i4") == numpy.argsort(KEYS, kind="stable")).all()
    assert gsort.sort(bytearray(), dtype="i4").shape == (0,)
    assert_same(gsort.sort([3, 1, 2], dtype="f4"), numpy.array([1, 2, 3], "f4"))
    assert_same(gsort.sort([[3, 1], [2, 7]], dtype="u1"), numpy.array([[1, 3], [2, 7]], "u1"))
    assert_same(gsort.unique([2.0, math.nan, 2.0], dtype="f4"), numpy.array([2, math.nan], "f4"))


def test_lists_of_sources_and_nested_lists(tmp_path):
    KEYS.tofile(tmp_path / "keys.i32")
    both = numpy.sort(numpy.concatenate([KEYS, KEYS]))
    assert_same(gsort.sort([tmp_path / "keys.i32", memoryview(KEYS)]), both)
    assert_same(gsort.sort(iter([str(tmp_path / "keys.i32"), KEYS])), both)
    assert_same(gsort.sort(([3, 1], [0, 2])), numpy.array([[1, 3], [0, 2]]))


ROUNDED = "numbers of the list would be rounded"
WRONG = [
    ([2**63 + 1, -1], ROUNDED), ([2**53 + 1, 0.5], ROUNDED), ([numpy.uint64(2**63 + 1), numpy.int64(-1)], ROUNDED),
    ([2**64], "no NumPy dtype holds all elements of the list\n  give numpy.array(source, dtype=...)"),
    ([1, None], "no NumPy dtype holds all elements of the list"), ([datetime.date.today()], "no NumPy dtype holds"),
    ([[1, 2], [3]], "NumPy makes no array of the list: "), ([1 + 2j], "dtype complex128 cannot be sorted\n  sort the parts"),
    ({1, 2}, "a source is a set\n  give a path, an array, or a list"), (numpy.zeros(2, object), "array.astype('U') of texts"),
    (memoryview(b"12345"), "the size, 5 bytes, is not a multiple of the element size, 4\n  check the dtype"),
    ([0.5], "numbers of the list, float64, do not fit in int32"), ([2**31], "int64, do not fit in int32"),
    ([-1], "int64, do not fit in uint64"), ([1e-9], "float64, do not fit in float32"),
    ([math.nan, 1.0], "float64, do not fit in int32"), ([math.nan, 1.0], "float64, do not fit in bool"),
    ([numpy.datetime64("9999-01-01"), numpy.datetime64(1, "ns")], "numbers of the list would overflow"),
    ([[numpy.timedelta64(10**9, "D")], [numpy.timedelta64(1, "ns")]], "numbers of the list would overflow")]
WRONG += [(numpy.ndarray, "a type gives no array"), (numpy.zeros(2, "G"), "convert it: array.astype("),
          (numpy.zeros(2, [("a", object)]), "convert it: array.astype(")]
DTYPES = {10: "i4", 11: "i4", 12: "i4", 13: "u8", 14: "f4", 15: "i4", 16: "?"}


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_sources_that_are_errors(number):
    source, words = WRONG[number]
    with pytest.raises(gsort.UsageError) as caught:
        gsort.sort(source, dtype=DTYPES.get(number))
    assert words in str(caught.value) and caught.value.hint, str(caught.value)


def test_times_of_several_units():
    times = [*(numpy.datetime64(text) for text in ("2021-01-01T01", "2021", "2021-01-01")), numpy.datetime64("NaT", "D")]
    assert_same(gsort.sort(times), numpy.array(["2021-01-01T00", "2021-01-01T00", "2021-01-01T01", "NaT"], "M8[h]"))
    assert_same(gsort.sort([numpy.timedelta64(1, "m"), numpy.timedelta64(59, "s")]), numpy.array([59, 60], "m8[s]"))


def test_a_matrix_is_an_array():
    matrix = numpy.array([[3, 1], [2, 1]]).view(numpy.matrix)
    keys, inverse = gsort.unique(matrix, return_inverse=True)
    assert_same(keys, numpy.array([1, 2, 3]))
    assert_same(inverse, numpy.array([[2, 0], [1, 0]]))
    assert_same(gsort.sort(matrix, axis=None), numpy.array([1, 1, 2, 3]))
    room = numpy.zeros((2, 2), int).view(numpy.matrix)
    assert gsort.sort(matrix, room) is room and room.tolist() == [[1, 3], [1, 2]]
    assert gsort.sort(matrix, matrix, axis=0) is matrix and matrix.tolist() == [[2, 1], [3, 1]]
    records = numpy.array([(2,), (1,)], [("a", "i4")]).view(numpy.recarray)
    assert gsort.sort(records, records) is records and records.a.tolist() == [1, 2]


def test_complex_numbers_by_their_parts():
    keys = random_array("u1", 100).astype("f4").view("c8")
    with pytest.raises(gsort.UsageError) as caught:
        gsort.sort(keys)
    way = caught.value.hint.removeprefix("sort the parts: ")
    assert_same(eval(way, {"gsort": gsort, "array": keys}), numpy.sort(keys))


def test_outputs_that_are_buffers():
    expected = numpy.sort(KEYS)
    room = array.array("i", bytes(4_000))
    assert_same(gsort.sort(KEYS, room), expected)
    assert_same(numpy.array(room), expected)
    for keys in array.array("i", KEYS.tolist()), bytearray(KEYS.tobytes()):
        result = gsort.sort(keys, out=keys, dtype="i4")
        assert numpy.shares_memory(result, numpy.asarray(memoryview(keys)))
        assert bytes(keys) == expected.tobytes()
    for wrong in memoryview(KEYS.tobytes()).cast("i"), [1, 2], "numbers" and {}:
        with pytest.raises(gsort.UsageError, match="^output: "):
            gsort.sort(KEYS, wrong)
    numbers = [3, 1, 2]
    with pytest.raises(gsort.UsageError, match="^output: has type list"):
        gsort.sort(numbers, numbers)
    with pytest.raises(gsort.UsageError, match="axis is an argument with a name"):
        gsort.sort(KEYS, 0)


class Tensor:
    """An array of a library whose DLPack capsules have no version, so that NumPy takes them for read-only."""

    def __init__(self, keys):
        self.keys = keys

    def __array__(self, dtype=None, copy=None):
        return self.keys

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        return self.keys.__dlpack__()


def test_outputs_with_old_capsules():
    room = numpy.empty_like(KEYS)
    gsort.sort(KEYS, Tensor(room))
    assert_same(room, numpy.sort(KEYS))
    room = KEYS.copy()
    tensor = Tensor(room)
    gsort.sort(tensor, tensor)
    assert_same(room, numpy.sort(KEYS))
    other = type("Copied", (Tensor,), {"__array__": lambda self, *_, **__: self.keys.copy()})(room)
    with pytest.raises(gsort.UsageError, match="the array is read-only"):
        gsort.sort(KEYS, other)


@pytest.fixture(scope="module")
def pandas():
    return pytest.importorskip("pandas", reason="pandas is not in build/python (tools/setup)")


@pytest.fixture(scope="module")
def pyarrow():
    return pytest.importorskip("pyarrow", reason="pyarrow is not in build/python (tools/setup)")


@pytest.fixture(scope="module")
def polars():
    return pytest.importorskip("polars", reason="Polars is not in build/python (tools/setup)")


TYPES = "i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 ? M8[ms] m8[us] M8[D]".split()


@pytest.mark.parametrize("dtype", TYPES)
def test_arrow(pyarrow, dtype):
    keys = (random_array("u1", 900) % 99).astype("u2").astype(dtype)
    whole = pyarrow.array(keys)
    halves = pyarrow.chunked_array([whole[:450], whole[450:]])
    for source in whole, whole[7:], whole[3:11], whole[:0], halves, halves[7:], halves[:450], halves[:0]:
        expected = source.to_numpy(zero_copy_only=False) if isinstance(source, pyarrow.Array) else source.to_numpy()
        assert_same(gsort.sort(source), numpy.sort(expected.astype(dtype)))
    assert (gsort.argsort(whole) == numpy.argsort(keys, kind="stable")).all()


def test_arrow_is_not_copied_and_keeps_its_memory(pyarrow):
    from gsort._arrays import as_array
    for source in pyarrow.array(KEYS), pyarrow.chunked_array([KEYS]):
        array = as_array(source)
        assert not array.flags.writeable
        buffers = (source if isinstance(source, pyarrow.Array) else source.chunk(0)).buffers()
        assert array.ctypes.data == buffers[1].address
        del source, buffers
        assert_same(array, KEYS)


@pytest.mark.parametrize("make", ["array", "chunked_array", "slice"])
def test_arrow_with_nulls(pyarrow, make):
    values = [3, None, 1, None, 2]
    source = {"array": lambda: pyarrow.array(values, "i2"), "chunked_array": lambda: pyarrow.chunked_array([[1], values]),
              "slice": lambda: pyarrow.array([None, None, None, *values])[3:]}[make]()
    with pytest.raises(gsort.UsageError, match="has 2 nulls, without a place") as caught:
        gsort.sort(source)
    assert ".drop_null() of pyarrow" in caught.value.hint
    assert gsort.sort(source.drop_null()).tolist()[-3:] == ([1, 2, 3] if make != "chunked_array" else [1, 2, 3])
    assert gsort.sort(pyarrow.array([None, None, 5, 4], "i2")[2:]).tolist() == [4, 5]  # its nulls are not counted yet


def test_an_error_names_the_way_to_arrays_of_an_archive(tmp_path):
    numpy.savez(tmp_path / "keys.npz", keys=KEYS)
    with pytest.raises(gsort.DataError, match=r"\n  give numpy\.load\(path\)\[name\]"):
        gsort.sort(tmp_path / "keys.npz")
    with numpy.load(tmp_path / "keys.npz") as arrays:
        with pytest.raises(gsort.UsageError, match=r"give one of its arrays, as source\[name\]"):
            gsort.sort(arrays)
        assert_same(gsort.sort(arrays["keys"]), numpy.sort(KEYS))


def test_any_buffer_is_a_source(pyarrow):
    class Buffer(bytearray):  # a class that no list names
        __slots__ = ()

    for buffer in pyarrow.py_buffer(KEYS.tobytes()), Buffer(KEYS.tobytes()), memoryview(KEYS):
        assert_same(gsort.sort(buffer, dtype=KEYS.dtype), numpy.sort(KEYS))
        assert_same(gsort.sort([buffer, KEYS], dtype=KEYS.dtype), numpy.sort(numpy.append(KEYS, KEYS)))
    for data in KEYS.tobytes(), b"1" * 5000:
        with pytest.raises(gsort.UsageError, match="^path '.+'...: has ") as caught:
            gsort.sort(data, dtype=KEYS.dtype)
        assert "memoryview(...)" in caught.value.hint


def test_arrow_types_that_numpy_lacks(pyarrow, pandas):
    for source in (pyarrow.array(["a"]), pyarrow.array([1]).dictionary_encode(), pyarrow.array([[1]]),
                   pyarrow.array([1], pyarrow.decimal128(5)), pyarrow.array([1], pyarrow.timestamp("s", "UTC"))):
        with pytest.raises(gsort.UsageError, match="^source: NumPy has no type for an Arrow array") as caught:
            gsort.sort(source)
        assert caught.value.hint.startswith("give numbers")
    with pytest.raises(gsort.UsageError, match="'pandas.period'"):
        gsort.sort(pandas.Series(pandas.period_range("2020", periods=3, freq="D")))
    for table in pyarrow.table({"a": [1]}), pyarrow.record_batch({"a": [1]}):
        with pytest.raises(gsort.UsageError, match="give one of its columns"):
            gsort.sort(table)


def test_polars(polars):
    for keys in KEYS, KEYS.astype("f8"), KEYS > 0, KEYS.astype("M8[ms]"):
        series = polars.Series(keys)
        assert_same(gsort.sort(series), numpy.sort(keys))
        assert_same(gsort.sort(polars.concat([series, series], rechunk=False)), numpy.sort(numpy.append(keys, keys)))
        assert_same(gsort.unique(series, counts=True)[1], numpy.unique(keys, return_counts=True)[1])
    assert_same(gsort.intersect1d(polars.Series(KEYS), KEYS[:3]), numpy.unique(KEYS[:3]))
    with pytest.raises(gsort.UsageError, match="has 1 null, without"):
        gsort.sort(polars.Series([1, None]))
    frame = polars.DataFrame({"a": [2, 1], "b": [3, 4]})
    with pytest.raises(gsort.UsageError, match="a DataFrame") as caught:
        gsort.sort(frame)
    assert ".to_numpy(structured=True) of Polars" in caught.value.hint
    assert gsort.sort(frame.to_numpy(structured=True), order="b")["a"].tolist() == [2, 1]


def test_pandas(pandas):
    for keys in KEYS, numpy.array([2, math.nan, 1]), KEYS > 0, KEYS.astype("M8[ns]"), KEYS.astype("i8"):
        for source in pandas.Series(keys), pandas.Index(keys), pandas.array(keys, dtype=keys.dtype):
            assert_same(gsort.sort(source), numpy.sort(keys))
            assert (gsort.argsort(source) == numpy.argsort(keys, kind="stable")).all()
    nullable = pandas.Series([3, 1, 2], dtype="Int64")
    for source in nullable, pandas.Index(nullable), nullable.array:
        assert_same(gsort.sort(source), numpy.array([1, 2, 3]))
    missing = pandas.Series([3, None], dtype="Int64")
    for source in (missing, pandas.Index(missing), missing.array, pandas.Series(["a", "b"]),
                   pandas.Series([1]).astype("category"), pandas.Index([1, 2], dtype="category"),
                   pandas.Series(pandas.to_datetime(["2020"])).dt.tz_localize("UTC"),
                   pandas.DataFrame({"a": [1]})):
        with pytest.raises(gsort.UsageError) as caught:
            gsort.sort(source)
        assert caught.value.hint
    floats = pandas.array([1.5, None], dtype="Float64")  # as NumPy's, None would be NaN
    for source in floats, pandas.Series(floats), pandas.Index(floats), missing.array, pandas.Index(missing):
        with pytest.raises(gsort.UsageError, match="has 1 null, without a place"):
            gsort.sort(source)
    assert_same(gsort.sort(floats[:1]), numpy.array([1.5]))
    records = pandas.DataFrame({"a": [2, 1], "b": [3, 4]}).to_records(index=False)
    assert gsort.sort(records, order="a")["b"].tolist() == [4, 3]


def test_no_library_is_imported():
    done = run_python("""
        import sys, gsort
        assert gsort.sort([3, 1, 2]).tolist() == [1, 2, 3]
        assert not {"pandas", "pyarrow", "polars", "torch", "jax"} & set(sys.modules)
    """)
    assert done.returncode == 0, done.stderr
