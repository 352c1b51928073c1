"""argsort, unique, intersect1d and setdiff1d, compared with NumPy."""

import gzip
import hashlib

import numpy
import pytest
from hypothesis import given, strategies
from support import NUMBERS, arrays_of, assert_same, random_array

import gsort

TIMES = [numpy.dtype(name) for name in ("?", "M8[s]", ">m8[ms]")]
INTEGERS = [dtype for dtype in NUMBERS if dtype.kind != "f"]
IN_SETS = INTEGERS + [numpy.dtype("?")]  # in NumPy, NaN and NaT equal nothing


@pytest.mark.parametrize("dtype", NUMBERS + TIMES, ids=str)
@given(data=strategies.data())
def test_argsort_equals_numpy(dtype, data):
    array = data.draw(arrays_of(dtype))
    if data.draw(strategies.booleans()):  # few values, so that stability shows
        array = numpy.resize(array[:5], array.shape)
    indices = gsort.argsort(array)
    assert indices.dtype == numpy.uint32
    assert (indices == numpy.argsort(array, kind="stable")).all()


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_argsort_on_several_threads_equals_numpy(dtype):
    array = random_array(dtype, 300_000)
    for source in array, array.reshape(3, -1), array.reshape(-1, 3), numpy.resize(array[:5], array.shape):
        expected = numpy.argsort(source, kind="stable")
        for threads in None, 1, 3:
            assert_same(gsort.argsort(source, threads=threads), expected.astype("u4"))
        room = numpy.empty(source.shape, "u4")
        assert gsort.argsort(source, room, axis=source.ndim - 1) is room and (room == expected).all()
        last = source.shape[-1] - 1
        expected = last - numpy.argsort(source[..., ::-1], kind="stable")[..., ::-1]
        assert (gsort.argsort(source, descending=True) == expected).all()


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_sort_pairs_equals_argsort_of_numpy(dtype):
    array = random_array(dtype, 30_000)
    for keys in array, array.reshape(-1, 300), numpy.resize(array[:5], array.shape):
        values = numpy.arange(keys.size).astype("S9").reshape(keys.shape)
        order = numpy.argsort(keys, kind="stable")
        expected = [numpy.take_along_axis(each, order, -1) for each in (keys, values)]
        for found, wanted in zip(gsort.sort_pairs(keys, values), expected):
            assert_same(found, wanted)
        places = keys.copy(), values
        assert gsort.sort_pairs(places[0], values, places) is places
        for found, wanted in zip(places, expected):
            assert_same(found, wanted)
    assert gsort.sort_pairs(numpy.array([1, 2, 1]), numpy.array([5, 6, 7]), descending=True)[1].tolist() == [6, 5, 7]


@pytest.mark.parametrize("dtype", ["u1", "<f4", "<f8", ">i8"])
def test_argsort_beyond_memory(tmp_path, dtype):
    random_array(dtype, 1 << 20).tofile(tmp_path / "keys")
    mapped = numpy.memmap(tmp_path / "keys", dtype, mode="r")
    output = numpy.lib.format.open_memmap(tmp_path / "indices.npy", "w+", "u4", mapped.shape)
    assert gsort.argsort(mapped, output, memory="6M", temporary=tmp_path) is output
    assert (output == numpy.argsort(mapped, kind="stable")).all()
    assert len(list(tmp_path.iterdir())) == 2


def test_arrays_that_are_not_aligned():
    array = numpy.frombuffer(b"x" + random_array("u8", 1000).tobytes(), "u8", offset=1)
    indices = numpy.frombuffer(bytearray(4001), "u4", offset=1)
    assert not array.flags.aligned and not indices.flags.aligned
    assert_same(gsort.sort(array), numpy.sort(array))
    assert gsort.argsort(array, indices) is indices and (indices == numpy.argsort(array)).all()


def test_argsort_of_views():
    array = random_array("f4", 4_000).reshape(2_000, 2)
    assert (gsort.argsort(array[::-3, 1]) == numpy.argsort(array[::-3, 1], kind="stable")).all()


