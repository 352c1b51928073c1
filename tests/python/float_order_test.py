"""The order of floats: that of NumPy, on every path, and IEEE's total order if asked for."""

import numpy
import pytest

import gsort
from support import assert_same, random_array

FLOATS = [numpy.dtype(order + name) for name in ("f2", "f4", "f8") for order in "<>"]


def special(dtype, count=4_000):
    """Any bits, many zeros of both signs, and NaN of both signs with several payloads."""
    rng = numpy.random.default_rng(3)
    array = random_array(dtype, count).copy()
    native = array.astype(array.dtype.newbyteorder("="))
    values = numpy.array([0.0, -0.0, numpy.nan, -numpy.nan, numpy.inf, -numpy.inf, 1, -1], native.dtype)
    places = rng.integers(0, count, count // 2)
    native[places] = values[rng.integers(0, values.size, places.size)]
    return native.astype(dtype)


def classes(array):
    """The values: -0 becomes 0, every NaN the same one."""
    native = array.astype(array.dtype.newbyteorder("="))
    return numpy.where(numpy.isnan(native), native.dtype.type("nan"), numpy.where(native == 0, native.dtype.type(0), native))


def by_bits(array):
    """The floats in numeric order, equal ones by their bits: -0 before 0; NaN without a sign by their payload, then those
    with a sign, the greatest payload first."""
    native = array.astype(array.dtype.newbyteorder("="))
    bits = native.view(f"i{array.dtype.itemsize}")
    is_nan, sign = numpy.isnan(native), numpy.signbit(native)
    place = numpy.where(is_nan, numpy.where(sign, -1 - bits.astype("i8"), bits), ~sign)
    order = numpy.lexsort((place, is_nan & sign, numpy.where(is_nan, 0, native), is_nan))
    return array[order]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_every_path_gives_the_same_bytes(dtype, descending, tmp_path):
    array = special(dtype, 300_000)
    numpy.save(tmp_path / "in.npy", array)
    expected = by_bits(array)[::-1] if descending else by_bits(array)
    for source in array, [array[:1_000], array[1_000:]], tmp_path / "in.npy":
        for memory in "16M", "1G":
            assert_same(gsort.sort(source, tmp_path / "out.npy", memory=memory, descending=descending) and
                        numpy.load(tmp_path / "out.npy"), expected)
    assert_same(gsort.sort(array, descending=descending), expected)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_sort_equals_numpy_but_for_bits(dtype):
    array = special(dtype)
    for source in (array, [array], array.reshape(1, -1)):
        result = gsort.sort(source).reshape(-1)
        numpy.testing.assert_array_equal(classes(result), classes(numpy.sort(array)))
        assert sorted(result.tobytes()) == sorted(array.tobytes())
    reverse = gsort.sort(array, descending=True)
    numpy.testing.assert_array_equal(classes(reverse), classes(numpy.sort(array)[::-1]))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_argsort_is_stable_as_numpy_on_every_path(dtype, tmp_path):
    array = special(dtype)
    expected = numpy.argsort(array, kind="stable")
    numpy.save(tmp_path / "in.npy", array)
    gsort.argsort(array, tmp_path / "out.npy")
    for positions in (gsort.argsort(array), gsort.argsort([array[:999], array[999:]]),
                      gsort.argsort(tmp_path / "in.npy"), numpy.load(tmp_path / "out.npy")):
        numpy.testing.assert_array_equal(positions, expected)
        assert_same(array[positions], numpy.sort(array, kind="stable"))


def test_records_with_equal_floats_keep_their_order():
    records = numpy.zeros(1_000, [("key", "f4"), ("place", "u4")])
    records["key"] = special("f4", 1_000)
    records["place"] = numpy.arange(1_000)
    by_key = gsort.sort(records, order="key")
    assert_same(by_key, records[numpy.argsort(records["key"], kind="stable")])
    assert_same(gsort.sort(records), by_key)  # the place decides among equal keys
    firsts = gsort.sort(records, order="key", unique=True)
    numpy.testing.assert_array_equal(classes(firsts["key"]), numpy.unique(classes(records["key"])))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_unique_and_sets_know_classes(dtype):
    array, other = special(dtype), special(dtype)[::-3]
    keys, counts = gsort.unique(array, counts=True)
    expected = numpy.unique(classes(array), return_counts=True)
    numpy.testing.assert_array_equal(classes(keys), expected[0])
    numpy.testing.assert_array_equal(counts, expected[1])
    numpy.testing.assert_array_equal(classes(gsort.unique(array)), expected[0])
    numpy.testing.assert_array_equal(classes(gsort.sort(array, top=5, unique=True)), expected[0][:5])
    both = gsort.intersect1d(array, other)
    left, right = classes(array), classes(other)
    numpy.testing.assert_array_equal(classes(both), expected[0][numpy.isin(expected[0], right) | numpy.isnan(expected[0])])
    only = gsort.setdiff1d(array, other)
    numpy.testing.assert_array_equal(classes(only), expected[0][~numpy.isin(expected[0], right) & ~numpy.isnan(expected[0])])
    assert left.size and right.size


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_merge_and_check_take_what_numpy_sorted(dtype):
    one, two = numpy.sort(special(dtype), kind="stable"), numpy.sort(special(dtype)[::2], kind="stable")
    assert gsort.check(one)
    merged = gsort.merge([one, two])
    assert gsort.check(merged)
    numpy.testing.assert_array_equal(classes(merged), classes(numpy.sort(numpy.concatenate([one, two]))))
    bits = f"V{dtype.itemsize}"
    assert sorted(merged.view(bits).tolist()) == sorted([*one.view(bits).tolist(), *two.view(bits).tolist()])
    assert not gsort.check(one, unique=True)
    assert gsort.check(one).distinct == numpy.unique(classes(one)).size


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_total_order(dtype):
    array = special(dtype)
    native = array.astype(array.dtype.newbyteorder("="))
    bits = native.view(f"i{array.dtype.itemsize}")
    total = numpy.where(bits < 0, bits ^ numpy.iinfo(bits.dtype).max, bits)
    positions = numpy.argsort(total, kind="stable")
    assert_same(gsort.sort(array, float_order="total"), array[positions])
    assert_same(gsort.sort([array], float_order="total"), array[positions])
    numpy.testing.assert_array_equal(gsort.argsort(array, float_order="total"), positions)
    assert gsort.unique(array, float_order="total").size == numpy.unique(bits).size
    assert gsort.check(array[positions], float_order="total") and not gsort.check(array[positions])
    with pytest.raises(ValueError, match="float_order"):
        gsort.sort(array, float_order="best")


@pytest.mark.parametrize("library", ["polars", "duckdb"])
def test_descending_order_is_that_of_other_libraries(library):
    array = special("f8")
    ours = classes(gsort.sort(array, descending=True))
    if library == "polars":
        polars = pytest.importorskip("polars")
        theirs = polars.Series(array).sort(descending=True).to_numpy()
    else:
        duckdb = pytest.importorskip("duckdb")
        query = "SELECT key FROM (SELECT unnest(?::DOUBLE[]) AS key) ORDER BY key DESC"
        theirs = [key for key, in duckdb.execute(query, [array.tolist()]).fetchall()]
    numpy.testing.assert_array_equal(ours, classes(numpy.asarray(theirs)))
