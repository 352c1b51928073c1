"""Runs the recipe of src/library/NUMPY.md, here as recipe.py, and compares what its function gives with numpy.sort
for every type that gsort has."""

import numpy

import recipe

KEYS = 20_000
random = numpy.random.default_rng(7)


def array_of(dtype):
    """Keys of any bits; of floats, no NaN or zero, which can be equal with different bits."""
    keys = numpy.frombuffer(random.bytes(KEYS * dtype.itemsize), dtype=dtype)
    return keys[~numpy.isnan(keys) & (keys != 0)] if dtype.kind == "f" else keys


def require_equal(actual, expected, what):
    assert actual.dtype == expected.dtype, f"{what}: {actual.dtype}"
    assert actual.tobytes() == expected.tobytes(), what


def test_all_types():
    for name in "u1 i1 u2 i2 u4 i4 u8 i8 f4 f8".split():
        for order in "<", ">":
            dtype = numpy.dtype(order + name)
            keys = array_of(dtype)
            require_equal(recipe.gsort(keys, "out.npy"), numpy.sort(keys), f"{dtype}")
            require_equal(recipe.gsort(keys, "out.npy", "-r"), numpy.sort(keys)[::-1], f"{dtype} -r")


def test_raw_files():
    require_equal(recipe.raw_sorted, numpy.sort(recipe.keys), "raw keys")
    assert isinstance(recipe.raw_sorted, numpy.memmap) and isinstance(recipe.largest_first, numpy.memmap)
    require_equal(recipe.largest_first, numpy.sort(recipe.keys)[::-1], ".npy")


def test_where_floats_differ():
    """As NUMPY.md says: NaN come last, and equal floats are ordered by their bits."""
    for dtype in numpy.float32, numpy.float64:
        keys = numpy.array([numpy.nan, 0.0, 1.0, -0.0, -numpy.nan, -1.0, 0.0, -0.0], dtype=dtype)
        actual = recipe.gsort(keys, "out.npy")
        expected = numpy.array([-1.0, -0.0, -0.0, 0.0, 0.0, 1.0, numpy.nan, -numpy.nan], dtype=dtype)
        require_equal(actual, expected, f"{dtype} in numeric order")
        numpy.testing.assert_array_equal(numpy.sort(actual), numpy.sort(keys))


def require_equal_fields(actual, expected, what):
    """But not the padding between them, which NumPy does not carry along."""
    assert actual.dtype == expected.dtype, f"{what}: {actual.dtype}"
    assert (actual == expected).all(), what


def records_of(dtype, count=5_000):
    """Records whose fields have few values each, so that every one of them decides somewhere."""
    records = numpy.zeros(count, dtype=dtype)
    for name in records.dtype.names:
        field = records[name]
        if field.dtype.names is None and field.dtype.kind in "biuf":
            records[name] = random.integers(0 if field.dtype.kind in "bu" else -2, 2, field.shape)
        elif field.dtype.kind in "SU":
            records[name] = random.choice(["", "a", "ab", "b", "zz"], count)
        elif field.dtype.kind in "mM":
            records[name] = random.integers(-5, 5, count).astype(field.dtype)
    return records


def test_records_in_the_order_of_their_fields():
    for dtype in ([("key", "<u8"), ("value", "<f4")], [("a", ">i2"), ("b", "?"), ("c", "<u1"), ("d", ">f8")],
                  [("text", "S40"), ("more", "<U3"), ("last", ">U2")], [("at", "<M8[s]"), ("for", ">m8[ms]")],
                  numpy.dtype([("a", "u1"), ("b", "<i4"), ("c", "u2")], align=True)):
        records = records_of(dtype)
        expected = numpy.sort(records)
        require_equal_fields(recipe.gsort(records, "out.npy"), expected, f"{dtype}")
        for name in records.dtype.names:
            by_name = records[numpy.argsort(records[name], kind="stable")]
            require_equal_fields(recipe.gsort(records, "out.npy", f"--key={name}"), by_name, f"{dtype} by {name}")


def test_records_by_some_fields_and_directions():
    records = records_of([("a", "<i4"), ("pair", "<f4", (2,)), ("in", [("x", "u1"), ("y", ">i2")]), ("b", "<u2")])
    records["in"]["x"] = random.integers(0, 255, len(records))
    order = numpy.lexsort([-records["b"].astype("i8"), records["a"]])
    require_equal(recipe.gsort(records, "out.npy", "--key=a,br"), records[order], "by a, then b downwards")
    order = numpy.argsort(records["in"]["x"], kind="stable")
    require_equal(recipe.gsort(records, "out.npy", "--key=12:u8"), records[order], "by an offset")
    rows = records_of([("k", "<i2"), ("v", "<u4")], 600).reshape(20, 30)
    require_equal(recipe.gsort(rows, "out.npy"), numpy.sort(rows, axis=1), "rows of records")


def test_booleans_texts_and_times():
    arrays = (random.integers(0, 2, KEYS).astype("?"), random.choice([b"b", b"", b"abc", b"a"], KEYS),
              random.choice(["b", "", "abc", "\u00e9"], KEYS), random.integers(-9, 9, KEYS).astype("M8[ns]"),
              random.integers(-9, 9, KEYS).astype(">m8[h]"), records_of("<U1,<i8")["f0"])
    for keys in arrays:
        require_equal(recipe.gsort(keys, "out.npy"), numpy.sort(keys), f"{keys.dtype}")
    for dtype in "M8[D]", ">m8[s]":
        times = random.integers(-9, 9, KEYS).astype(dtype)
        times[random.integers(0, KEYS, KEYS // 4)] = "NaT"
        require_equal(recipe.gsort(times, "out.npy"), numpy.sort(times), f"{dtype} with NaT")
        records = numpy.zeros(KEYS, [("id", "<u4"), ("at", dtype)])
        records["id"], records["at"] = random.integers(0, 3, KEYS), times
        require_equal(recipe.gsort(records, "out.npy"), numpy.sort(records), f"records with {dtype}")


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("ok:", name)