@pytest.mark.parametrize("dtype", INTEGERS + TIMES, ids=str)
@given(data=strategies.data())
def test_argsort_of_several_sources_equals_numpy(dtype, data):
    parts = [data.draw(arrays_of(dtype, strategies.integers(0, 60))) for _ in range(data.draw(strategies.integers(1, 3)))]
    indices = gsort.argsort(parts)
    assert indices.dtype == numpy.dtype("uint32")
    assert (indices == numpy.argsort(numpy.concatenate(parts), kind="stable")).all()


@given(data=strategies.data())
def test_argsort_of_records_equals_numpy(data):
    array = data.draw(arrays_of([("a", ">i2"), ("b", "S2"), ("c", "u1")]))
    assert (gsort.argsort(array) == numpy.argsort(array, kind="stable")).all()
    by_two = numpy.lexsort((array["a"], array["b"]))  # argsort's order goes on with the other fields
    assert (gsort.argsort(array, order=["b", "a"]) == by_two).all()


def test_argsort_of_files(tmp_path):
    array = random_array("u8", 1 << 20) % 1_000
    array.tofile(tmp_path / "in.u64")
    expected = numpy.argsort(array, kind="stable")
    for source in tmp_path / "in.u64", [str(tmp_path / "in.u64")], [array[:7], array[7:]]:
        assert (gsort.argsort(source, memory="12M", temporary=tmp_path) == expected).all()
    for source in tmp_path / "in.u64", array:
        for name in "order.u32", "order.npy":
            summary = gsort.argsort(source, tmp_path / name, memory="12M", temporary=tmp_path)
            assert (summary.elements, summary.dtype) == (array.size, "u4")
            assert (summary.memmap() == expected).all()
            (tmp_path / name).unlink()
    numpy.save(tmp_path / "in.npy", array.astype(">u8"))
    output = numpy.empty(array.size, ">u4")
    assert gsort.argsort(tmp_path / "in.npy", output) is output and (output == expected).all()
    with pytest.raises(ValueError, match="positions over the elements"):
        gsort.argsort(tmp_path / "in.npy", tmp_path / "in.npy")


def test_argsort_of_text(tmp_path):
    (tmp_path / "in.txt").write_text("30\n10\n20\n10\n")
    assert gsort.argsort(tmp_path / "in.txt", dtype="i4").tolist() == [1, 3, 2, 0]
    output = numpy.empty(4, "u8")
    assert gsort.argsort(tmp_path / "in.txt", output, dtype="i4").tolist() == [1, 3, 2, 0]
    assert gsort.argsort(tmp_path / "in.txt", tmp_path / "out.u32", dtype="i4").memmap().tolist() == [1, 3, 2, 0]


def test_argsort_refuses_what_has_no_such_order():
    for wrong in numpy.zeros(3, "c8"), numpy.zeros((2, 2), "g"), numpy.zeros(3, "g"), numpy.array(1.0), 5:
        with pytest.raises(ValueError, match="^source: "):
            gsort.argsort(wrong)
    for wrong in numpy.empty(3, "i8"), numpy.empty(2, "u4"), numpy.empty(6, "u4")[::2]:
        with pytest.raises(ValueError, match="output"):
            gsort.argsort(numpy.zeros(3), wrong)
    for room in numpy.empty(5, "u4"), numpy.empty((2, 3), "u4"):
        for source in numpy.array([3, 1, 2]), [numpy.array([3, 1, 2])]:
            assert_same(gsort.argsort(source, room), numpy.array([1, 2, 0], "u4"))


@pytest.mark.parametrize("dtype", IN_SETS, ids=str)
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


IS_OLD_NUMPY = numpy.lib.NumpyVersion(numpy.__version__) < "2.1.0"  # whose inverse has one dimension
WHOLE = {"return_index": True, "return_inverse": True, "return_counts": True}
UNIQUE = {dtype: (random_array("u1", 600) % 7).astype("u2").astype(dtype) for dtype in
          "u1 i2 >u4 i8 f2 f4 >f8 ? M8[s] m8[ms] S2 <U3".split()}
