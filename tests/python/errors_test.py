"""Errors are exceptions of the kind that Python's users expect, with the program's words, and lose nothing."""

import errno
import gzip
import inspect
import os
import pickle
import re
import subprocess
from pathlib import Path

import numpy
import pytest
from support import assert_same

import gsort
from gsort._errors import error_of, for_python
from gsort._outputs import new_array
from gsort._sources import _warn

NUMBERS = numpy.array([3, 1, 2], "u4")


def raised(kind, call):
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert isinstance(error, gsort.Error) and str(error).endswith(error.hint)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and str(copy) == str(error) and vars(copy) == vars(error)
    return error


def test_a_missing_file(tmp_path):
    error = raised(FileNotFoundError, lambda: gsort.sort(tmp_path / "none.u64"))
    assert error.errno == errno.ENOENT and error.filename == error.path == str(tmp_path / "none.u64")
    assert error.hint == "check the path" and error.reason == "No such file or directory"
    raised(FileNotFoundError, lambda: gsort.sort(NUMBERS, tmp_path / "none/out"))
    raised(FileNotFoundError, lambda: gsort.sort(NUMBERS, temporary=tmp_path / "none"))
    raised(OSError, lambda: gsort.sort(tmp_path))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind, path, number, expected", [
    ("resource", b"", errno.ENOMEM, MemoryError), ("temporary", b"/tmp", errno.ENOSPC, OSError),
    ("resource", b"/tmp", 0, OSError), ("resource", b"", 0, MemoryError), ("input", b"a", errno.EACCES, PermissionError),
    ("input", b"a", 0, ValueError), ("device", b"", 2, RuntimeError), ("corrupt", b"a", 0, RuntimeError)])
def test_kinds_of_exceptions(kind, path, number, expected):
    error = raised(expected, lambda: raise_it(error_of(kind, b"words: why", b"why", path, b"", 7, number)))
    assert (error.reason, error.path, error.offset) == ("why", path.decode() or None, 7)


def raise_it(error):
    raise error


def test_a_fifo_is_not_its_own_output(tmp_path):
    os.mkfifo(tmp_path / "pipe.u32")
    raised(ValueError, lambda: gsort.sort(tmp_path / "pipe.u32", tmp_path / "pipe.u32"))


def test_wrong_arguments(tmp_path):
    for call in (lambda: gsort.sort(NUMBERS, memory="1X"), lambda: gsort.sort(NUMBERS, memory="1000"),
                 lambda: gsort.sort(NUMBERS, memory=1), lambda: gsort.sort(NUMBERS, memory=-1),
                 lambda: gsort.sort(NUMBERS, threads=0), lambda: gsort.sort(NUMBERS, top=-1),
                 lambda: gsort.sort(NUMBERS, engine="fpga"), lambda: gsort.sort(NUMBERS, order="a"),
                 lambda: gsort.sort(NUMBERS, dtype="u8"), lambda: gsort.sort([]), lambda: gsort.sort(7),
                 lambda: gsort.sort([NUMBERS, [1, 2]]), lambda: gsort.sort(NUMBERS, 7),
                 lambda: gsort.sort([NUMBERS, NUMBERS.astype("i4")]), lambda: gsort.sort(numpy.array(1)),
                 lambda: gsort.sort(numpy.array([1, "a"], object)), lambda: gsort.sort(numpy.zeros(3, "c8")),
                 lambda: gsort.sort(NUMBERS.reshape(1, 3), unique=True), lambda: gsort.merge([NUMBERS]),
                 lambda: gsort.unique(NUMBERS, NUMBERS.copy(), counts=True),
                 lambda: gsort.sort(numpy.zeros(3, "g")), lambda: gsort.sort(numpy.ma.array([2, 1], mask=[0, 1])),
                 lambda: gsort.argsort(numpy.ma.array([2, 1], mask=[0, 1]))):
        assert raised(ValueError, call).args
    assert (NUMBERS == [3, 1, 2]).all() and os.listdir(tmp_path) == []


