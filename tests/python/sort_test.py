"""sort, merge and check of arrays, memmaps, files and lists of them, compared with NumPy."""

import gzip
import os
import re
import tempfile
import threading
from dataclasses import fields
from pathlib import Path

import numpy
import pytest
from hypothesis import given, strategies
from hypothesis.extra.numpy import array_shapes
from support import NUMBERS, OTHERS, arrays_of, assert_same, random_array, skip_without_gpu, sorted_by_numpy

import gsort
from gsort import _native
from gsort._sources import Inputs, _file_of

RECORDS = numpy.dtype([("key", "<u4"), ("text", "S3"), ("value", ">f8")])


@pytest.mark.parametrize("dtype", NUMBERS + OTHERS, ids=str)
@given(data=strategies.data())
def test_arrays_of_every_dtype(dtype, data):
    array = data.draw(arrays_of(dtype))
    for descending in False, True:
        before = array.tobytes()
        result = gsort.sort(array, descending=descending)
        expected = sorted_by_numpy(array, descending)
        if dtype.kind in "mM" and descending:  # NumPy's NaT is last in either direction
            expected = numpy.sort(array)[::-1]
        assert_same(result, expected)
        assert array.tobytes() == before
        assert gsort.check(result, descending=descending)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@given(data=strategies.data())
def test_distinct_first_and_merged(dtype, data):
    array, other = data.draw(arrays_of(dtype)), data.draw(arrays_of(dtype))
    both = sorted_by_numpy(numpy.concatenate([array, other]).astype(dtype))
    assert_same(gsort.sort([array, other]), both)
    assert_same(gsort.merge([gsort.sort(array), gsort.sort(other)]), both)
    assert_same(gsort.sort([array, other], top=7), both[:7])
    differs = (both[1:] != both[:-1]) & ~(numpy.isnan(both[1:]) & numpy.isnan(both[:-1]))
    first = numpy.flatnonzero(numpy.append(True, differs)[:both.size])
    distinct = both[first]
    assert_same(gsort.sort([array, other], unique=True), distinct)
    keys, counts = gsort.unique([array, other], counts=True)
    if dtype.kind == "f":  # written without a sign
        distinct = numpy.where(numpy.isnan(distinct), dtype.type("nan"), numpy.where(distinct == 0, 0, distinct)).astype(dtype)
    assert_same(keys, distinct)
    assert (counts == numpy.diff(first, append=both.size)).all()


@pytest.mark.parametrize("dtype", NUMBERS + OTHERS, ids=str)
@given(data=strategies.data())
def test_rows_of_every_dtype(dtype, data):
    array = data.draw(arrays_of(dtype, array_shapes(min_dims=2, min_side=0, max_side=9)))
    result = gsort.sort(array)
    assert_same(result, sorted_by_numpy(array))
    assert gsort.check(result)


@pytest.mark.parametrize("dtype", NUMBERS + OTHERS[:3], ids=str)
def test_large_arrays(dtype):
    array = random_array(dtype, 200_000)
    if dtype.kind == "b":
        array = random_array("u1", 200_000) > 99
    assert_same(gsort.sort(array), sorted_by_numpy(array))


def test_records():
    array = numpy.zeros(5_000, RECORDS)
    random = numpy.random.default_rng(3)
    array["key"], array["value"] = random.integers(0, 50, 5_000), random.integers(1, 9, 5_000)
    array["text"] = random.choice([b"", b"a", b"bc"], 5_000)
    assert_same(gsort.sort(array), numpy.sort(array))
    stable = array[numpy.argsort(array["value"], kind="stable")]
    assert_same(gsort.sort(array, order="value"), stable)
    order = numpy.lexsort([-array["key"].astype("i8"), array["text"]])
    assert_same(gsort.sort(array, order=["text", "-key"]), array[order])
    assert gsort.check(stable, order="value") and not gsort.check(array, order="value")