UNIQUE["f8"] = numpy.tile([2, -0.0, numpy.nan, 0.0, -numpy.nan, -numpy.inf, 2], 9)
UNIQUE["M8[D]"] = numpy.tile(numpy.array([3, "NaT", 1, "NaT", 3], "M8[D]"), 9)
UNIQUE["records"] = numpy.zeros(600, [("a", ">i2"), ("b", "S2"), ("c", "u1")])
UNIQUE["records"]["a"], UNIQUE["records"]["b"] = UNIQUE["u1"] % 3, UNIQUE["S2"][::-1]


@pytest.mark.parametrize("name", UNIQUE)
def test_distinct_elements_and_where_they_are_equal_those_of_numpy(name):
    flat = UNIQUE[name]
    for array in flat, flat.reshape(3, -1), flat[::-2], flat[:0]:
        for number in range(1, 8):
            wanted = {key: True for bit, key in enumerate(WHOLE) if number >> bit & 1}
            found, expected = gsort.unique(array, **wanted), numpy.unique(array, **wanted)
            assert len(found) == len(expected)
            for mine, numpys in zip(found, expected):
                numpys = numpys.reshape(mine.shape) if array.ndim > 1 and IS_OLD_NUMPY else numpys
                assert mine.dtype == numpys.dtype and mine.shape == numpys.shape
                assert mine.dtype.kind == "f" or mine.tobytes() == numpys.tobytes()
                assert mine.dtype.kind != "f" or numpy.array_equal(mine, numpys, equal_nan=True)
        if array.size and name not in ("f8", "M8[D]"):
            assert_same(gsort.unique(array), numpy.unique(array))


@pytest.mark.parametrize("aligned", [False, True])
def test_distinct_records_are_the_same_whatever_is_wanted(aligned):
    """In numeric order, records are compared by their fields' values; padding does not count."""
    records = numpy.frombuffer(random_array("u1", 16 * 8).tobytes(), numpy.dtype(
        [("a", "u1"), ("b", "f8")] if aligned else [("a", "u8"), ("b", "f8")], align=aligned)).copy()
    records["a"] = 7
    records["b"] = numpy.tile([-0.0, numpy.nan, 0.0, -numpy.nan], 2)
    for float_order, firsts, counts in ("numeric", [0, 1], [4, 4]), ("total", [3, 0, 2, 1], [2, 2, 2, 2]):
        expected = records[firsts]
        for number in range(8):
            wanted = {key: True for bit, key in enumerate(WHOLE) if number >> bit & 1}
            found = gsort.unique(records, float_order=float_order, **wanted)
            found = dict(zip(["keys", *wanted], found if wanted else [found]))
            for name in "ab":
                assert_same(found["keys"][name].copy(), expected[name].copy())
            assert found.get("return_index", numpy.array(firsts)).tolist() == firsts
            assert found.get("return_counts", numpy.array(counts)).tolist() == counts


def test_where_elements_are_needs_an_array(tmp_path):
    UNIQUE["i2"].tofile(tmp_path / "in.i16")
    for call in (lambda: gsort.unique(tmp_path / "in.i16", return_index=True),
                 lambda: gsort.unique([UNIQUE["i2"]] * 2, **WHOLE),
                 lambda: gsort.unique(UNIQUE["i2"], tmp_path / "out.i16", return_inverse=True)):
        with pytest.raises(gsort.UsageError, match="needs one array as source, and makes new arrays"):
            call()
    mapped = numpy.memmap(tmp_path / "in.i16", "i2", mode="r")
    for mine, numpys in zip(gsort.unique(mapped, **WHOLE), numpy.unique(mapped, **WHOLE)):
        assert_same(mine, numpy.asarray(numpys))