@pytest.mark.parametrize("call", [
    lambda folder: gsort.sort(NUMBERS, f"{folder}/out\0evil"), lambda folder: gsort.sort(f"{folder}/in.u4\0"),
    lambda folder: gsort.sort(NUMBERS, temporary=f"{folder}\0evil"), lambda _: gsort.sort(NUMBERS, engine="cpu\0x"),
    lambda _: gsort.sort(NUMBERS, memory="1G\0"), lambda _: gsort.argsort(NUMBERS, engine="cpu\0x")])
def test_null_bytes(tmp_path, call):
    assert "has a null byte" in raised(gsort.UsageError, lambda: call(tmp_path)).reason
    assert os.listdir(tmp_path) == []


def test_an_output_that_is_too_small():
    room = numpy.empty(2, "u4")
    for call in lambda: gsort.unique(NUMBERS, room), lambda: gsort.sort(NUMBERS, room):
        error = raised(gsort.UsageError, call)
        assert "the array holds" in error.reason and error.hint.startswith("give an array of as many")
    assert (gsort.sort(NUMBERS, numpy.empty(2, "u4"), top=2) == [1, 2]).all()


def test_no_type_is_assumed(tmp_path):
    (tmp_path / "data").write_bytes(bytes(8))
    error = raised(ValueError, lambda: gsort.sort(tmp_path / "data"))
    assert "no type was given" in str(error) and "dtype" in error.hint
    assert (gsort.sort(tmp_path / "data", dtype="i4") == 0).all()
    (tmp_path / "data").write_bytes(bytes(7))
    for call in gsort.sort, gsort.argsort, gsort.unique, gsort.check, gsort.shuffle, lambda path: gsort.searchsorted(path, 1):
        assert "element size, 4, and no type was given\n" in str(raised(ValueError, lambda: call(tmp_path / "data")))


def test_an_input_that_is_not_whole(tmp_path):
    (tmp_path / "odd.u64").write_bytes(bytes(20))
    error = raised(ValueError, lambda: gsort.sort(tmp_path / "odd.u64", tmp_path / "out"))
    assert error.offset == 16 and error.path == str(tmp_path / "odd.u64")
    (tmp_path / "damaged.u64.gz").write_bytes(bytes([31, 139, 8, 0]) + bytes(30))
    raised(ValueError, lambda: gsort.sort(tmp_path / "damaged.u64.gz"))
    assert sorted(os.listdir(tmp_path)) == ["damaged.u64.gz", "odd.u64"]


def test_a_file_that_may_not_be_written():
    with pytest.raises(OSError) as caught:
        gsort.sort(NUMBERS, "/proc/version")
    assert isinstance(caught.value, gsort.Error) and caught.value.errno


def test_no_gpu_is_an_error_where_cuda_is_asked_for():
    try:
        gsort.sort(numpy.arange(10), engine="cuda")
    except RuntimeError as error:
        assert isinstance(error, gsort.DeviceError) and error.hint


def test_the_words_are_those_of_the_program(tmp_path, gsort_program):
    (tmp_path / "odd.u64").write_bytes(bytes(20))
    for call, words in ((lambda: gsort.sort(tmp_path / "odd.u64", tmp_path / "out"), [tmp_path / "odd.u64"]),
                        (lambda: gsort.sort(tmp_path / "none", tmp_path / "out"), [tmp_path / "none"])):
        said = subprocess.run([gsort_program, *words, "-o", tmp_path / "out"], capture_output=True, text=True).stderr
        assert f"gsort: {raised(gsort.Error, call)}".splitlines()[0] == said.splitlines()[0]


RECORDS = numpy.zeros(3, [("a", "i4"), ("b", "i4")])


