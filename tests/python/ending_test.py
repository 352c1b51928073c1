"""Tests of the package while the interpreter ends."""

import pytest
from support import run_python


def test_threads_that_work():
    done = run_python("""
        import threading, time
        import gsort, numpy
        array = numpy.arange(3_000_000)
        def work():
            while True:
                gsort.check(array)
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.5)
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_progress():
    done = run_python("""
        import threading, time
        import gsort, numpy
        array = numpy.arange(3_000_000)[::-1].copy()
        is_called = threading.Event()
        def watch(*status):
            is_called.set()
            while True:
                time.sleep(0)
        threading.Thread(target=gsort.sort, args=(array,), kwargs={"progress": watch}, daemon=True).start()
        is_called.wait()
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("status, text", [
    (1, "gsort.merge([array], '/nonexistent/out.npy')"),
    (0, "try: gsort.merge([array], '/nonexistent/out.npy')\nexcept gsort.Error as error: kept = error"),
])
def test_objects_that_are_left(status, text):
    """The traceback holds the call, which holds the array."""
    done = run_python(f"import gsort, numpy\narray = numpy.arange(9)\n{text}", timeout=60)
    assert done.returncode == status, done.stderr


@pytest.mark.parametrize("call", ["gsort.sort(array, path)", "gsort.merge([array, array], path)",
                                  "gsort.argsort(array, path, progress=lambda *status: None)", "gsort.check([array])"])
def test_calls_of_destructors(call, tmp_path):
    """The interpreter collects the cycle after it has begun to end; its lock is released and taken again."""
    done = run_python(f"""
        import gsort, numpy, sys
        array, path = numpy.arange(600_000), sys.argv[1]
        class Cycle:
            def __del__(self):
                {call}
                print("done", flush=True)
        cycle = Cycle()
        cycle.itself = cycle
        del cycle
        """, tmp_path / "out.npy", timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