def test_records_whose_fields_are_out_of_order_or_overlap(tmp_path):
    array = numpy.zeros(500, [("a", "i4"), ("b", "f4"), ("c", "S3")])
    random = numpy.random.default_rng(1)
    array["a"], array["b"], array["c"] = random.permutation(500), random.integers(0, 9, 500), b"text"
    expected = numpy.sort(array, order=["b", "a"])
    for source in array[["b", "a"]], array[["b", "a"]][::-2]:
        result = gsort.sort(source)
        assert result.dtype == [("b", "f4"), ("a", "i4")]
        assert (result == expected[["b", "a"]][numpy.isin(expected["a"], source["a"])]).all()
    assert (gsort.argsort(array[["b", "a"]]) == numpy.argsort(array, order=["b", "a"], kind="stable")).all()
    assert (gsort.sort(array[["b", "a"]], tmp_path / "out.npy").memmap()["a"] == expected["a"]).all()
    overlapping = numpy.dtype({"names": ["low", "all"], "formats": ["u1", "<u2"], "offsets": [0, 0]})
    numbers = (random.permutation(500) * 99).astype("<u2")
    assert (gsort.sort(numbers.view(overlapping), order="all")["all"] == numpy.sort(numbers)).all()
    numbers.tofile(tmp_path / "in")
    assert (gsort.sort(tmp_path / "in", dtype=overlapping)["low"] == numpy.sort(numbers.view("u1")[::2])).all()


def test_fields_whose_names_look_like_options():
    array = numpy.zeros(50, [("a", "i4"), ("ar", "i4"), ("-b", "i4"), ("b", "i4"), ("c,d", "i4")])
    random = numpy.random.default_rng(1)
    for name in array.dtype.names:
        array[name] = random.permutation(50)
    for order, field in ("ar", "ar"), ("-b", "-b"), ("b", "b"), ("c,d", "c,d"):
        assert_same(gsort.sort(array, order=order), array[numpy.argsort(array[field])])
    for order, field in ("-a", "a"), ("-ar", "ar"), ("--b", "-b"):
        assert_same(gsort.sort(array, order=order), array[numpy.argsort(-array[field])])
    for order in "4:i32", "r", "-", "":
        with pytest.raises(gsort.UsageError, match="not a field"):
            gsort.sort(array, order=order)


def test_records_of_files_by_fields(tmp_path):
    array = numpy.zeros(50, [("a", "i4"), ("ar", "i4")])
    array["a"] = numpy.random.default_rng(1).permutation(50)
    numpy.save(tmp_path / "in.npy", array)
    assert_same(gsort.sort(tmp_path / "in.npy", order="-a"), array[numpy.argsort(-array["a"])])
    array["a"].tofile(tmp_path / "in.i32")
    for keys in tmp_path / "in.i32", array["a"]:
        with pytest.raises(gsort.UsageError, match="not records"):
            gsort.sort(keys, order="a")


def test_names_of_fields_in_latin_1(tmp_path):
    array = numpy.array([(2, 1), (1, 2)], [("h\xe9", "i4"), ("b", "i4")])
    numpy.save(tmp_path / "in.npy", array)  # in version 1.0 of the format
    assert_same(gsort.sort(tmp_path / "in.npy"), array[::-1])
    summary = gsort.sort(tmp_path / "in.npy", tmp_path / "out.npy", order="h\xe9")
    assert summary.dtype == array.dtype
    assert_same(numpy.load(tmp_path / "out.npy"), array[::-1])


def test_copies_that_only_the_call_owns():
    array = numpy.arange(400_000)
    for _ in range(5):
        assert gsort.check(array[::2]) and gsort.check(array[:1_000:2])
        assert gsort.check(numpy.asfortranarray(array.reshape(4, -1)))
    inputs = Inputs(array[::-1].copy())
    call = inputs.call([])
    del inputs
    filler = [numpy.full(400_000, 9) for _ in range(5)]
    room = numpy.empty(array.nbytes, "u1")
    call.sort(room, None)
    assert (room.view(array.dtype) == array).all() and len(filler) == 5
    for again in lambda: call.sort(room, None), lambda: call.check(None):
        with pytest.raises(gsort.UsageError, match="already"):
            again()