@pytest.mark.parametrize("call, expected", [
    (lambda: gsort.sort(NUMBERS, memory="1X"), "memory '1X': "),
    (lambda: gsort.sort(NUMBERS, threads=0), "threads '0': "),
    (lambda: gsort.sort(NUMBERS, engine="fpga"), "engine 'fpga': "),
    (lambda: gsort.sort(RECORDS, order="c"), "order 'c': "),
    (lambda: gsort.sort(NUMBERS, temporary="/none"), "\n  give an existing folder with temporary"),
    (lambda: gsort.sort(NUMBERS, memory=1), "memory 1 B: is too small"),
    (lambda: gsort.sort("/dev/null", dtype="u4", order="a"), ": the elements are not records"),
    (lambda: gsort.sort(NUMBERS, memory="1G\0"), "memory '1G\\x00': has a null byte"),
    (lambda: gsort.sort(NUMBERS, temporary=[5]), "temporary: the list holds an int\n"),
    (lambda: gsort.sort(RECORDS, order=[]), "order: the list is empty\n"),
    (lambda: gsort.sort(__file__), "; dtype i4 sorts its bytes as they are"),
    (lambda: gsort.sort(NUMBERS.reshape(3, 1), top=1), "\n  give array.ravel() to sort all of it"),
    (lambda: gsort.merge([NUMBERS]), "\n  gsort.sort sorts them"),
    (lambda: gsort.sort(NUMBERS, temporary="/-S/-T"), "/-S/-T: No such file or directory"),
    (lambda: gsort.sort(5), "source: a source is an int\n  give a path, an array, or a list of paths and arrays"),
    (lambda: gsort.merge(5), "sources: a source is an int\n"), (lambda: gsort.intersect1d(5, [1]), "a: a source is an int\n"),
    (lambda: gsort.setdiff1d([1], b=[5, None]), "b: no NumPy dtype holds all elements of the list\n"),
    (lambda: gsort.searchsorted([1], type("Table", (), {"columns": [], "__array__": 0})()), "values: a source is a Table\n"),
    (lambda: gsort.sort([NUMBERS, 1]), "source: a source is an int\n"),
    (lambda: gsort.sort([NUMBERS, [1]]), "<array 2>: holds i64, but u32 is to be sorted\n"),
    (lambda: gsort.sort(object()), "source: a source is an object\n  give a path"),
    (lambda: gsort.sort([[1, 2], [3]]), "source: NumPy makes no array of the list: "),
    (lambda: gsort.sort(NUMBERS, 5), "output: has type int\n  give a path, an array, or None"),
    (lambda: gsort.argsort(numpy.zeros(3, "c8")), "dtype complex64 cannot be sorted\n  sort the parts: "),
    (lambda: gsort.sort(numpy.zeros(3, object)), "dtype object cannot be sorted\n  convert it: array.astype('U') of texts"),
    (lambda: gsort.argsort(NUMBERS, stream=0), "stream: the source is not in device memory\n  leave it out"),
    (lambda: gsort.argsort([numpy.zeros((3, 2))] * 2), "argsort and rows of an array: cannot be combined\n"),
    (lambda: gsort.unique([RECORDS] * 2, counts=True), "counts and an array of records: cannot be combined\n"),
    (lambda: gsort.sort(numpy.array(3)), "the array has no dimensions\n  give array.reshape(1)"),
    (lambda: gsort.sort(NUMBERS, numpy.zeros(3, "i4")), "output: the array has dtype int32, the result uint32\n"),
    (lambda: gsort.sort(NUMBERS, numpy.zeros(6, "u4")[::2]), "output: the array is not contiguous\n"),
    (lambda: gsort.sort(NUMBERS, numpy.frombuffer(bytes(12), "u4")), "output: the array is read-only\n"),
    (lambda: gsort.sort(numpy.zeros(1_000, "u4"), numpy.zeros(999, "u4")),
     "output: the array holds 999 elements, the result has 1,000\n"),
    (lambda: gsort.argsort(NUMBERS, numpy.zeros(2, "u4")), "output: the array holds 2 elements, the result has 3\n"),
    (lambda: gsort.setdiff1d(numpy.array(["a"]), numpy.array([b"a"])), "a and b: no dtype holds all values of <U1 and of |S1\n"),
    (lambda: gsort.setdiff1d(numpy.array(["a"]), NUMBERS), "a and b: no dtype holds all values of <U1 and of uint32\n")])
def test_messages_are_in_terms_of_arguments(call, expected):
    error = raised(gsort.Error, call)
    assert expected in f"{error}", str(error)


