"""Shared by the tests of gsort-mpi on this machine: keys, and a folder in which sorts run and are compared with gsort's."""

import json
import os
import random
import struct
import subprocess
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

from network import launcher_of

# Each process has a folder of its own for runs, as hosts have.
EACH = 'r=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}; mkdir -p "$FOLDERS/$r"; TMPDIR="$FOLDERS/$r" exec "$@"'


# Distributions. Of 2, 3 and 4 processes, each sends at most 1 - 1/P of its share of the input.
KINDS = ("random", "equal", "few", "sorted", "reversed", "by_rank", "saw", "organ_pipe", "skewed", "one_far", "almost_sorted",
         "greatest")


def keys(kind: str, code: str, count: int, rng: random.Random) -> bytes:
    """Keys of a distribution as raw bytes."""
    width = struct.calcsize(code)
    if kind == "random":
        return rng.randbytes(count * width)
    if kind == "equal":
        return rng.randbytes(width) * count
    draw = {"few": lambda place: rng.randrange(3), "saw": lambda place: place % 97,
            "organ_pipe": lambda place: min(place, count - place), "skewed": lambda place: int(count ** rng.random()),
            "one_far": lambda place: 1 << 30 if place == count // 2 else place % 5,
            "almost_sorted": lambda place: place + rng.randrange(20), "greatest": lambda place: 2**31 - 1 - place % 2}
    number = draw.get(kind, lambda place: rng.randrange(count + 1))
    numbers = [number(place) for place in range(count)]
    if kind in ("sorted", "reversed", "by_rank"):
        numbers.sort(reverse=kind == "reversed")
    if kind == "by_rank":  # every process has the same stretch of every range
        numbers = [n for start in range(4) for n in numbers[start::4]]
    return struct.pack(f"<{count}{code}", *numbers)


def sends(content: bytes, ranks: list[dict], lengths: list[int]) -> list[list[int]]:
    """How many keys each process sends if it writes share 0 of the output, 1, ...: those of its share of the input that lie in
    others. Equal keys keep their order. `ranks`: as in a report. `lengths`: of the shares."""
    numbers = struct.unpack(f"<{len(content) // 8}Q", content)
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    shares = [order[end - length:end] for length, end in zip(lengths, accumulate(lengths))]
    read = [range(end - rank["elements_read"], end)
            for rank, end in zip(ranks, accumulate(rank["elements_read"] for rank in ranks))]
    return [[len(own) - sum(place in own for place in share) for share in shares] for own in read]


def sends_again(content: bytes, ranks: list[dict]) -> list[int]:
    """The same of -u, when each process has merged a share: what it has kept of it, and others write."""
    numbers = sorted(struct.unpack(f"<{len(content) // 8}Q", content))
    share = len(numbers) // len(ranks)
    firsts = [0, *(place for place in range(1, len(numbers)) if numbers[place] != numbers[place - 1])]
    kept = [bisect_left(firsts, share * number) for number in range(len(ranks) + 1)]
    ends = {rank["share"]: end for rank, end in zip(by_share(ranks), accumulate(written(ranks)))}
    return [end - begin - max(0, min(end, ends[rank["share"]]) - max(begin, ends[rank["share"]] - rank["elements_written"]))
            for rank, begin, end in zip(ranks, kept, kept[1:])]


def by_share(ranks: list[dict]) -> list[dict]:
    return sorted(ranks, key=lambda rank: rank["share"])


def written(ranks: list[dict]) -> list[int]:
    return [rank["elements_written"] for rank in by_share(ranks)]


def sends_much(ranks: list[dict], element_bytes: int) -> bool:
    """Whether a process sends more of its share than it does of random keys."""
    most = 1 - 1 / len(ranks) + 0.01
    return any(rank["sent_bytes"] > most * rank["elements_read"] * element_bytes for rank in ranks)


def npy(descr: str, count: int | str, content: bytes) -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + content


