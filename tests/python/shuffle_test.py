"""gsort.shuffle: the same elements in a random order, which the seed decides."""

import subprocess
import warnings

import gsort
import numpy
import pytest

from support import NUMBERS, OTHERS, random_array

DTYPES = [*NUMBERS, *OTHERS, "c16", "V5", [("a", "i4"), ("b", "S3"), ("c", "c8")]]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_elements_of_every_dtype_move_as_the_positions_do(dtype):
    array = numpy.frombuffer(numpy.random.default_rng(1).bytes(1003 * numpy.dtype(dtype).itemsize), dtype)
    order = gsort.shuffle(numpy.arange(1003), seed=5)
    assert sorted(order) == list(range(1003)) and list(order) != list(range(1003))
    result = gsort.shuffle(array, seed=5)
    assert result.dtype == array.dtype and result.tobytes() == array[order].tobytes()
    assert gsort.shuffle(array, seed=5, top=10).tobytes() == array[order[:10]].tobytes()


def test_the_first_dimension_is_shuffled():
    for shape in (7, 5), (7, 2, 3), (1, 4), (7, 1), (0, 3), (0,):
        array = numpy.arange(numpy.prod(shape)).reshape(shape)
        order = gsort.shuffle(numpy.arange(shape[0]), seed=2)
        for layout in (numpy.ascontiguousarray, numpy.asfortranarray):
            result = gsort.shuffle(layout(array), seed=2)
            assert result.shape == shape and numpy.array_equal(result, array[order])


def test_outputs_may_be_the_source_another_array_or_a_file(tmp_path):
    array = random_array("<u4", 100_003)
    wanted = gsort.shuffle(array, seed=9)
    place, buffer = array.copy(), bytearray(array.nbytes)
    assert gsort.shuffle(place, place, seed=9) is place and numpy.array_equal(place, wanted)
    assert gsort.shuffle(array, memoryview(buffer).cast("I"), seed=9) is not None and bytes(buffer) == wanted.tobytes()
    strided = numpy.zeros((100_003, 2), "<u4")
    gsort.shuffle(array, out=strided[:, 1], seed=9)
    assert numpy.array_equal(strided[:, 1], wanted) and not strided[:, 0].any()
    few = numpy.empty(5, "<u4")
    assert numpy.array_equal(gsort.shuffle(array, few, seed=9, top=5), wanted[:5])
    summary = gsort.shuffle(array, tmp_path / "out.u32", seed=9)
    assert numpy.array_equal(summary.memmap(), wanted)
    assert numpy.array_equal(gsort.shuffle(tmp_path / "out.u32", seed=1), gsort.shuffle(wanted, seed=1))
    gsort.shuffle([array[:10], array[10:]], tmp_path / "out.npy", seed=9)
    assert numpy.array_equal(numpy.load(tmp_path / "out.npy"), wanted)
    table = numpy.arange(30).reshape(10, 3)
    numpy.save(tmp_path / "table.npy", table)
    gsort.shuffle(tmp_path / "table.npy", tmp_path / "rows.npy", seed=4)
    assert numpy.array_equal(numpy.load(tmp_path / "rows.npy"), gsort.shuffle(table, seed=4))


@pytest.mark.parametrize("dtype", ["<u4", ">i8", "f2", "?", "M8[s]", "S5", "<U3", "c16", "V5", [("a", "i4"), ("b", "c8")]], ids=str)
@pytest.mark.parametrize("shape", [(11,), (11, 3), (11, 1), (11, 2, 2), (1, 4), (0, 3)], ids=str)
def test_every_door_moves_whole_elements_or_says_why_not(dtype, shape, tmp_path):
    dtype = numpy.dtype(dtype)
    array = (random_array("u1", numpy.prod(shape)) % 2).astype(dtype) if dtype == bool else \
        random_array(dtype, numpy.prod(shape))
    array = array.reshape(shape)
    wanted = array[gsort.shuffle(numpy.arange(shape[0]), seed=5)]
    has_header = len(shape) <= 2 and dtype.kind != "c" and dtype.str != "|V5"
    for source in array, numpy.asfortranarray(array), [array[:4], array[4:]]:
        result = gsort.shuffle(source, seed=5)
        assert result.dtype == dtype and result.shape == shape and result.tobytes() == wanted.tobytes()
        place = numpy.empty(shape, dtype)
        gsort.shuffle(source, place, seed=5)
        assert place.tobytes() == wanted.tobytes()
        raw = gsort.shuffle(source, tmp_path / "out.bin", seed=5).memmap()
        assert raw.dtype == dtype and raw.tobytes() == wanted.tobytes()
        if has_header:
            gsort.shuffle(source, tmp_path / "out.npy", seed=5)
            written = numpy.load(tmp_path / "out.npy")
            assert written.dtype == dtype and written.shape == shape and written.tobytes() == wanted.tobytes()
        else:
            with pytest.raises(gsort.UsageError, match="are written to raw files alone\n  give as output a raw file, or numpy"):
                gsort.shuffle(source, tmp_path / "out.npy", seed=5)
    mapped = numpy.lib.format.open_memmap(tmp_path / "map.npy", "w+", dtype, shape) if array.size else place
    assert gsort.shuffle(array, mapped, seed=5).tobytes() == wanted.tobytes()


