"""The package in a process: threads, limits, Ctrl-C, progress, notebooks."""

import concurrent.futures
import contextlib
import ctypes
import errno
import multiprocessing
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy
import pytest
from support import assert_same, random_array, run_python

import gsort


def test_several_threads_at_once():
    arrays = [random_array("u8", 200_000 + number, number) for number in range(6)]
    results = {}

    def work(number):
        results[number] = gsort.sort(arrays[number], memory="32M", threads=2), gsort.argsort(arrays[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, array in enumerate(arrays):
        assert_same(results[number][0], numpy.sort(array))
        assert (results[number][1] == numpy.argsort(array, kind="stable")).all()


def use_all_functions(number, folder):
    array = random_array("u4", 60_000 + number, number) % 1_000
    expected = numpy.sort(array)
    path = folder / f"{number}.u32"
    assert_same(numpy.array(gsort.sort(array, path, memory="16M", threads=2).memmap()), expected)
    assert_same(gsort.merge([path, expected]), numpy.repeat(expected, 2))
    assert (gsort.argsort(array) == numpy.argsort(array, kind="stable")).all()
    keys, counts = gsort.unique(path, counts=True)
    assert (numpy.repeat(keys, counts) == expected).all()
    assert_same(gsort.intersect1d(path, array[:5]), numpy.unique(array[:5]))
    assert_same(gsort.setdiff1d(path, array[5:]), numpy.setdiff1d(array, array[5:]))
    assert gsort.check(path).fingerprint == gsort.check(expected).fingerprint
    with pytest.raises(FileNotFoundError) as caught:
        gsort.sort(folder / f"none-{number}.u32")
    assert caught.value.path == str(folder / f"none-{number}.u32")


def test_threads_get_their_own_results_and_errors(tmp_path):
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(use_all_functions, number, tmp_path) for number in range(18)]:
            done.result()


def test_results_and_errors_of_another_process(tmp_path):
    array = random_array("u8", 50_000)
    array.tofile(tmp_path / "in.u64")
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        summary = pool.submit(gsort.sort, tmp_path / "in.u64", tmp_path / "out.u64").result()
        checked = pool.submit(gsort.check, tmp_path / "in.u64").result()
        error = pool.submit(gsort.sort, tmp_path / "none.u64").exception()
    assert_same(numpy.array(summary.memmap()), numpy.sort(array))
    assert checked == gsort.check(array) and not checked
    assert isinstance(error, gsort.Error) and isinstance(error, FileNotFoundError)
    assert (error.hint, error.errno, error.path) == ("check the path", errno.ENOENT, str(tmp_path / "none.u64"))


def caught_signals():
    return re.search(r"^SigCgt:\s*(\w+)$", pathlib.Path("/proc/self/status").read_text(), re.M)[1]


def test_handlers_of_signals_stay_as_they_are(tmp_path):
    changes = []
    done = threading.Event()

    def watch():
        before = caught_signals()
        while not done.is_set():
            if caught_signals() != before:
                changes.append(caught_signals())

    thread = threading.Thread(target=watch)
    thread.start()
    for _ in range(200):
        gsort.sort(random_array("u4", 1000), tmp_path / "out.u32")
    done.set()
    thread.join()
    assert not changes


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have other numbers of rounding modes")
def test_the_rounding_mode_does_not_change_numbers_in_text(tmp_path):
    upward, nearest = 0x800, 0
    library = ctypes.CDLL("libm.so.6")
    (tmp_path / "in.txt").write_text("0.3\n")
    library.fesetround(upward)
    try:
        gsort.sort(tmp_path / "in.txt", tmp_path / "out.f64", dtype="f8")
        mode = library.fegetround()
    finally:
        library.fesetround(nearest)
    assert mode == upward
    assert numpy.fromfile(tmp_path / "out.f64").tolist() == [0.3]


def test_the_lock_is_not_held(tmp_path):
    """Another thread of Python writes what a sort in this one waits for."""
    os.mkfifo(tmp_path / "pipe.u32")
    array = random_array("u4", 50_000)
    writer = threading.Thread(target=lambda: (tmp_path / "pipe.u32").write_bytes(array.tobytes()), daemon=True)
    writer.start()
    assert_same(gsort.sort(tmp_path / "pipe.u32", tmp_path / "out.u32").memmap(), numpy.sort(array))
    writer.join()


def sparse_file(path, gigabytes):
    """Zeros, but for a few keys, so that it takes no room on the disk."""
    mapped = numpy.memmap(path, "u8", "w+", shape=int(gigabytes * (1 << 27)))
    mapped[::1 << 20] = random_array("u8", len(mapped[::1 << 20]))
    mapped.flush()


SORT_WITHIN = """
    import resource, sys
    import numpy, gsort
    source, folder, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
    mapped = numpy.memmap(source, "u8", mode="r")
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + limit, used + limit))
    summary = gsort.sort(mapped, folder + "/out.u64", memory=limit // 8, threads=2, temporary=folder)
    assert summary.elements == mapped.size and summary.spilled_bytes > 0, summary
    assert gsort.check(folder + "/out.u64", threads=2).fingerprint == summary.fingerprint
"""


def require_sort_within(tmp_path, gigabytes, limit):
    if subprocess.run(["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True).stdout == "tmpfs\n":
        pytest.skip("files lie in memory here, which would count")
    sparse_file(tmp_path / "in", gigabytes)
    # Each thread's heap would reserve 64 MiB of addresses.
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    done = run_python(SORT_WITHIN, tmp_path / "in", tmp_path, limit, env=environment, timeout=3000)
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["in", "out.u64"]


def test_a_memmap_larger_than_the_limit_of_memory(tmp_path):
    require_sort_within(tmp_path, 1 / 4, 160 << 20)


@pytest.mark.large
def test_a_memmap_of_4_gib(tmp_path):
    require_sort_within(tmp_path, 4, 512 << 20)


WITHIN = """
    import resource, sys
    import numpy, gsort
    path, folder = sys.argv[1:3]
    mapped, few = numpy.memmap(path, "u8", mode="r"), numpy.arange(0, 1 << 20, 2, dtype="u8")
    with open("/proc/self/status") as file:
        used, = (int(line.split()[1]) << 10 for line in file if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (used + (100 << 20), used + (100 << 20)))
    options = {"memory": "16M", "threads": 1, "temporary": folder}
"""


def require_within_memory(tmp_path, text):
    """Runs with 256 MiB, and 100 MiB of the process's own memory."""
    sparse_file(tmp_path / "in.u64", 1 / 4)
    done = run_python(textwrap.dedent(WITHIN) + textwrap.dedent(text), tmp_path / "in.u64", tmp_path,
                      env={**os.environ, "MALLOC_ARENA_MAX": "1"}, timeout=600)
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["in.u64"]


def test_results_that_are_shorter_than_their_bound(tmp_path):
    require_within_memory(tmp_path, """
    distinct = gsort.unique(path, **options)
    assert numpy.array_equal(distinct, numpy.union1d(mapped[::1 << 20], numpy.zeros(1, "u8")))
    keys, counts = gsort.unique(mapped, counts=True, **options)
    assert (keys == distinct).all() and counts.sum() == mapped.size
    assert (gsort.sort(path, top=5, **options) == 0).all()
    """)


def test_results_that_no_memory_holds(tmp_path):
    require_within_memory(tmp_path, """
    for call in (lambda: gsort.sort(path, **options), lambda: gsort.argsort(mapped, **options),
                 lambda: gsort.sort(mapped, **options), lambda: gsort.merge([mapped], **options)):
        try:
            call()
        except gsort.ResourceError as error:
            assert isinstance(error, MemoryError) and error.hint == "give a path or a memmap as output", error
        else:
            raise AssertionError("is there so much memory?")
    for call in lambda: gsort.check(mapped[::2]), lambda: gsort.argsort(mapped[::2], **options):
        try:
            call()
        except gsort.ResourceError as error:
            assert error.hint.startswith("give an array that is contiguous"), error
        else:
            raise AssertionError("is there so much memory?")
    """)


def test_sets_of_memmaps_beyond_memory(tmp_path):
    require_within_memory(tmp_path, """
    assert gsort.intersect1d(mapped, few, **options).tolist() == [0]
    assert gsort.setdiff1d(few, mapped, **options).tolist() == few[1:].tolist()
    assert len(gsort.setdiff1d(mapped, path, **options)) == 0
    """)


def test_sets_of_texts_beyond_memory(tmp_path):
    require_within_memory(tmp_path, """
    import os
    sides = []
    for width in 48, 64:  # 120 and 160 MiB
        side = numpy.memmap(f"{folder}/{width}", f"S{width}", "w+", shape=5 << 19)
        for begin in range(0, side.size, 1 << 18):
            text = side[begin:begin + (1 << 18)].view("u1").reshape(-1, width)
            text[:] = ord("x")
            text[:, :4] = numpy.arange(begin, begin + (1 << 18)).astype(">u4").view("u1").reshape(-1, 4)
            text[:, 48:] = 0
        side.flush()
        sides.append(side)
    output = f"{folder}/out.npy"
    assert gsort.intersect1d(*sides, output, **options).elements == sides[0].size
    sides[1] = sides[1][:1000]
    assert gsort.setdiff1d(*sides, output, **options).elements == sides[0].size - 1000
    try:
        gsort.setdiff1d(*sides, **options)
    except gsort.ResourceError as error:
        assert error.hint == "give a path or a memmap as output", error
    else:
        raise AssertionError("is there so much memory?")
    for name in "48", "64", "out.npy":
        os.remove(f"{folder}/{name}")
    """)


class SlowPipe:
    """A pipe whose second half comes when somebody has seen that the sort waits for it."""

    def __init__(self, folder):
        self.path = folder / "pipe.u64"
        self.seen = threading.Event()
        os.mkfifo(self.path)

    def __enter__(self):
        self.writer = threading.Thread(target=self.write)
        self.writer.start()
        return self

    def __exit__(self, *raised):
        self.seen.set()
        os.close(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK))  # a sort that failed has not opened it
        self.writer.join()
        self.path.unlink()

    def write(self):
        half = random_array("u8", 100_000).tobytes()
        try:
            with open(self.path, "wb", buffering=0) as pipe:
                pipe.write(half)
                self.seen.wait(60)
                pipe.write(half)
        except BrokenPipeError:  # the sort has ended
            pass


def test_a_callback_sees_progress(tmp_path):
    progresses = []
    with SlowPipe(tmp_path) as pipe:
        def look(progress):
            progresses.append(progress)
            pipe.seen.set()

        summary = gsort.sort(pipe.path, tmp_path / "out.u64", memory="64M", progress=look)
    assert summary.elements == 200_000
    assert progresses and {progress.phase for progress in progresses} <= {"read", "merge", "write", "sync"}
    assert progresses[-1].seconds == max(progress.seconds for progress in progresses)
    assert all(progress.text and progress.seconds > 0 and progress.bytes >= 0 for progress in progresses)


def test_a_callback_is_called_at_the_end():
    progresses = []
    gsort.sort(numpy.arange(10), progress=progresses.append)
    gsort.argsort(numpy.arange(10), progress=progresses.append)
    gsort.check(numpy.arange(10), progress=progresses.append)
    assert len(progresses) >= 3 and all(isinstance(progress, gsort.Progress) for progress in progresses)


def test_a_callback_may_end_the_sort(tmp_path):
    (tmp_path / "out.u64").write_bytes(b"the old one")
    with SlowPipe(tmp_path) as pipe:
        def end(progress):
            pipe.seen.set()
            raise LookupError(progress.phase)

        with pytest.raises(LookupError, match="read"):
            gsort.sort(pipe.path, tmp_path / "out.u64", memory="64M", temporary=tmp_path, progress=end)
    assert os.listdir(tmp_path) == ["out.u64"] and (tmp_path / "out.u64").read_bytes() == b"the old one"


@pytest.mark.parametrize("name", ["out.u64", "out.txt", "out.u64.gz", "new.npy"])
def test_a_callback_that_fails_at_the_end_leaves_no_output(tmp_path, name):
    """A short sort calls it only then."""
    if name.startswith("out"):
        (tmp_path / name).write_bytes(b"the old one")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    phases = []

    def end(progress):
        phases.append(progress.phase)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
        if progress.phase == "sync":
            raise LookupError

    with pytest.raises(LookupError):
        gsort.sort(numpy.arange(10, dtype="u8"), tmp_path / name, progress=end)
    assert phases[-1] == "sync" and phases.count("sync") == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert gsort.sort(numpy.arange(10, dtype="u8"), tmp_path / name, progress=phases.append).elements == 10


INTERRUPTED = """
    import os, signal, sys
    import gsort
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    gsort.sort(sys.argv[1], sys.argv[2], memory="16M", temporary=os.path.dirname(sys.argv[2]), progress=False)
"""


def open_for(process, path):
    """A pipe to a process, which may end before it opens it."""
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:  # no reader yet
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
    os.set_blocking(descriptor, True)
    return open(descriptor, "wb", buffering=0)


def test_ctrl_c_leaves_nothing(tmp_path):
    """The sort waits for a pipe that somebody goes on writing to; then the user loses patience."""
    os.mkfifo(tmp_path / "pipe.u64")
    os.mkdir(tmp_path / "results")
    (tmp_path / "results/out.u64").write_bytes(b"the old one")
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED.replace("\n    ", "\n"), tmp_path / "pipe.u64",
                                tmp_path / "results/out.u64"], stderr=subprocess.PIPE, text=True)
    keys = random_array("u8", 1 << 20).tobytes()
    with open_for(process, tmp_path / "pipe.u64") as pipe, pytest.raises(BrokenPipeError):
        for count in range(500):
            pipe.write(keys)
            if count == 3:
                process.send_signal(signal.SIGINT)
    stderr = process.communicate(timeout=60)[1]
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in stderr, stderr
    assert os.listdir(tmp_path / "results") == ["out.u64"]
    assert (tmp_path / "results/out.u64").read_bytes() == b"the old one"