ROWS, FLOATS = NUMBERS.reshape(3, 1), numpy.array([2.0, -0.0, 0.0, -0.0])
# A message about arrays in memory names an argument, a function or an array.
BAD_CALLS = [
    ("threads", lambda: gsort.sort(NUMBERS, threads=-1)), ("threads", lambda: gsort.check(NUMBERS, threads=1 << 70)),
    ("threads", lambda: gsort.argsort(NUMBERS, threads=5000)), ("threads", lambda: gsort.unique(NUMBERS, threads="x")),
    ("memory", lambda: gsort.sort(NUMBERS, memory="200%")), ("memory", lambda: gsort.sort(NUMBERS, memory=1 << 80)),
    ("memory", lambda: gsort.merge([NUMBERS], memory="7")), ("memory", lambda: gsort.sort(NUMBERS, memory="")),
    ("memory", lambda: gsort.intersect1d(NUMBERS, NUMBERS, memory="x")),
    ("gpu_memory", lambda: gsort.sort(NUMBERS, gpu_memory="x")), ("gpu_memory", lambda: gsort.sort(NUMBERS, gpu_memory=-1)),
    ("top", lambda: gsort.sort(NUMBERS, top=1 << 70)), ("top", lambda: gsort.merge([NUMBERS], top=1.5)),
    ("top", lambda: gsort.sort(ROWS, top=1)), ("engine", lambda: gsort.sort(NUMBERS, engine="")),
    ("engine", lambda: gsort.argsort(NUMBERS, engine="gpu")), ("engine", lambda: gsort.unique(NUMBERS, engine=7)),
    ("temporary", lambda: gsort.sort(NUMBERS, temporary="")), ("temporary", lambda: gsort.merge([NUMBERS], temporary=5)),
    ("temporary", lambda: gsort.sort(NUMBERS, temporary="/none")),
    ("order", lambda: gsort.sort(NUMBERS, order="a")), ("order", lambda: gsort.check(RECORDS, order="z")),
    ("order", lambda: gsort.sort(RECORDS, order=["a", "a"])), ("order", lambda: gsort.argsort(RECORDS, order="")),
    ("order", lambda: gsort.merge([RECORDS], order="--a")), ("dtype", lambda: gsort.sort(NUMBERS, dtype="i8")),
    ("dtype", lambda: gsort.sort([NUMBERS, RECORDS])), ("dtype", lambda: gsort.merge([FLOATS, NUMBERS])),
    ("dtype", lambda: gsort.sort([NUMBERS.astype(">u4"), NUMBERS])), ("dtype", lambda: gsort.sort(numpy.zeros(3, "c16"))),
    ("dtype", lambda: gsort.sort(numpy.zeros(3, "V4"))), ("<array>", lambda: gsort.sort(numpy.zeros(3, "S20000"))),
    ("<array 2>", lambda: gsort.sort([ROWS, NUMBERS])),
    ("<array 1>", lambda: gsort.merge([NUMBERS, NUMBERS])), ("<array 1>", lambda: gsort.merge([FLOATS, FLOATS])),
    ("gsort.merge", lambda: gsort.merge([ROWS])), ("unique", lambda: gsort.sort(ROWS, unique=True)),
    ("argsort", lambda: gsort.argsort([ROWS] * 2)), ("source", lambda: gsort.sort([])), ("source", lambda: gsort.check(5)),
    ("counts", lambda: gsort.unique([RECORDS] * 2, counts=True)),
    ("counts", lambda: gsort.unique(NUMBERS, NUMBERS, counts=True)),
    ("a and b", lambda: gsort.setdiff1d(NUMBERS.astype("u8"), FLOATS)),
    ("<array 2>", lambda: gsort.setdiff1d(NUMBERS, RECORDS)),
    ("output", lambda: gsort.sort(NUMBERS, FLOATS)), ("output", lambda: gsort.argsort(NUMBERS, FLOATS)),
    ("output", lambda: gsort.setdiff1d(NUMBERS, NUMBERS, 5)), ("output", lambda: gsort.merge([NUMBERS], {})),
    ("engine", lambda: gsort.sort(numpy.zeros((2, 2), RECORDS.dtype), engine="cuda")),
    ("descending", lambda: gsort.sort(NUMBERS, descending=2)), ("progress", lambda: gsort.sort(NUMBERS, progress="x")),
    ("stream", lambda: gsort.sort(NUMBERS, stream=3)), ("array", lambda: gsort.sort_pairs([3, 1], NUMBERS)),
    ("sort_pairs", lambda: gsort.sort_pairs(NUMBERS, NUMBERS, stream=1)),
    ("values", lambda: gsort.sort_pairs(NUMBERS, NUMBERS[:2])), ("values", lambda: gsort.sort_pairs(NUMBERS, [1, 2, 3])),
    ("output", lambda: gsort.sort_pairs(NUMBERS, NUMBERS, (NUMBERS.copy(), FLOATS))),
    ("output", lambda: gsort.sort_pairs(NUMBERS, NUMBERS, NUMBERS.copy())),
    ("output", lambda: gsort.sort_pairs(NUMBERS, NUMBERS, 5)),
    ("output", lambda: gsort.sort_pairs(NUMBERS, NUMBERS, [NUMBERS.copy()] * 2)),
    ("segmented_sort", lambda: gsort.segmented_sort(NUMBERS, NUMBERS))]