def test_rows():
    array = random_array("f4", 6_000)
    array = array[~numpy.isnan(array)][:5_000].reshape(10, 50, 10)
    assert_same(gsort.sort(array), sorted_by_numpy(array))
    assert_same(gsort.sort(array[:, ::2, 0]), sorted_by_numpy(array[:, ::2, 0]))


def test_rows_without_elements(tmp_path):
    for shape in (0,), (0, 3), (3, 0), (2, 3, 0):
        array = numpy.empty(shape, "f4")
        assert gsort.sort(array).shape == shape
        if array.ndim > 1:
            with pytest.raises(gsort.UsageError, match="ravel"):
                gsort.sort(array, top=1)
        if array.ndim < 3:
            numpy.save(tmp_path / "a.npy", array)
            assert gsort.sort(tmp_path / "a.npy").shape == shape


def test_into_an_array(tmp_path):
    array = random_array("u4", 70_000)
    result = numpy.empty_like(array)
    assert gsort.sort(array, result) is result
    assert_same(result, numpy.sort(array))
    mapped = numpy.lib.format.open_memmap(tmp_path / "out.npy", "w+", array.dtype, array.shape)
    gsort.sort(array, mapped, descending=True)
    mapped.flush()
    assert_same(numpy.load(tmp_path / "out.npy"), numpy.sort(array)[::-1])
    assert_same(gsort.sort(array, result, top=5), numpy.sort(array)[:5])
    assert_same(gsort.sort(array, numpy.empty(70_005, "u4"), descending=numpy.True_), numpy.sort(array)[::-1])
    for wrong in result.astype("i4"), result[:10], result[::2], array:
        with pytest.raises(ValueError):
            gsort.sort(array, wrong)


@pytest.mark.parametrize("name", ["out.u64", "out.npy", "out.bin"])
def test_files(tmp_path, name):
    array = random_array("u8", 50_000)
    array.tofile(tmp_path / "raw.u64")
    numpy.save(tmp_path / "in.npy", array)
    expected = numpy.sort(array)
    for source in tmp_path / "raw.u64", str(tmp_path / "in.npy"), array:
        summary = gsort.sort(source, tmp_path / name)
        assert (summary.elements, summary.bytes, summary.spilled_bytes) == (50_000, 400_000, 0)
        assert summary.seconds > 0 and summary.engine == "cpu" and summary.path == str(tmp_path / name)
        assert_same(summary.memmap(), expected)
        assert_same(gsort.sort(source), expected)
        assert gsort.check(source).in_order is False
    assert gsort.check(array[:1]).fingerprint == gsort.check(gsort.sort(array[:1])).fingerprint
    mixed = gsort.sort([tmp_path / "raw.u64", array, tmp_path / "in.npy"])
    assert_same(mixed, numpy.sort(numpy.concatenate([array] * 3)))


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_on_the_gpu(dtype):
    array = random_array(dtype, 300_000)
    try:
        result = gsort.sort(array, engine="cuda", descending=True)
    except gsort.DeviceError as error:
        skip_without_gpu(error)
    assert_same(result, sorted_by_numpy(array, descending=True))
    if dtype.kind != "f":
        assert (gsort.argsort(array, engine="cuda") == numpy.argsort(array, kind="stable")).all()


def test_a_file_in_place(tmp_path):
    array = random_array(">i2", 9_000)
    array.tofile(tmp_path / "data")
    gsort.sort(tmp_path / "data", tmp_path / "data", dtype=">i2")
    assert_same(numpy.fromfile(tmp_path / "data", ">i2"), numpy.sort(array))


@pytest.mark.filterwarnings("ignore:.*its suffix says")
def test_a_file_is_never_replaced_by_other_elements(tmp_path):
    array = random_array("u4", 100)
    array.tofile(tmp_path / "keys.u32")
    file = tmp_path / "keys.u32"
    for source in file, numpy.memmap(file, "u4", "r"):
        for call in (lambda: gsort.unique(source, file, counts=True), lambda: gsort.argsort(source, file)):
            with pytest.raises(gsort.UsageError, match="replacing .*keys.u32"):
                call()
    assert_same(numpy.fromfile(file, "u4"), array)


