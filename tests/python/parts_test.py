"""Sorts by several processes: gsort.parts, by itself and on Ray, which tools/setup installs."""

import os
import secrets
import subprocess
import sys
import tempfile

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


@pytest.fixture(scope="module")
def cluster():
    """Ray on this machine."""
    ray = pytest.importorskip("ray", reason="Ray is not in build/python (tools/setup)")
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_TOKEN": secrets.token_hex()}
    # In /tmp: the names of Ray's sockets must be short.
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as folder:
        ray.init(num_cpus=2, object_store_memory=80 << 20, include_dashboard=False, log_to_driver=False,
                 _temp_dir=folder)
        yield
        ray.shutdown()


KILLS_ITS_WORKER_ONCE = """#!/bin/sh
for step in form take join; do
  case $* in *--$step=*) mkdir '{folder}'/$step && kill -KILL $PPID ;; esac
done
exec '{gsort}' "$@"
"""


@pytest.mark.usefixtures("cluster")
def test_ray_repeats_what_was_killed(job, tmp_path):
    names, more, wanted = job
    program = tmp_path / "gsort"
    program.write_text(KILLS_ITS_WORKER_ONCE.format(folder=tmp_path, gsort=more["gsort"]))
    program.chmod(0o755)
    parts.sort_on_ray(*names, 3, 4, **{**more, "gsort": str(program)})
    for step in "form", "take", "join":
        assert (tmp_path / step).is_dir()
    assert numpy.array_equal(numpy.fromfile(names[1], "u8"), wanted)
    assert not os.path.exists(names[2])


@pytest.mark.usefixtures("cluster")
def test_a_worker_that_is_always_lost_is_an_error(job, tmp_path, monkeypatch, capsys):
    names = job[0]
    program = tmp_path / "gsort"
    program.write_text("#!/bin/sh\nkill -KILL $PPID\n")
    program.chmod(0o755)
    words = ["--gsort", str(program), "--runs", names[2], "-o", names[1], "--shares=1", "--parts=1", *names[0]]
    monkeypatch.setattr(sys, "argv", ["gsort.parts", *words])
    assert parts.main() == 2
    assert capsys.readouterr().err.startswith("gsort.parts: The worker died")
    assert not os.path.exists(names[1])


@pytest.mark.usefixtures("cluster")
def test_an_error_is_that_of_gsort(job):
    names, more, _ = job
    with pytest.raises(RuntimeError, match="no-such-file: No such file"):
        parts.sort_on_ray(["no-such-file"], *names[1:], 2, 2, **more, retries=0)
    assert not os.path.exists(names[1])