OF_FILES = re.compile(r"\.npy|\bheader|\bfiles?\b|\bFILEs?\b")


@pytest.mark.parametrize("number", range(len(BAD_CALLS)))
def test_messages_about_arrays_name_arguments_alone(number):
    named, call = BAD_CALLS[number]
    error = raised(gsort.Error, call)
    assert named in str(error)
    words = QUOTED.sub("", str(error)).replace("No such file or directory", "")
    assert not OPTION.search(words) and not OF_FILES.search(words), error


@pytest.mark.parametrize("call", [
    lambda: gsort.sort(RECORDS, order=5), lambda: gsort.sort(RECORDS, order=[5]), lambda: gsort.sort(RECORDS, order=[]),
    lambda: gsort.sort(RECORDS, order="\udcff"), lambda: gsort.sort(NUMBERS, temporary=5),
    lambda: gsort.sort(NUMBERS, temporary=[]), lambda: gsort.sort(NUMBERS, temporary=[5]),
    lambda: gsort.intersect1d(NUMBERS, NUMBERS, temporary=[]), lambda: gsort.sort(NUMBERS, memory="\udcff"),
    lambda: gsort.sort(NUMBERS, memory=[1]), lambda: gsort.sort(NUMBERS, threads="many"),
    lambda: gsort.sort("\ud800"), lambda: gsort.argsort(NUMBERS, [1]), lambda: gsort.argsort(["\ud800"]),
    lambda: gsort.sort(NUMBERS, descending="no"), lambda: gsort.check(NUMBERS, unique=0),
    lambda: gsort.unique(NUMBERS, counts="no"), lambda: gsort.setdiff1d(NUMBERS, NUMBERS, assume_sorted=1),
    lambda: gsort.sort(NUMBERS, progress=3), lambda: gsort.sort(NUMBERS, progress="yes"),
    lambda: gsort.sort(numpy.ones(3, "u4"), numpy.ma.zeros(3, "u4"))])
def test_arguments_of_wrong_types(call):
    assert raised(gsort.UsageError, call).hint


@pytest.mark.parametrize("dtype", ["S", "foo", object, "V", [("a", "O")], ("i4", (2,)), 5])
def test_dtypes_without_a_size(tmp_path, dtype):
    (tmp_path / "in").write_bytes(bytes(8))
    assert raised(gsort.UsageError, lambda: gsort.sort(tmp_path / "in", dtype=dtype)).hint


def test_errors_of_files_that_are_mapped(tmp_path):
    (tmp_path / "bad.npy").write_bytes(b"no array")
    raised(FileNotFoundError, lambda: gsort.sort(tmp_path / "none", dtype="S4"))
    raised(FileNotFoundError, lambda: gsort.sort(tmp_path / "none.npy", dtype="S4"))
    raised(OSError, lambda: gsort.sort(tmp_path, dtype="S4"))
    raised(gsort.DataError, lambda: gsort.sort(tmp_path / "bad.npy", dtype="S4"))
    raised(FileNotFoundError, lambda: gsort.intersect1d(NUMBERS, NUMBERS, temporary=tmp_path / "none"))
    summaries = [gsort.sort(NUMBERS, tmp_path / name) for name in ("out.u32", "out.npy")]
    for summary in summaries:
        os.remove(summary.path)
        assert raised(FileNotFoundError, summary.memmap).path == summary.path