WAITING = """
    import signal, sys, gsort
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("about to open", flush=True)
    gsort.sort(sys.argv[1], sys.argv[2])
"""


def wait_until_asleep(process):
    """Its only thread waits for something that does not come."""
    looks = 0
    while looks < 5:
        assert process.poll() is None
        state = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        looks = looks + 1 if state == "S" else 0
        time.sleep(0.05)


@pytest.mark.parametrize("name", ["pipe.u64", "pipe.npy"])
def test_ctrl_c_ends_the_opening_of_a_fifo(tmp_path, name):
    """No process has opened it for writing, or has written a header."""
    os.mkfifo(tmp_path / name)
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(WAITING), tmp_path / name, tmp_path / "out.u64"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "about to open\n"
    with contextlib.ExitStack() as stack:
        if name == "pipe.npy":
            stack.enter_context(open(tmp_path / name, "wb"))
        wait_until_asleep(process)
        process.send_signal(signal.SIGINT)
        stderr = process.communicate(timeout=60)[1]
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in stderr, stderr
    assert os.listdir(tmp_path) == [name]


def test_the_bar_is_gone_in_the_end(tmp_path, capsys):
    from gsort._progress import Bar, Progress
    bar = Bar()
    bar(Progress("read", 1, 10, 0.5, 1, None, "reading"))
    assert capsys.readouterr().err == ""
    bar(Progress("read", 5, 10, 1.5, 1, None, "reading: half"))
    bar.close()
    said = capsys.readouterr().err
    assert "##########          | reading: half" in said and said.endswith(" \r")
    gsort.sort(numpy.arange(10), progress=True)
    assert capsys.readouterr().err == ""


