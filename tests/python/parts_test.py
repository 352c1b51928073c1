"""Sorts by several processes: gsort.parts. What Ray does is tried where Ray is installed."""

import os
import signal
import subprocess
import threading

import numpy
import pytest

from gsort import parts
from support import random_array


@pytest.fixture
def job(tmp_path, gsort_program):
    """The arguments of a sort of a file, and the array that it gives."""
    array = random_array("u8", 1_000_000)
    array.tofile(tmp_path / "in.u64")
    names = [str(tmp_path / "in.u64")], str(tmp_path / "out.u64"), str(tmp_path / "runs")
    return names, {"options": ["-r"], "gsort": gsort_program, "memory": "64M"}, numpy.sort(array)[::-1]


def test_the_commands_sort(job):
    names, more, wanted = job
    form, take, join = parts.commands(*names, 3, 4, **more)
    os.mkdir(names[2])
    for command in [*form, *take, join]:
        subprocess.run(command, check=True)
    assert numpy.array_equal(numpy.fromfile(names[1], "u8"), wanted)


def kill_a_worker(stop, killed):
    while not stop.wait(0.005):
        for line in subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout.splitlines():
            pid, name = line.split(None, 1)
            if name.startswith("ray::") and "run_gsort" in name:
                os.kill(int(pid), signal.SIGKILL)
                killed.append(pid)
                return


def test_ray_repeats_what_was_killed(job):
    ray = pytest.importorskip("ray")
    names, more, wanted = job
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    stop, killed = threading.Event(), []
    killer = threading.Thread(target=kill_a_worker, args=[stop, killed])
    killer.start()
    try:
        parts.sort_on_ray(*names, 3, 4, **more)
    finally:
        stop.set()
        killer.join()
        ray.shutdown()
    assert killed
    assert numpy.array_equal(numpy.fromfile(names[1], "u8"), wanted)
    assert not os.path.exists(names[2])


def test_an_error_is_that_of_gsort(job):
    ray = pytest.importorskip("ray")
    names, more, _ = job
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        with pytest.raises(RuntimeError, match="no-such-file: No such file"):
            parts.sort_on_ray(["no-such-file"], *names[1:], 2, 2, **more, retries=0)
    finally:
        ray.shutdown()
    assert not os.path.exists(names[1])
