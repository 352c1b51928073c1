"""Cases of sorts.py with --resume: a process is killed, and another number of processes goes on with the runs that are there."""

import contextlib
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from bed import Bed, keys

COUNT = 6_000_000  # u64: several runs of each process
SMALL = ["-S", "24M", "--parallel=1"]
OLD = b"the old output"


def elements_in(manifest: bytes) -> int:
    """Of all runs, by the format of io/runs/manifest.hpp."""
    job, inputs, runs = struct.unpack_from("<3I", manifest, 44)
    at = 64 + job
    for _ in range(inputs):
        at += 20 + struct.unpack_from("<I", manifest, at + 16)[0]
    return sum(struct.unpack_from("<Q", manifest, at + 64 * run + 8)[0] for run in range(runs))


class Resumed:
    """Sorts of one input that keep runs: in a folder that all processes see, or in one for each host, by rank."""

    def __init__(self, bed: Bed, is_shared: bool):
        self.bed, self.is_shared = bed, is_shared
        self.folder = bed.folder / "kept"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    def command(self, processes: int, *words: str) -> list[str]:
        bed, where = self.bed, self.folder / "runs" if self.is_shared else "runs"  # all have the command of rank 0
        script = f'h="{self.folder}/host-${{OMPI_COMM_WORLD_RANK:-${{PMI_RANK:-0}}}}"; mkdir -p "$h" && cd "$h" && exec "$@"'
        return [bed.mpirun, "-n", str(processes), "sh", "-c", script, "sh", str(bed.gsort_mpi), *SMALL, f"--resume={where}",
                *words, str(bed.folder / "large.u64"), "-o", str(bed.folder / "out")]

    def kept(self, hosts: int) -> int:
        """Elements in runs that so many hosts see."""
        folders = ["runs"] if self.is_shared else [f"host-{host}/runs" for host in range(hosts)]
        elements = 0
        for folder in folders:
            for manifest in self.folder.glob(f"{folder}/gsort-*/gsort.manifest"):
                with contextlib.suppress(FileNotFoundError):  # while it is replaced, at most
                    elements += elements_in(manifest.read_bytes())
        return elements

    def written(self) -> int:
        return sum(path.stat().st_blocks * 512 for path in self.bed.folder.glob(".gsort-*"))

    def kill_when(self, processes: int, has_begun: Callable[[], bool], rng: random.Random) -> bool:
        """Whether a process could be killed before the end."""
        (self.bed.folder / "out").write_bytes(OLD)
        running = subprocess.Popen(self.command(processes), cwd=self.bed.folder, env=self.bed.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not has_begun():
            if running.poll() is not None:
                return False
            time.sleep(0.001)
        pattern = f"{self.bed.gsort_mpi} -S.*{self.bed.folder}"
        found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True, check=False)
        ours = [int(process) for process in found.stdout.split() if is_program(int(process))]
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(rng.choice(ours), signal.SIGKILL)
        running.wait(60)
        while any(is_program(int(process)) for process in self.bed.processes()):
            time.sleep(0.01)
        return running.returncode != 0 and (self.bed.folder / "out").read_bytes() == OLD


def is_program(process: int) -> bool:
    """Not mpirun, nor a shell, which have its name among their words."""
    try:
        return Path(f"/proc/{process}/comm").read_text().strip() == "gsort-mpi"
    except OSError:
        return False


def resume(bed: Bed) -> None:
    rng = random.Random(16)
    bed.write("large.u64", keys("random", "Q", COUNT, rng))
    bed.run([str(bed.gsort), "large.u64", "-o", "expected"]).check_returncode()
    wanted = (bed.folder / "expected").read_bytes()
    phases: list[tuple[str, Callable[[Resumed, int], bool]]] = [
        ("forming", lambda sort, processes: sort.kept(processes) > COUNT // 8),
        ("exchanging", lambda sort, _: sort.written() > 8 * COUNT // 8)]
    for phase, has_begun in phases:
        for before, after, is_shared in ((3, 2, True), (2, 4, True), (4, 1, True), (3, 4, False), (4, 3, False)):
            what = f"{before} processes killed {phase}, then {after}, {'one folder' if is_shared else 'a folder each'}"
            sort = Resumed(bed, is_shared)
            if not any(sort.kill_when(before, lambda: has_begun(sort, before), rng) for _ in range(5)):
                bed.fail(f"{what}: the sort ends before it is killed")
                continue
            kept = sort.kept(after)
            done = bed.run(sort.command(after, "-v", f"--stats={bed.folder / 'stats'}"))
            bed.sorts += 1
            if done.returncode != 0 or (bed.folder / "out").read_bytes() != wanted:
                bed.fail(f"{what}: not the output of gsort", done)
                continue
            ranks = json.loads((bed.folder / "stats").read_text())["ranks"]
            resumed = sum(rank["resumed_elements"] for rank in ranks)
            read = sum(rank["elements_read"] for rank in ranks)
            if kept == 0 or (resumed, read) != (kept, COUNT - kept) or f"of {kept:,} elements" not in done.stderr:
                bed.fail(f"{what}: {kept:,} elements were there, {resumed:,} used, {read:,} read", done)
            if phase == "exchanging" and (is_shared or after >= before) and kept != COUNT:
                bed.fail(f"{what}: only {kept:,} elements were there")
            left = sorted(str(path.relative_to(sort.folder)) for path in sort.folder.rglob("runs"))
            if left != ([] if is_shared else [f"host-{host}/runs" for host in range(after, before)]) or bed.left_names():
                bed.fail(f"{what}: left are {left} and {bed.left_names()}")
    refuse_another_sort(bed, rng)


def refuse_another_sort(bed: Bed, rng: random.Random) -> None:
    sort = Resumed(bed, True)
    if not any(sort.kill_when(2, lambda: sort.kept(2) > 0, rng) for _ in range(5)):
        return bed.fail("the sort ends before it is killed")
    kept = sort.kept(2)
    for words, reason in ((["-r"], "the saved sort differs"), (["-T", "."], "cannot be combined"),
                          (["-c"], "cannot be combined")):
        done = bed.run(sort.command(3, *words))
        if done.returncode == 0 or reason not in done.stderr or sort.kept(2) != kept:
            bed.fail(f"--resume with {words}", done)
    os.utime(bed.folder / "large.u64")
    done = bed.run(sort.command(3))
    if done.returncode == 0 or "has changed since" not in done.stderr or sort.kept(2) != kept:
        bed.fail("--resume of another input", done)
    for folder in (sort.folder / "runs").glob("gsort-*"):  # as the message says
        if folder.is_dir():
            shutil.rmtree(folder)
    done = bed.run(sort.command(3))
    if done.returncode != 0 or (sort.folder / "runs").exists() or bed.left_names():
        bed.fail(f"--resume after the removal of all runs: left are {bed.left_names()}", done)
    return None