def test_bytes_that_are_appended_before_a_file_is_replaced_stay(tmp_path):
    path, array = tmp_path / "keys.u32", random_array("u4", 1_000)

    def append(_):
        with open(path, "ab") as file:
            file.write(b"tail")

    for map_it in (lambda: path, lambda: numpy.memmap(path, "u4", "r"), lambda: numpy.memmap(path, "u4", "r+")[:500]):
        array.tofile(path)
        with pytest.raises(gsort.DataError, match="keys.u32: the file grew"):
            gsort.sort(map_it(), path, progress=append)
        assert path.read_bytes().replace(b"tail", b"") == array.tobytes()
        assert os.listdir(tmp_path) == ["keys.u32"]


def test_a_file_that_is_renamed_to_the_name_of_the_source_stays(tmp_path):
    path, array = tmp_path / "keys.u32", random_array("u4", 1_000)

    def rename(_):
        (tmp_path / "other").write_bytes(b"new")
        os.rename(tmp_path / "other", path)

    for map_it in (lambda: path, lambda: numpy.memmap(path, "u4", "r")):
        array.tofile(path)
        with pytest.raises(gsort.DataError, match="keys.u32: the file was replaced"):
            gsort.sort(map_it(), path, progress=rename)
        assert path.read_bytes() == b"new"
        assert os.listdir(tmp_path) == ["keys.u32"]


def test_counts_are_added(tmp_path):
    arrays = [random_array("i8", size) % 100 for size in (700, 900, 1)]
    names = [tmp_path / name for name in ("a.npy", "b.txt", "c")]
    for array, name in zip(arrays, names):
        gsort.unique(array, name, counts=True)
    wanted = numpy.unique(numpy.concatenate(arrays), return_counts=True)
    merged = gsort.merge(names, dtype="i8", counts=True)
    stored = gsort.merge(names, tmp_path / "all.npy", dtype="i8", return_counts=True).memmap()
    counted = gsort.merge([numpy.sort(array) for array in arrays], unique=True, counts=True)
    again = gsort.merge([stored, numpy.load(names[0])], counts=True)
    for found in merged, (stored["key"], stored["count"].astype("i8")), counted:
        assert_same(found[0], wanted[0])
        assert_same(found[1], wanted[1])
    assert again[1].sum() == 1601 + 700
    with pytest.raises(gsort.DataError, match="(?s)out of order.*\n  gsort.merge adds up what gsort.unique counts, "):
        gsort.merge([numpy.concatenate([stored, stored[-1:]])], counts=True)
    gsort.sort(arrays[0], tmp_path / "keys.i64")
    with pytest.raises(gsort.UsageError, match="(?s)its suffix says i64, but gsort.merge with counts reads .*\n  unique=True c"):
        gsort.merge([tmp_path / "keys.i64"], counts=True)
    with pytest.raises(gsort.UsageError, match="a pair of new arrays"):
        gsort.merge(names, numpy.empty(3), counts=True)


def test_raw_files_of_other_dtypes(tmp_path):
    times = random_array("M8[s]", 3_000)
    times.tofile(tmp_path / "times")
    assert_same(gsort.sort(tmp_path / "times", dtype="M8[s]"), numpy.sort(times))
    records = numpy.zeros(500, RECORDS)
    records["key"] = random_array("u4", 500)
    records.tofile(tmp_path / "records")
    assert_same(gsort.sort(tmp_path / "records", tmp_path / "o.npy", dtype=RECORDS).memmap(), numpy.sort(records))


