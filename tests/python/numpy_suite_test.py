"""NumPy's own tests of sort, argsort and sets, in which gsort's functions replace NumPy's and get NaN of both signs in
addition to the floats."""

import ast
import functools
import importlib.util
import itertools
from collections import Counter
from pathlib import Path

import numpy
import pytest

import gsort

NAMES = {"sort", "argsort", "unique", "intersect1d", "setdiff1d"}
NANS = numpy.array([numpy.nan, -numpy.nan])
SHORT = 16  # of NumPy's hundreds of sizes, the short form takes one in so many
calls = Counter()
pytestmark = pytest.mark.filterwarnings("default")


def dtypes_of(dtype):
    return [dtype.fields[name][0] for name in dtype.names] if dtype.names else [dtype]


def is_for_gsort(name, arrays, words):
    """False for what only NumPy has: some dtypes, axes of sets, and heap sort, which its other sorts are compared with."""
    own = {"stable", "assume_unique", "return_indices", "equal_nan", "sorted"}
    if name not in ("sort", "argsort"):
        own.add("axis")
    is_known = all(type(array) is numpy.ndarray and all(
        dtype.kind in "biufmMSU" and dtype.char != "g" for dtype in dtypes_of(array.dtype)) for array in arrays)
    return is_known and not own & words.keys() and words.get("kind", "q") in ("q", "quick", "m", "stable", "mergesort")


def sorted_with_nans(function, array, words):
    if array.ndim != 1 or array.dtype.kind != "f" or not array.size:
        return function(array, **words)
    result = function(numpy.concatenate([array, NANS.astype(array.dtype)]), **words)
    added = result[-2:]
    assert numpy.isnan(added).all() if added.dtype.kind == "f" else added.tolist() == [array.size, array.size + 1]
    return result[:-2]


def distinct_with_nans(array, words):
    has_nan = numpy.isnan(array).any()
    found = gsort.unique(numpy.concatenate([array.ravel(), NANS.astype(array.dtype)]), **words)
    results = list(found) if isinstance(found, tuple) else [found]
    assert numpy.isnan(results[0][-1]) and not numpy.isnan(results[0][:-1]).any()
    for i, wanted in enumerate([True, *(words.get(f"return_{what}") for what in ("index", "inverse", "counts"))]):
        at = sum(bool(words.get(f"return_{what}")) for what in ("index", "inverse", "counts")[:i - 1]) + 1 if i else 0
        if not wanted:
            continue
        if i == 2:
            results[at] = results[at][:-2].reshape(array.shape)
        elif not has_nan:
            results[at] = results[at][:-1]
        elif i == 3:
            results[at][-1] -= 2
    return tuple(results) if isinstance(found, tuple) else results[0]


def by_gsort(name, owner, *arguments, **words):
    """Calls gsort for a function of NumPy, or for an array's method."""
    is_method = isinstance(owner, numpy.ndarray)
    original = getattr(owner, name)
    if not (is_method or owner is numpy):
        return original(*arguments, **words)
    values = ([owner] if is_method else []) + list(arguments)
    count = 2 if name in ("intersect1d", "setdiff1d") else 1
    flags = dict(zip(("return_index", "return_inverse", "return_counts"), values[count:])) if name == "unique" else {}
    if len(values) > count + len(flags):
        return original(*arguments, **words)
    arrays = [value if isinstance(value, numpy.ndarray) else numpy.asarray(value) for value in values[:count]]
    if not is_for_gsort(name, arrays, {**flags, **words}):
        return original(*arguments, **words)
    calls[name] += 1
    words = {word: value for word, value in {**flags, **words}.items() if word != "kind"}
    if name in ("sort", "argsort"):
        result = sorted_with_nans(getattr(gsort, name), arrays[0], words)
        if name == "sort" and is_method:
            owner[...] = result
            return None
        return result
    if name == "unique":
        plain = arrays[0].dtype.kind != "f" or not arrays[0].size
        return gsort.unique(arrays[0], **words) if plain else distinct_with_nans(arrays[0], words)
    first, second = arrays
    if first.dtype.kind == "f" == second.dtype.kind and not numpy.isnan(first).any() and not numpy.isnan(second).any():
        result = getattr(gsort, name)(numpy.concatenate([first.ravel(), NANS.astype(first.dtype)]), second)
        return result[:-1] if name == "setdiff1d" else result
    return getattr(gsort, name)(first, second)


class Replacement(ast.NodeTransformer):
    def visit_Call(self, call):
        self.generic_visit(call)
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in NAMES:
            return call
        words = [ast.Constant(call.func.attr), call.func.value, *call.args]
        return ast.Call(ast.Name("by_gsort", ast.Load()), words, call.keywords)


@functools.lru_cache
def namespace_of(name):
    """The namespace of one of NumPy's test modules."""
    try:
        spec = importlib.util.find_spec(f"numpy.{name}")
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        return {}
    tree = Replacement().visit(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    space = {"__name__": f"numpy.{name}", "__file__": spec.origin, "by_gsort": by_gsort}
    exec(compile(ast.fix_missing_locations(tree), spec.origin, "exec"), space)
    space.update({one: functools.partial(by_gsort, one, numpy) for one in NAMES & space.keys()})
    return space


def names_of_tests():
    """The names of NumPy's tests that may call the functions."""
    for module, group, words in (("_core.tests.test_multiarray", "TestMethods", ("sort",)),
                                 ("_core.tests.test_multiarray", None, ("sort",)),
                                 ("lib.tests.test_arraysetops", "TestSetOps", ("intersect", "setdiff", "manyways")),
                                 ("lib.tests.test_arraysetops", "TestUnique", ("unique",))):
        space = namespace_of(module)
        for name in vars(space[group]) if group in space else space if group is None else ():
            if name.startswith("test_") and any(word in name for word in words):
                yield module, group, name


def runs_of(function):
    """The arguments of all runs of a pytest test; none if it is skipped here."""
    choices = [[{}]]
    for mark in getattr(function, "pytestmark", ()):
        if mark.name == "skipif" and any(condition is True for condition in mark.args):
            return []
        if mark.name != "parametrize":
            continue
        names, values = mark.args[:2]
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
        values = [getattr(value, "values", value) if not isinstance(value, numpy.ndarray) and hasattr(value, "marks")
                  else (value,) if len(names) == 1 else value for value in values]
        choices.append([dict(zip(names, value)) for value in values])
    return [functools.reduce(lambda all_of, some: {**all_of, **some}, choice, {}) for choice in itertools.product(*choices)]


def run(module, group, name, step):
    space = namespace_of(module)
    function = getattr(space[group](), name) if group else space[name]
    runs = runs_of(function)
    for words in runs[::step] if len(runs) > 100 else runs:
        function(**words)


@pytest.mark.parametrize("test", [*names_of_tests()], ids=lambda test: test[2])
def test_of_numpy(test):
    numpy.random.seed(1)
    run(*test, SHORT)


@pytest.mark.large
@pytest.mark.parametrize("test", [*names_of_tests()], ids=lambda test: test[2])
def test_of_numpy_in_all_sizes(test):
    numpy.random.seed(1)
    run(*test, 1)


@pytest.mark.skipif(not namespace_of("_core.tests.test_multiarray"), reason="NumPy is older than 2.0, or was installed without its tests")
def test_gsort_is_called():
    before = Counter(calls)
    for test in names_of_tests():
        if test[2] in ("test_sort_float", "test_argsort_float", "test_unique_1d", "test_intersect1d", "test_setdiff1d"):
            run(*test, 64)
    assert not NAMES - (calls - before).keys(), calls - before