class Bed:
    """A folder, the programs, and ways to call them."""

    def __init__(self, programs: Path, seed: int | None = None):
        self.chance = None if seed is None else random.Random(seed)
        self.gsort, self.gsort_mpi = programs / "gsort", programs / "gsort-mpi"
        self.mpirun = launcher_of(self.gsort_mpi)
        self.folder = Path(tempfile.mkdtemp(prefix="gsort-cluster-"))
        self.environment = os.environ | {
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "FOLDERS": str(self.folder / "hosts")}
        for name in ("GSORT_OPTIONS", "GSORT_TYPE"):
            self.environment.pop(name, None)
        self.failures = 0
        self.sorts = 0

    def some(self, values: Sequence, count: int) -> list:
        """Picks a number of them by the seed; all if there is no seed."""
        return list(values) if self.chance is None else self.chance.sample(values, count)

    def mpi(self, processes: int, *words: str) -> list[str]:
        return [self.mpirun, "-n", str(processes), "sh", "-c", EACH, "sh", str(self.gsort_mpi), *words]

    def run(self, command: list[str]) -> subprocess.CompletedProcess:
        return subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              timeout=120, check=False)

    def fail(self, what: str, done: subprocess.CompletedProcess | None = None) -> None:
        self.failures += 1
        print(f"FAILED: {what}", *([f"status {done.returncode}", done.stderr] if done else []), sep="\n  ")

    def write(self, name: str, content: bytes) -> str:
        (self.folder / name).write_bytes(content)
        return name

    def expect_same(self, processes: int, what: str, inputs: list[str], *options: str, output: str = "out") -> None:
        """gsort-mpi makes of the inputs what gsort makes of them."""
        expected = f"expected-{output}"
        self.run([str(self.gsort), *options, *inputs, "-o", expected]).check_returncode()
        done = self.run(self.mpi(processes, *options, *inputs, "-o", output))
        self.sorts += 1
        if done.returncode != 0:
            self.fail(f"{what}, {processes} processes", done)
        elif (self.folder / output).read_bytes() != (self.folder / expected).read_bytes():
            self.fail(f"{what}, {processes} processes: other bytes than gsort's")

    def expect_same_parts(self, processes: int, what: str, inputs: list[str], *options: str, suffix: str = "u64",
                          read: Callable[[bytes], bytes] = bytes) -> None:
        """The files of --parts, one behind the other, are what gsort makes of the inputs, if `read` reads both."""
        expected = f"expected.{suffix}"
        self.run([str(self.gsort), *options, *inputs, "-o", expected]).check_returncode()
        done = self.run(self.mpi(processes, "--parts", *options, *inputs, "-o", f"part-{{rank}}.{suffix}"))
        self.sorts += 1
        parts = [self.folder / f"part-{rank}.{suffix}" for rank in range(processes)]
        if done.returncode != 0 or sorted(self.folder.glob("part-*")) != parts:
            self.fail(f"parts of {what}, {processes} processes", done)
        elif b"".join(read(part.read_bytes()) for part in parts) != read((self.folder / expected).read_bytes()):
            self.fail(f"parts of {what}, {processes} processes: other bytes than gsort's")
        for part in self.folder.glob("part-*"):
            part.unlink()

    def expect_moves(self, words: list[str]) -> None:
        """One process alone reads and writes as much as gsort, and sends nothing. The padding of runs differs between sorts."""
        for program, output in ((self.gsort, "expected"), (self.gsort_mpi, "out")):
            self.run([str(program), "-T", str(self.folder), *words, "-o", output, f"--stats={output}.json"]).check_returncode()
        of_gsort, found = (json.loads((self.folder / f"{name}.json").read_text()) for name in ("expected", "out"))
        rank, moved = found["ranks"][0], of_gsort["bytes"] | {"runs": of_gsort["runs"]}
        for name, value in (("runs", rank["runs"]), ("kept_in_memory", rank["kept_bytes"]),
                            *((name, 8 * rank[f"elements_{name}"]) for name in ("read", "written")),
                            *((name, rank[f"{name}_bytes"]) for name in ("spilled", "loaded"))):
            if abs(value - moved[name]) > (0 if name in ("read", "written", "runs") else moved[name] // 20):
                self.fail(f"{words}, one process: {name} {value}, gsort {moved[name]}")
        if any(rank[name] for name in ("sent_bytes", "sent_frames", "waiting_seconds")) or found["cuts"]["rounds"]:
            self.fail(f"{words}: one process sends {rank}, and makes the cuts {found['cuts']}")
        if (self.folder / "out").read_bytes() != (self.folder / "expected").read_bytes():
            self.fail(f"{words}: one process alone: other bytes than gsort's")

    def left_names(self) -> list[str]:
        return [name for name in os.listdir(self.folder) if name.startswith(".gsort-")]

    def status_of(self, mpirun: subprocess.Popen) -> int | None:
        """When mpirun has ended. None, and mpirun is killed, if it goes on for a minute after all processes are gone: when one
        is killed while it starts, PMIx 4.2 may wait for a lock of its own forever (PMIx_server_finalize)."""
        try:
            return mpirun.wait(60)
        except subprocess.TimeoutExpired:
            if any(is_program(int(process)) for process in self.processes()):
                self.fail("processes go on after one was killed")
            mpirun.kill()
            mpirun.wait()
            return None

    def processes(self) -> list[str]:
        found = subprocess.run(["pgrep", "-f", str(self.folder)], capture_output=True, text=True, check=False)
        return found.stdout.split()


def is_program(process: int) -> bool:
    """Not mpirun, nor a shell, which have its name among their words."""
    try:
        return Path(f"/proc/{process}/comm").read_text().strip() == "gsort-mpi"
    except OSError:
        return False


def descendants(process: int) -> list[str]:
    """The process and all its descendants."""
    children = subprocess.run(["pgrep", "-P", str(process)], capture_output=True, text=True, check=False).stdout.split()
    return [str(process), *(each for child in children for each in descendants(int(child)))]