def test_text_and_compressed_files(tmp_path):
    array = random_array("i4", 10_000)
    (tmp_path / "in.txt").write_text("".join(f"{key}\n" for key in array))
    (tmp_path / "in.i32.gz").write_bytes(gzip.compress(array.tobytes()))
    assert_same(gsort.sort(tmp_path / "in.txt", dtype="i4"), numpy.sort(array))
    assert_same(gsort.sort(tmp_path / "in.i32.gz"), numpy.sort(array))
    result = numpy.empty_like(array)
    assert_same(gsort.sort(tmp_path / "in.i32.gz", result), numpy.sort(array))
    summary = gsort.sort(array, tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "".join(f"{key}\n" for key in numpy.sort(array))
    with pytest.raises(ValueError, match="cannot be mapped"):
        summary.memmap()


def test_memmaps(tmp_path):
    array = random_array("f8", 40_000)
    array.tofile(tmp_path / "raw")
    mapped = numpy.memmap(tmp_path / "raw", "f8", mode="r", offset=8)
    assert_same(gsort.sort(mapped), sorted_by_numpy(array[1:]))
    assert_same(gsort.sort(mapped[10:20_000]), sorted_by_numpy(array[11:20_001]))
    assert_same(gsort.sort(mapped[::2]), sorted_by_numpy(array[1::2]))


def test_memmaps_hold_what_their_users_see(tmp_path):
    array = random_array("i8", 40_000)
    array.tofile(tmp_path / "raw")
    private = numpy.memmap(tmp_path / "raw", "i8", mode="c")
    private[:] = 7
    assert (gsort.sort(private) == 7).all()
    shared = numpy.memmap(tmp_path / "raw", "i8", mode="r+")
    shared[5] = 1
    assert_same(gsort.sort(shared), numpy.sort(numpy.array(shared)))
    expected = numpy.sort(numpy.array(shared))
    (tmp_path / "raw").rename(tmp_path / "moved")
    (tmp_path / "raw").write_bytes(bytes(320_000))  # another file of that name
    assert_same(gsort.sort(shared), expected)
    (tmp_path / "raw").unlink()
    assert_same(gsort.sort(shared), expected)


def test_a_memmap_is_read_as_the_file_that_it_is(tmp_path):
    array = random_array("u8", 1 << 20)
    numpy.save(tmp_path / "in.npy", array)
    mapped = numpy.load(tmp_path / "in.npy", mmap_mode="r")
    assert _file_of(mapped[100:]) == (bytes(tmp_path / "in.npy"), 128 + 800)
    assert _file_of(array) == (None, 0)
    assert_same(gsort.sort(mapped[100:]), numpy.sort(array[100:]))


def test_files_keep_their_shapes(tmp_path):
    array = random_array("u2", 60)
    for shape in (12, 5), (1, 60), (60,):
        numpy.save(tmp_path / "in.npy", array.reshape(shape))
        assert_same(gsort.sort(tmp_path / "in.npy"), numpy.sort(array.reshape(shape)))
        summary = gsort.sort(tmp_path / "in.npy", tmp_path / "out.npy")
        assert_same(numpy.array(summary.memmap()), numpy.sort(array.reshape(shape)))
    numpy.save(tmp_path / "in.npy", numpy.empty((0, 5), "u2"))
    assert gsort.sort(tmp_path / "in.npy").shape == (0, 5)
    assert gsort.sort(array.reshape(3, 4, 5), tmp_path / "out.npy").memmap().shape == (12, 5)


def test_text_is_not_mapped_where_its_size_is_that_of_the_numbers(tmp_path):
    summary = gsort.sort(numpy.array([200, 100], "i4"), tmp_path / "out.txt")
    with pytest.raises(gsort.UsageError, match="cannot be mapped"):
        summary.memmap()


def test_temporary_files_are_where_they_are_wanted(tmp_path, monkeypatch):
    keys = random_array("i4", 1_000)
    (tmp_path / "in.i32.gz").write_bytes(gzip.compress(keys.tobytes()))
    places = []

    def recorded(prefix, dir, make=tempfile.TemporaryFile):
        places.append(dir)
        return make(prefix=prefix, dir=dir)

    monkeypatch.setattr(tempfile, "TemporaryFile", recorded)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    for name in "tmp", "wanted":
        (tmp_path / name).mkdir()
    calls = (lambda **more: gsort.sort(tmp_path / "in.i32.gz", **more),
             lambda **more: gsort.merge([gsort.sort(keys), tmp_path / "one.i32.gz"], **more),
             lambda **more: gsort.unique(tmp_path / "in.i32.gz", counts=True, **more),
             lambda **more: gsort.setdiff1d(tmp_path / "in.i32.gz", keys[:5], tmp_path / "out.i32", **more))
    (tmp_path / "one.i32.gz").write_bytes(gzip.compress(keys[:1].tobytes()))
    for call in calls:
        call(temporary=[tmp_path / "wanted", tmp_path])
        call()
    monkeypatch.delenv("TMPDIR")
    calls[-1]()
    wanted, tmp = str(tmp_path / "wanted"), str(tmp_path / "tmp")
    assert places == [wanted, tmp] * 4 + [str(tmp_path)]
    assert list((tmp_path / "tmp").iterdir()) == list((tmp_path / "wanted").iterdir()) == []


def test_temporary_files_have_no_names(tmp_path):
    """So that none is left, however the process ends."""
    keys = random_array("u4", 1 << 19)
    keys.tofile(tmp_path / "in.u32")
    (tmp_path / "in.u32.gz").write_bytes(gzip.compress(keys.tobytes(), 1))
    names = []

    def look(_):
        names.extend(os.listdir(tmp_path))

    more = {"memory": "6M", "temporary": tmp_path, "progress": look}
    assert_same(gsort.intersect1d(tmp_path / "in.u32", keys, **more), numpy.unique(keys))
    assert_same(gsort.setdiff1d(tmp_path / "in.u32.gz", keys[1:], **more), numpy.setdiff1d(keys, keys[1:]))
    assert_same(gsort.unique(tmp_path / "in.u32.gz", **more), numpy.unique(keys))
    assert set(names) == {"in.u32", "in.u32.gz"}


def test_fifos_into_arrays(tmp_path):
    os.mkfifo(tmp_path / "pipe.u32")
    keys = random_array("u4", 50_000)
    for call in gsort.sort, gsort.unique, lambda path: gsort.setdiff1d(path, keys[:0]):
        writer = threading.Thread(target=lambda: (tmp_path / "pipe.u32").write_bytes(keys.tobytes()), daemon=True)
        writer.start()
        assert numpy.isin(keys, call(tmp_path / "pipe.u32")).all()
        writer.join()


def test_the_native_report_has_every_statistic():
    table = (Path(__file__).parents[2] / "src/plan/outcome.hpp").read_text()
    names = re.findall(r"^  ROW\((\w+), ", table, re.M)
    assert {"elements", "runs", "spilled_bytes", "lost_nan_payloads", "seconds"} < set(names)
    assert [name for name in names if not hasattr(_native.Report, name)] == []
    others = [field.name for field in fields(gsort.Summary)[4:]]
    assert [name for name in others if not hasattr(_native.Report, name)] == []


def test_beyond_memory(tmp_path):
    array = random_array("u8", 3 << 20)
    summary = gsort.sort(array, tmp_path / "out.u64", memory="8M", temporary=tmp_path)
    assert summary.spilled_bytes > 12 << 20
    assert_same(numpy.array(summary.memmap()), numpy.sort(array))
    assert [path.name for path in tmp_path.iterdir()] == ["out.u64"]
    assert_same(gsort.sort(array, memory=8 << 20, threads=1, temporary=[tmp_path, tmp_path]), numpy.sort(array))


def test_merge_refuses_what_is_not_sorted(tmp_path):
    with pytest.raises(ValueError) as caught:
        gsort.merge([numpy.arange(5), numpy.arange(5)[::-1]], tmp_path / "out.npy")
    assert isinstance(caught.value, gsort.DataError) and caught.value.path == "<array 2>" and caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_check_says_where():
    found = gsort.check(numpy.array([1, 5, 4, 9], "i2"))
    assert not found and (found.position, found.value, found.value_before) == (2, "4", "5")
    found = gsort.check(numpy.array([1, 1, 4], "i2"))
    assert found and (found.elements, found.distinct, found.position) == (3, 2, None)
    assert not gsort.check(numpy.array([1, 1, 4], "i2"), unique=True)