IN_A_TERMINAL = """
    import sys, gsort
    gsort.sort(sys.argv[1], sys.argv[2], memory="64M")
"""


def test_a_terminal_gets_a_bar_that_nobody_asked_for(tmp_path):
    """The sort waits for the second half of its input until the bar is there."""
    screen, terminal = os.openpty()
    with SlowPipe(tmp_path) as pipe:
        process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(IN_A_TERMINAL), pipe.path, tmp_path / "out.u64"],
                                   stderr=terminal)
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # no process has the terminal any more
            while more := os.read(screen, 1 << 12):
                shown += more
                if b"gsort |" in shown:
                    pipe.seen.set()
        os.close(screen)
        assert process.wait() == 0 and b"| reading" in shown and shown.endswith(b" \r"), shown
    assert (tmp_path / "out.u64").stat().st_size == 1_600_000


def test_a_notebook():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = ["import numpy, gsort", "numbers = numpy.random.default_rng(1).integers(0, 9, 10**5)",
             "assert (gsort.sort(numbers) == numpy.sort(numbers)).all()",
             "gsort._progress._QUIET_SECONDS = 0; result = gsort.sort([numbers, numbers])",  # as if it took long
             "result = gsort.sort(numbers, progress=False)",
             "gsort.check(gsort.sort(numbers), progress=False)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    bar, no_bar = ("".join(output["text"] for output in notebook.cells[cell].outputs) for cell in (3, 4))
    assert re.search(r"gsort \|[# ]{20}\| \w+", bar) and bar.endswith(" \r") and no_bar == ""
    assert "in_order=True" in notebook.cells[-1].outputs[-1]["data"]["text/plain"]