def test_names_of_any_bytes(tmp_path, monkeypatch):
    name = os.fsencode(tmp_path) + b"/\xff<a>-.u32"
    NUMBERS.tofile(os.fsdecode(name))
    assert (gsort.sort(name) == [1, 2, 3]).all()
    error = raised(FileNotFoundError, lambda: gsort.sort(name + b"x.u32"))
    assert os.fsencode(error.filename) == name + b"x.u32"
    monkeypatch.chdir(tmp_path)
    NUMBERS.tofile("-")
    assert (gsort.sort("-", dtype="u4") == [1, 2, 3]).all()


def test_suffixes_that_say_several_types(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    NUMBERS.tofile("m.u32")
    NUMBERS.astype("u8").tofile("m.u64")
    for source in ["m.u32", "m.u64"], [NUMBERS, "m.u64"]:
        for function in gsort.sort, gsort.merge, gsort.argsort, gsort.unique:
            error = raised(gsort.UsageError, lambda: function(source))
            assert str(error).startswith("reading m.u64: its suffix says u64, but the type is u32 (from "), error
            assert error.hint == "give the dtype"
        with pytest.warns(UserWarning, match="^m.u64 is read as u32 .type from .*., but its suffix says u64$"):
            assert len(gsort.sort(source, dtype="u4")) == 9
    assert_same(gsort.intersect1d("m.u32", "m.u64"), numpy.array([1, 2, 3], "u8"))
    with pytest.raises(gsort.UsageError, match="gsort.sort sorts them|its suffix says u64"):
        gsort.intersect1d("m.u32", "m.u64", assume_sorted=True)
    with pytest.warns(UserWarning) as warned:
        gsort.sort(["m.u32", "m.u64"], "q.u16", dtype="u4")
    assert [f"{one.message}" for one in warned] == ["m.u64 is read as u32 (type from dtype), but its suffix says u64"]


def test_an_output_whose_suffix_says_another_type(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning) as warned:
        gsort.sort(NUMBERS.astype("u8"), "q.u32")
    message, = warned
    assert f"{message.message}" == "q.u32 will hold u64 (type from the array), but its suffix says u32"
    assert message.filename == __file__
    with pytest.warns(UserWarning, match="^q.u16.gz will hold u32 "):
        gsort.intersect1d(NUMBERS, NUMBERS, "q.u16.gz")
    with pytest.warns(UserWarning, match="^q.u16.gz is read as u32 .type from dtype., but its suffix says u16$"):
        assert (gsort.sort("q.u16.gz", dtype="u4") == [1, 2, 3]).all()
    for why in "keys with their counts", "u32 (type from the array)":
        line = f"d -t x/o.u64 will hold {why}, but its suffix says u64"
        with pytest.warns(UserWarning, match=f"^{re.escape(line)}$"):
            _warn(f"gsort: {line}\n")
    with pytest.warns(UserWarning, match="^q.i8 will hold positions as u32, but its suffix says i8$"):
        gsort.argsort(NUMBERS, "q.i8")
    gsort.sort(NUMBERS.view("f4"), "q.f32")


def test_only_too_little_memory_is_said_to_be_that(monkeypatch):
    def fail(_):
        raise ValueError("why")

    monkeypatch.setattr(numpy, "ascontiguousarray", fail)
    with pytest.raises(ValueError, match="^why$"):
        gsort.sort(NUMBERS[::-1])
    with pytest.raises(gsort.ResourceError):
        new_array(1 << 62, NUMBERS.dtype)


NESTED = numpy.zeros(3, [("a", [("c", "i4")])])
LONG_TEXTS = numpy.array([b"b" * 2000, b"a" * 2000])
HINTS = [
    (lambda: gsort.sort("damaged.u64.gz"), "test the file with 'gzip -t'"),
    (lambda: gsort.sort("plain.u64.gz"), "give it a name without that suffix to read the bytes as they are"),
    (lambda: gsort.sort("twice.u32.gz.gz"), "decompress it once: 'gzip -dc twice.u32.gz.gz > twice.u32.gz'"),
    (lambda: gsort.merge(["in.u32.gz"] * 999, memory="5M"), "give memory 1M or more, or decompress such "
     "inputs first: 'gzip -dc in.u32.gz > FILE'"),
    (lambda: gsort.sort("odd.u64"), "likely elements have another size (dtype), or a header comes first; else "
     "the file is not complete"),
    (lambda: gsort.sort("bad.npy"), "is it a whole .npy file? numpy.save writes one"),
    (lambda: gsort.sort("objects.npy", dtype="S4"), "save it with a dtype of numbers, times, texts or records"),
    (lambda: gsort.sort("records.npy", dtype="i4"), "leave out dtype; order names the fields to sort by"),
    (lambda: gsort.sort("f.txt", dtype="i4"), "likely i32 is the wrong type: dtype f8 sorts such numbers"),
    (lambda: gsort.sort("table.csv", "o"), "give one column of it, as of numpy.loadtxt, or write that into a .txt file; dtype i4 "
     "sorts its bytes as they are"),
    (lambda: gsort.sort("o.json", "o"), "write its numbers one a line into a .txt file; dtype i4 sorts its bytes as they are"),
    (lambda: gsort.sort("wide.txt", dtype="i4"), "convert it to UTF-8"),
    (lambda: gsort.sort("plus.txt", dtype="i4"), "remove the plus signs"),
    (lambda: gsort.sort("empty.txt", dtype="i4"), "remove empty lines"),
    (lambda: gsort.sort("columns.txt", dtype="i4"), "take one column of it"),
    (lambda: gsort.sort("large.txt"), "i32 holds numbers from -2147483648 to 2147483647; dtype i8 holds this one"),
    (lambda: gsort.sort("f.txt", dtype="V100"), "give 'S100', or a dtype of records, with order"),
    (lambda: gsort.sort("numbers", dtype="u8"), "it looks like text: a file named .txt holds one number a line"),
    (lambda: gsort.sort(numpy.zeros(3, "g")), "convert it: array.astype('f8')"),
    (lambda: gsort.sort(RECORDS, "o.txt"), "give the output another suffix: .npy, or one of raw bytes, as .bin"),
    (lambda: gsort.sort(NUMBERS, "o.gz.gz"), "name it with one of them"),
    (lambda: gsort.unique(NUMBERS, "o.npy.gz"), "name an output file that is not compressed"),
    (lambda: gsort.sort(NUMBERS, ""), "help(gsort.sort) explains the arguments"),
    (lambda: gsort.sort(NESTED), "no field has an order: only fields of numbers, times and texts have one"),
    (lambda: gsort.sort(NESTED, order="a"), "no field has an order: only fields of numbers, times and texts have one"),
    (lambda: gsort.sort(numpy.zeros(3, [("a", "c8"), ("b", "u1")])), "name fields with order; these can be sorted by: b"),
    (lambda: gsort.sort(numpy.zeros(3, [("a,b", "u1"), ("c\\", "u1")]), order="z"), "these can be sorted by: a,b, c\\"),
    (lambda: gsort.sort(LONG_TEXTS), "sort it as records, by what decides: order='head' of array.view([('head', 'S1024'), "
     "('rest', f'V{array.itemsize - 1024}')])"),
    (lambda: gsort.sort(numpy.zeros(3, ",".join(["u1"] * 99))), "name those that decide with order; a text makes one key "
     "for each character (U), or for 32 bytes (S)"),
    (lambda: gsort.sort(NUMBERS, memory=1), "use at least 1M"),
    (lambda: gsort.sort(NUMBERS, memory=1 << 80), "give less than 8E, as in 1M or 4G"),
    (lambda: gsort.sort(numpy.zeros((2, 2), RECORDS.dtype), engine="cuda"), "arrays of records are sorted on the CPU; leave "
     "out engine"),
    (lambda: gsort.sort("fifo.u32", "fifo.u32"), "name another output, or copy the input to a file first"),
    (lambda: gsort.argsort("in.u32", "in.u32"), "give the positions a file of their own as output"),
    (lambda: gsort.sort([NUMBERS, NUMBERS.astype("i4")]), "its dtype says so; the type comes from dtype, a suffix, or the "
     "input before"),
    (lambda: gsort.sort(NUMBERS, threads=0), "give a whole number from 1 to 4096"),
    (lambda: gsort.sort(NUMBERS, temporary="none"), "give an existing folder with temporary"),
    (lambda: gsort.check(["in.u32", "in.u32"]), "check each by itself"),
    (lambda: gsort.merge("in.u32"), "gsort.sort sorts them"),
    (lambda: gsort.intersect1d("in.u32", NUMBERS, assume_sorted=True), "gsort.sort sorts them")]
OPTION = re.compile(r"(?<![\w-])(--[a-z]|-[A-Za-z](?!\w))")
QUOTED = re.compile(r"(?<!\w)'[^']*'(?!\w)")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    NUMBERS.tofile("in.u32")
    Path("in.u32.gz").write_bytes(gzip.compress(NUMBERS.tobytes()))
    Path("twice.u32.gz.gz").write_bytes(gzip.compress(gzip.compress(NUMBERS.tobytes())))
    Path("damaged.u64.gz").write_bytes(bytes([31, 139, 8, 0]) + bytes(30))
    Path("plain.u64.gz").write_bytes(b"text that is not compressed")
    Path("odd.u64").write_bytes(bytes(20))
    Path("bad.npy").write_bytes(b"no array")
    numpy.save("objects.npy", numpy.array([1, "a"], object))
    numpy.save("records.npy", RECORDS)
    Path("f.txt").write_text("1.5\n")
    Path("table.csv").write_text("1,2\n")
    Path("o.json").write_text("[1]\n")
    Path("wide.txt").write_text("1\n", "utf-16")
    Path("plus.txt").write_text("+1\n")
    Path("empty.txt").write_text("1\n\n")
    Path("columns.txt").write_text("1 2\n")
    Path("large.txt").write_text("3000000000\n")
    Path("numbers").write_text("123456\n" * 9)
    os.mkfifo("fifo.u32")


@pytest.mark.parametrize("number", range(len(HINTS)))
def test_hints_can_be_followed(number, files):
    call, expected = HINTS[number]
    error = raised(gsort.Error, call)
    assert re.sub(r"\d+M", "1M", error.hint) == expected
    assert not OPTION.search(QUOTED.sub("", str(error))), error


def test_the_hint_for_long_texts():
    array = LONG_TEXTS
    view, = re.findall(r"array.view.*", raised(gsort.Error, lambda: gsort.sort(array)).hint)
    assert (gsort.sort(eval(view), order="head").view(array.dtype) == array[::-1]).all()


def test_no_hint_of_the_program_has_an_option():
    """Or the name of an argument that no function has."""
    sources = Path(__file__).resolve().parents[2]
    texts = {text for folder in ("src", "io", "gpu") for path in (sources / folder).rglob("*.cpp")
             if not path.name.endswith(("_rows.cpp", "option_table.cpp"))  # help texts
             for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text())}
    with_options = [text for text in texts if OPTION.search(text)]
    assert len(with_options) > 100
    arguments = {name for function in gsort.__all__ if function.islower()
                 for name in inspect.signature(getattr(gsort, function)).parameters}
    for text in with_options:
        hint = QUOTED.sub("", for_python(text, is_hint=True))
        assert not OPTION.search(hint), (text, hint)
        assert set(re.findall(r"\b([a-z_]+)=", hint)) <= arguments, (text, hint)
    assert for_python("leave out --skip; --frobnicate=2 helps, or use --engine=cpu", is_hint=True) == 'use engine="cpu"'
    assert for_python("test 'it -t' in -t/-S, or give -S", "-t/-S", True) == "test 'it -t' in -t/-S, or give memory"