# Pairs for which numpy.result_type gives a type without loss, and pairs for which it gives none.
PROMOTED = [("i1", "i8"), ("u4", "i8"), ("u1", "i2"), ("i4", "u4"), (">i2", "<i4"), ("?", "u2"), ("u4", "f8"), ("i2", "f4"),
            ("f4", "f8"), ("f2", "f4"), (">f4", "u1"), ("i1", ">u4"), ("i4", "f4"), ("?", "f2")]
LOSING = [("u8", "i8"), ("i8", "f8"), ("f4", "u8"), ("M8[s]", "M8[ms]"), ("M8[s]", "m8[s]"), ("M8[s]", "i8")]


@pytest.mark.parametrize("names", PROMOTED, ids="-".join)
def test_sets_of_two_dtypes_equal_those_of_numpy(names, tmp_path):
    for first, second in names, names[::-1]:
        most = 200 if "f2" in names else 2**32 - 1
        a, b = (numpy.concatenate([numpy.arange(-60 + more, 140) % 251, [0, 1, -1, 200, most // 2, most][:6 - more]])
                .astype("i8").astype(name) for more, name in enumerate((first, second)))
        if b.dtype.kind == "f":
            b = numpy.concatenate([b, [0.5, numpy.inf, -numpy.inf]]).astype(second)
        mine, numpys = gsort.intersect1d(a, b), numpy.intersect1d(a, b)
        assert mine.dtype.newbyteorder("=") == numpys.dtype and mine.dtype.isnative == (a.dtype.isnative or mine.itemsize == 1)
        assert mine.tolist() == numpys.tolist() != []
        mine, numpys = gsort.setdiff1d(a, b[b != a[9]]), numpy.setdiff1d(a, b[b != a[9]])
        assert mine.dtype == a.dtype and mine.tolist() == numpys.tolist() != []
        assert gsort.setdiff1d(gsort.sort(a), gsort.sort(b), assume_sorted=True).tolist() == numpy.setdiff1d(a, b).tolist()
        numpy.save(tmp_path / "b.npy", b)
        summary = gsort.intersect1d(a, tmp_path / "b.npy", tmp_path / "out.npy")
        assert summary.memmap().tolist() == numpy.intersect1d(a, b).tolist()


@pytest.mark.parametrize("names", LOSING, ids="-".join)
def test_sets_of_dtypes_without_a_common_one(names):
    for first, second in names, names[::-1]:
        a, b = numpy.arange(5).astype(first), numpy.arange(5).astype(second)
        for function in gsort.intersect1d, gsort.setdiff1d:
            with pytest.raises(gsort.UsageError) as caught:
                function(a, b)
            assert f"no dtype holds all values of {a.dtype} and of {b.dtype}\n  convert one" in str(caught.value)


def test_sets_of_two_dtypes_beyond_memory(tmp_path):
    a, b = random_array("u4", 600_000) % 900_000, (random_array("u4", 600_000, 2) % 900_000).astype("f8")
    more = {"memory": "6M", "temporary": tmp_path}
    assert_same(gsort.intersect1d(a, b, **more), numpy.intersect1d(a, b))
    assert_same(gsort.setdiff1d(a, b, **more), numpy.setdiff1d(a, b))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", ["S1", "S3", "S5", "S8", "S16", "<U1", "<U3"])
def test_counts_of_texts(dtype):
    array = numpy.array(["b", "a", "b", "c", "a", "b"]).astype(dtype)
    keys, counts = gsort.unique(array, counts=True)
    assert_same(keys, numpy.unique(array))
    assert (counts == [2, 3, 1]).all()


@pytest.mark.parametrize("name", ["counts.raw", "counts.npy"])
@pytest.mark.parametrize("dtype", ["u1", ">i2", "u4", "f8", "?", "M8[s]"])
def test_counts_into_a_file(tmp_path, name, dtype):
    array = (random_array("u1", 30_000) % 9).astype("u2").astype(dtype)
    summary = gsort.unique(array, tmp_path / name, counts=True, memory="16M")
    keys, counts = numpy.unique(array, return_counts=True)
    found = summary.memmap()
    assert summary.elements == keys.size
    assert_same(numpy.array(found["key"]), keys.astype(dtype))
    assert (found["count"] == counts).all()


def test_counts_of_files_beyond_memory(tmp_path):
    array = random_array("u8", 1 << 20) % 100_000
    numpy.save(tmp_path / "in.npy", array)
    keys, counts = gsort.unique([tmp_path / "in.npy", array], counts=True, memory="12M", temporary=tmp_path)
    expected, expected_counts = numpy.unique(array, return_counts=True)
    assert_same(keys, expected)
    assert (counts == 2 * expected_counts).all() and counts.dtype == numpy.int64
    numpy.save(tmp_path / "texts.npy", numpy.array([b"b", b"a", b"b"]))
    keys, counts = gsort.unique(tmp_path / "texts.npy", counts=True)
    assert keys.tolist() == [b"a", b"b"] and counts.tolist() == [1, 2]


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


@pytest.mark.parametrize("dtypes", [("<u2", ">u2"), (">i4", "<i4"), ("<f8", ">f8"), ("<U2", ">U2"), (">U1", "<U2")])
def test_sets_of_different_byte_orders(tmp_path, dtypes):
    a, b = ((numpy.arange(1_000) // divisor % 97).astype("u1").astype(dtype) for divisor, dtype in zip((2, 3), dtypes))
    b = b[b != a[6]]
    for second in b, [b, b[:5]]:
        assert_same(gsort.intersect1d(a, second), numpy.intersect1d(a, b).astype(gsort.intersect1d(a, second).dtype))
        assert gsort.setdiff1d(a, second).tolist() == numpy.setdiff1d(a, b).tolist() != []
    assert gsort.intersect1d(a, b).dtype.newbyteorder("=") == numpy.intersect1d(a, b).dtype
    assert gsort.intersect1d(a, b).dtype.byteorder == a.dtype.byteorder
    assert_same(gsort.setdiff1d(gsort.sort(a), gsort.sort(b), assume_sorted=True), gsort.setdiff1d(a, b))
    numpy.save(tmp_path / "b.npy", b)
    assert_same(gsort.setdiff1d(a, tmp_path / "b.npy"), gsort.setdiff1d(a, b))
    numpy.save(tmp_path / "a.npy", gsort.sort(a))
    numpy.save(tmp_path / "b.npy", gsort.sort(b))
    with gzip.open(tmp_path / "b.npy.gz", "wb") as file:
        numpy.save(file, gsort.sort(b))
    for first, second in ("a.npy", "b.npy"), ("a.npy", "b.npy.gz"):
        for side in tmp_path / first, numpy.load(tmp_path / first):
            assert_same(gsort.intersect1d(side, tmp_path / second, assume_sorted=True), gsort.intersect1d(a, b))
    with pytest.raises(gsort.DataError):
        gsort.intersect1d(a[::-1], b, assume_sorted=True)


@pytest.mark.parametrize("dtypes", [("S1", "S1"), ("S1", "S3"), ("S3", "S1"), ("<U1", "<U2")])
@given(data=strategies.data())
def test_sets_of_texts_equal_those_of_numpy(dtypes, data):
    a, b = (data.draw(arrays_of(dtype)) for dtype in dtypes)
    b = numpy.concatenate([a[::2].astype(b.dtype), b])
    assert_same(gsort.intersect1d(a, b), numpy.intersect1d(a, b))
    assert_same(gsort.setdiff1d(a, b), numpy.setdiff1d(a, b))


def test_sets_of_many_texts(tmp_path):
    a, b = (numpy.char.encode(random_array("u4", 200_000, seed).astype("U")) for seed in (1, 2))
    b[::3] = a[::3]
    for function in gsort.intersect1d, gsort.setdiff1d:
        expected = getattr(numpy, function.__name__)(a, b)
        assert_same(function(a, b, memory="6M", temporary=tmp_path), expected)
        summary = function(a, b, tmp_path / "out.npy")
        assert_same(numpy.array(summary.memmap()), expected)
        room = numpy.empty(len(expected) + 1, a.dtype)
        assert_same(function(gsort.sort(a), gsort.sort(b), room, assume_sorted=True), expected)
    assert [path.name for path in tmp_path.iterdir()] == ["out.npy"]
    for narrow, wide in (a, b.astype("S16")), (b, a.astype("S16")):
        expected = numpy.intersect1d(narrow, wide)
        assert_same(gsort.intersect1d(narrow, wide, memory="6M", temporary=tmp_path), expected)
        assert_same(gsort.setdiff1d(wide, narrow, tmp_path / "out.npy", memory="6M").memmap(), numpy.setdiff1d(wide, narrow))


def test_a_raw_file_is_not_in_the_byte_order_of_an_array(tmp_path):
    array = numpy.arange(1000, dtype="<u8")
    array[::3].tofile(tmp_path / "in.u64")
    for is_sorted in False, True:
        found = gsort.intersect1d(array.astype(">u8"), tmp_path / "in.u64", assume_sorted=is_sorted)
        assert_same(found, array[::3].astype(">u8"))


def test_sets_of_texts_in_compressed_files(tmp_path):
    a, b = numpy.array([b"b", b"a", b"c"]), numpy.array([b"cc", b"c", b"b"])
    for name, array in ("a.npy.gz", a), ("b.npy.gz", b), ("sorted.npy.gz", numpy.sort(b)):
        with gzip.open(tmp_path / name, "wb") as file:
            numpy.save(file, array)
    assert gsort.intersect1d(tmp_path / "a.npy.gz", tmp_path / "b.npy.gz").tolist() == [b"b", b"c"]
    assert gsort.setdiff1d(tmp_path / "a.npy.gz", tmp_path / "b.npy.gz").tolist() == [b"a"]
    assert gsort.setdiff1d(tmp_path / "sorted.npy.gz", numpy.sort(a), assume_sorted=True).tolist() == [b"cc"]
    assert gsort.unique(tmp_path / "a.npy.gz", counts=True)[1].tolist() == [1, 1, 1]


def test_sets_of_records_and_hashes():
    a = numpy.stack([random_array("u2", 3_000) % 50, random_array("u2", 3_000) % 40], axis=1).view([("x", "<u2"), ("y", "<u2")])[:, 0]
    b = a[::3].copy()
    b["y"] += numpy.arange(b.size, dtype="u2") % 2 * 17
    hashes = numpy.array([hashlib.sha1(bytes([i % 97])).digest() for i in range(300)], "S20")
    for first, second in ((a, b), (b[:9], a), (hashes, hashes[::5])):
        assert_same(gsort.intersect1d(first, second), numpy.intersect1d(first, second))
        assert_same(gsort.setdiff1d(first, second), numpy.setdiff1d(first, second))
    rows = hashes.view("u1").reshape(-1, 20)
    assert_same(gsort.sort(rows.view("S20")[:, 0]), numpy.sort(hashes))
    for mine, numpys in zip(gsort.unique(hashes, counts=True), numpy.unique(hashes, return_counts=True)):
        assert_same(mine, numpys)


def test_sets_of_what_is_sorted():
    a, b = numpy.arange(0, 100, 2), numpy.arange(0, 100, 3)
    assert_same(gsort.intersect1d(a, b, assume_sorted=True), numpy.intersect1d(a, b))
    assert_same(gsort.intersect1d([a, a], b, assume_sorted=True), numpy.intersect1d(a, b))
    assert_same(gsort.setdiff1d(a[:10:2], [b[::3]], assume_sorted=True), numpy.setdiff1d(a[:10:2], b[::3]))
    with pytest.raises(ValueError, match="not sorted|out of order|comes before"):
        gsort.setdiff1d(a[::-1], b, assume_sorted=True)


def test_counts_of_many_keys():
    array = random_array("u8", 3 << 20) % 1_500_000
    keys, counts = gsort.unique(array, counts=True)
    expected, expected_counts = numpy.unique(array, return_counts=True)
    assert_same(keys, expected)
    assert (counts == expected_counts).all()
