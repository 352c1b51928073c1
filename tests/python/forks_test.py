"""Tests of the package in a forked process."""

import pytest
from support import run_python

FORKED = """
    import multiprocessing
    import numpy, gsort

    def is_right(seed):
        array = numpy.random.default_rng(seed).integers(0, 1 << 60, 1 << 20)
        result = gsort.sort(array, memory="5M")
        return bool((result == numpy.sort(array)).all() and (array[gsort.argsort(array)] == result).all())

    assert is_right(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert all(pool.map_async(is_right, range(4)).get(timeout=60))
"""


def test_processes_that_were_forked_after_a_sort():
    done = run_python(FORKED)
    assert done.returncode == 0, done.stderr


FORKED_DURING_A_SORT = """
    import multiprocessing, os, signal, sys, threading
    import numpy, gsort

    options = {} if sys.argv[1] == "default" else {"memory": "16M", "threads": 4}
    array = numpy.random.default_rng(0).integers(0, 1 << 60, 1 << 16)
    expected = numpy.sort(array)
    done = threading.Event()

    def is_right(number=0):
        signal.alarm(20)
        return bool((gsort.sort(array, **options) == expected).all())

    def sort_on():
        while not done.is_set():
            gsort.sort(array, **options)

    thread = threading.Thread(target=sort_on)
    thread.start()
    try:
        for number in range(60):
            child = os.fork()
            if child == 0:
                os._exit(0 if is_right() else 1)
            status = os.waitpid(child, 0)[1]
            assert status == 0, (number, status)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert all(pool.map_async(is_right, range(10)).get(timeout=20))
    finally:
        done.set()
        thread.join()
"""


@pytest.mark.parametrize("options", ["default", "planned"])
def test_processes_that_are_forked_during_a_sort(options):
    """The first of them during the first sort."""
    done = run_python(FORKED_DURING_A_SORT, options)
    assert done.returncode == 0, done.stderr
