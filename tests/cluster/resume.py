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
from collections.abc import Callable, Iterable, Sequence

from bed import Bed, is_program, keys
from kills import MARK, slowly

COUNT = 6_000_000  # u64: several runs of each process
SMALL = ["-S", "40M", "--parallel=1"]
MOST_OF_RUN = 1_000_000  # elements, with these
PAGE = 4096
OLD = b"the old output"
PROCESS, LAUNCHER = "a process", "mpirun"
ENDS_WITHIN = 60  # s


def runs_in(manifest: bytes) -> list[tuple[int, int]]:
    """Elements and end in the file of runs of each run, by the format of io/runs/manifest.hpp."""
    job, inputs, runs = struct.unpack_from("<3I", manifest, 44)
    at = 64 + job
    for _ in range(inputs):
        at += 20 + struct.unpack_from("<I", manifest, at + 16)[0]
    fields = [struct.unpack_from("<8xQ16x2Q", manifest, at + 64 * run) for run in range(runs)]
    return [(elements, index + 32 * blocks) for elements, index, blocks in fields]


class Resumed:
    """Sorts of one input that keep runs: in a folder that all processes see, or in one for each host, by rank."""

    def __init__(self, bed: Bed, is_shared: bool):
        self.bed, self.is_shared = bed, is_shared
        self.folder = bed.folder / "kept"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    def command(self, hosts: Sequence[int], *words: str) -> list[str]:
        """A process on each of these hosts, in this order."""
        bed, where = self.bed, self.folder / "runs" if self.is_shared else "runs"  # all have the command of rank 0
        script = (f'h="{self.folder}/host-$(echo {" ".join(map(str, hosts))} | cut -d " " -f $((1 + '
                  '${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}})))"; mkdir -p "$h" && cd "$h" && exec "$@"')
        return [bed.mpirun, "-n", str(len(hosts)), "sh", "-c", script, "sh",
                *slowly(str(bed.gsort_mpi), bed.gsort_mpi.parents[1] / "tests/libslow_end.so", 8 * COUNT, self.folder / MARK),
                *SMALL, f"--resume={where}", *words, str(bed.folder / "large.u64"), "-o", str(bed.folder / "out")]

    def folders(self, hosts: Iterable[int]) -> list[tuple[int, list[tuple[int, int]]]]:
        """Returns for each folder that these hosts see: the bytes of its file of runs, and the complete runs."""
        found = []
        for place in ["runs"] if self.is_shared else [f"host-{host}/runs" for host in hosts]:
            for folder in self.folder.glob(f"{place}/gsort-*/"):
                with contextlib.suppress(FileNotFoundError):  # they come one after the other
                    runs = runs_in((folder / "gsort.manifest").read_bytes())
                    found.append(((folder / "gsort.runs").stat().st_size, runs))
        return found

    def kept(self, hosts: Iterable[int]) -> int:
        """Elements in runs that these hosts see."""
        return sum(elements for _, runs in self.folders(hosts) for elements, _ in runs)

    def require_few_lost(self, hosts: Iterable[int]) -> None:
        """Behind its complete runs, each host has at most one, which is formed again."""
        for size, runs in self.folders(hosts):
            begin = -(-max((end for _, end in runs), default=0) // PAGE) * PAGE
            if size - begin > 8 * MOST_OF_RUN:
                self.bed.fail(f"{size - begin:,} bytes behind {len(runs)} complete runs, which are more than one run")

    def written(self) -> int:
        return sum(path.stat().st_blocks * 512 for path in self.bed.folder.glob(".gsort-*"))

    def programs(self) -> list[int]:
        pattern = f"{self.bed.gsort_mpi} -S.*{self.bed.folder}"
        found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True, check=False)
        return [int(process) for process in found.stdout.split() if is_program(int(process))]

    def kill_when(self, hosts: Sequence[int], has_begun: Callable[[], bool], rng: random.Random, victim: str = PROCESS) -> bool:
        """Whether the victim could be killed before the end."""
        (self.bed.folder / "out").write_bytes(OLD)
        for left in (self.folder / MARK, *self.bed.folder.glob(".gsort-*")):
            left.unlink(missing_ok=True)
        running = subprocess.Popen(self.command(hosts), cwd=self.bed.folder, env=self.bed.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not has_begun():
            if running.poll() is not None:
                return False
            time.sleep(0.001)
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(running.pid if victim == LAUNCHER else rng.choice(self.programs()), signal.SIGKILL)
        status = self.bed.status_of(running)
        end = time.monotonic() + ENDS_WITHIN
        while any(is_program(int(process)) for process in self.bed.processes()):
            if time.monotonic() > end:
                self.bed.fail(f"{victim} was killed, and processes go on for {ENDS_WITHIN} s")
                return False
            time.sleep(0.01)
        return status is not None and status != 0 and (self.bed.folder / "out").read_bytes() == OLD


def resume(bed: Bed) -> None:
    """In each phase, a process of three is killed. Then two go on, or four, on hosts in another order. Or mpirun is killed, and
    the same command goes on, or two or four processes."""
    rng = random.Random(16)
    bed.write("large.u64", keys("random", "Q", COUNT, rng))
    bed.run([str(bed.gsort), "large.u64", "-o", "expected"]).check_returncode()
    wanted = (bed.folder / "expected").read_bytes()
    phases: dict[str, Callable[[Resumed, Sequence[int]], bool]] = {
        "starting": lambda sort, hosts: len(sort.programs()) == len(hosts),
        "forming": lambda sort, hosts: sort.kept(hosts) > COUNT // 8,
        "cutting": lambda sort, hosts: sort.kept(hosts) == COUNT,
        "exchanging": lambda sort, _: sort.written() > 8 * COUNT // 50,
        "writing": lambda sort, _: sort.written() > 8 * COUNT // 2,
        "proving": lambda sort, _: (sort.folder / MARK).exists()}
    for number, (phase, has_begun) in bed.some(tuple(enumerate(phases.items())), 1):
        before, others = (0, 1, 2), ((2, 0), (3, 1, 0, 2))
        alone = [((1,), True, PROCESS)] if number == 1 else []
        for after, is_shared, victim in ((others[0], number % 2 == 0, PROCESS), (others[1], number % 2 == 1, PROCESS), *alone,
                                         ((before, *others)[number % 3], number % 4 < 2, LAUNCHER)):
            what = f"{victim} of hosts {before} killed {phase}, then {after}, {'one folder' if is_shared else 'a folder each'}"
            for _ in range(10):
                sort = Resumed(bed, is_shared)  # a kill that came too late may leave some of the runs
                if sort.kill_when(before, lambda: has_begun(sort, before), rng, victim):
                    break
            else:
                bed.fail(f"{what}: the sort ends before it is killed")
                continue
            kept = sort.kept(after)
            sort.require_few_lost(before)
            done = bed.run(sort.command(after, "-v", f"--stats={bed.folder / 'stats'}"))
            bed.sorts += 1
            if done.returncode != 0 or (bed.folder / "out").read_bytes() != wanted:
                bed.fail(f"{what}: not the output of gsort", done)
                continue
            ranks = json.loads((bed.folder / "stats").read_text())["ranks"]
            resumed = sum(rank["resumed_elements"] for rank in ranks)
            read = sum(rank["elements_read"] for rank in ranks)
            if (resumed, read) != (kept, COUNT - kept) or (kept > 0 and f"of {kept:,} elements" not in done.stderr):
                bed.fail(f"{what}: {kept:,} elements were there, {resumed:,} used, {read:,} read", done)
            all_kept = COUNT if is_shared or {*before} <= {*after} else COUNT * 2 // 3
            if phase not in ("starting", "forming") and kept != all_kept:
                bed.fail(f"{what}: only {kept:,} elements were there")
            left = sorted(str(path.relative_to(sort.folder)) for path in sort.folder.rglob("runs"))
            if left != ([] if is_shared else [f"host-{host}/runs" for host in sorted({*before} - {*after})]) or bed.left_names():
                bed.fail(f"{what}: left are {left} and {bed.left_names()}")
    refuse_another_sort(bed, rng)


def refuse_another_sort(bed: Bed, rng: random.Random) -> None:
    sort = Resumed(bed, True)
    if not any(sort.kill_when((0, 1), lambda: sort.kept((0, 1)) > 0, rng) for _ in range(5)):
        return bed.fail("the sort ends before it is killed")
    kept = sort.kept((0, 1))
    for words, reason in ((["-r"], "the saved sort differs"), (["-T", "."], "cannot be combined"),
                          (["-c"], "cannot be combined")):
        done = bed.run(sort.command((0, 1, 2), *words))
        if done.returncode == 0 or reason not in done.stderr or sort.kept((0, 1)) != kept:
            bed.fail(f"--resume with {words}", done)
    os.utime(bed.folder / "large.u64")
    done = bed.run(sort.command((0, 1, 2)))
    if done.returncode == 0 or "has changed since" not in done.stderr or sort.kept((0, 1)) != kept:
        bed.fail("--resume of another input", done)
    for folder in (sort.folder / "runs").glob("gsort-*"):  # as the message says
        if folder.is_dir():
            shutil.rmtree(folder)
    done = bed.run(sort.command((0, 1, 2)))
    if done.returncode != 0 or (sort.folder / "runs").exists() or bed.left_names():
        bed.fail(f"--resume after the removal of all runs: left are {bed.left_names()}", done)
    return None