def test_a_suffix_names_the_numbers_in_an_element(tmp_path):
    array = numpy.arange(40, dtype="u4").reshape(10, 2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        summary = gsort.shuffle(array, tmp_path / "out.u32", seed=1)
    assert summary.memmap().tobytes() == gsort.shuffle(array, seed=1).tobytes()


def test_the_order_is_that_of_the_program_in_any_memory(gsort_program, tmp_path):
    array = random_array("<u8", 2_000_003)
    array.tofile(tmp_path / "in.u64")
    subprocess.run([gsort_program, "--shuffle=77", "-S", "16M", tmp_path / "in.u64", "-o", tmp_path / "out"], check=True)
    wanted = numpy.fromfile(tmp_path / "out", "<u8")
    mapped = numpy.memmap(tmp_path / "in.u64", "<u8", "r+")
    for memory in "16M", "1G":
        assert numpy.array_equal(gsort.shuffle(array, seed=77, memory=memory), wanted)
    gsort.shuffle(mapped, mapped, seed=77, memory="24M", temporary=str(tmp_path))
    assert numpy.array_equal(mapped, wanted)


def test_without_a_seed_every_call_has_another_order():
    array = numpy.arange(1000)
    assert not numpy.array_equal(gsort.shuffle(array), gsort.shuffle(array))
    assert gsort.shuffle([3, 1, 2]).size == 3
    assert numpy.array_equal(gsort.shuffle(array, seed=2**64 - 1), gsort.shuffle(array, seed=numpy.uint64(2**64 - 1)))


@pytest.mark.parametrize("source, options, message", [
    ([1, 2], {"seed": -1}, r"^seed '-1': is not a valid seed\n  give a whole number from 0 to 18446744073709551615, or None$"),
    ([1, 2], {"seed": 2**64}, "^seed '18446744073709551616': is not a valid seed"),
    ([1, 2], {"seed": 1.5}, "^seed: has type float\n  give a whole number, or None$"),
    ([1, 2], {"top": "x"}, "^top 'x': is not a number of elements"),
    (numpy.array([1, "a"], object), {}, r"dtype object and shape \(2,\) cannot be shuffled"),
    (numpy.ma.array([1, 2]), {}, "cannot be shuffled"),
    (numpy.ma.array([[1], [2]]), {"output": "out.npy"}, "cannot be shuffled"),
    ([numpy.zeros((2, 2)), numpy.zeros((2, 3))], {}, "^source: elements of the arrays differ in dtype or shape"),
    ([numpy.zeros((2, 2, 2)), "in.npy"], {}, "^source: beside files, arrays have one or two dimensions"),
    ([1, 2], {"seed": numpy.array([1, 2])}, "^seed: has type ndarray"),
    ([1, 2], {"seed": True}, "^seed: has type bool"),
    (numpy.empty((2, 3000)), {}, "have 24,000 bytes, not 1 to 16,376"),
    (numpy.empty((2, 30, 100)), {"output": "out.bin"}, "have 24,000 bytes, not 0 to 16,376"),
    (numpy.arange(3), {"dtype": "u1"}, "the array holds int64, not uint8"),
    (numpy.arange(3), {"output": numpy.empty(2, int)}, r"shape \(2,\), the result \(3,\)")])
def test_what_is_wrong_is_said_in_terms_of_the_arguments(source, options, message):
    with pytest.raises(gsort.UsageError, match=message):
        gsort.shuffle(source, **options)
