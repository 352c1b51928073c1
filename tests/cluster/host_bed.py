"""For tests of gsort-mpi on hosts: the hosts with the programs, and sorts on them. The hosts are namespaces of this machine
(network.py)."""

import contextlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import time
from array import array
from collections.abc import Sequence
from pathlib import Path

import network

GUIDE = Path(__file__).resolve().parents[2] / "src/cluster/README.md"
OLD = b"the old output"
ENDS_WITHIN = 10  # seconds
PARTS = "part-{rank}"  # with --parts
LEAST = 40  # MiB: memory for several short runs
SMALL = ["-S", f"{LEAST}M", "--parallel=1"]
RESUME = "--resume=scratch/kept"
SIGKILL_TIMEOUT = "OMPI_MCA_odls_base_sigkill_timeout"


class Failed(Exception):
    """A failure that a test has found, as a sentence."""


class LeftOut(Exception):
    """Why a case cannot run here."""


def command_of_guide(launcher: str) -> list[str]:
    """The guide's first one with this launcher, for the files of a test."""
    command, = re.findall(rf"^{launcher} .* gsort-mpi -T \S+ /shared/big.u64 .*$", GUIDE.read_text(), re.M)
    for there, here in ((" gsort-mpi", " ./gsort-mpi --stats=stats"), ("/local/", ""), ("/shared/big.u64", "in.u64"),
                        ("/shared/sorted.u64", "out")):
        command = command.replace(there, here, 1)
    return command.split()


def require_hosts(hosts: network.Network, processes: int | None = None) -> None:
    """The file `stats` is of one sort, with a process on each of the first hosts."""
    ranks = json.loads((hosts.folder / "stats").read_text())["ranks"]
    if [rank["host"] for rank in ranks] != hosts.names[:processes]:
        raise Failed(f"the hosts are {ranks}")


def keys_by_sender(sender: int, senders: int, drawn: array) -> array:
    """Keys of 8 bytes in place of random ones: the range of each host's output is divided into one for each sender."""
    width = 2**64 // senders**2
    return array("Q", ((key % senders * senders + sender) * width + key // senders % width for key in drawn))


class Bed:
    """The hosts with the programs, and sorts on them."""

    def __init__(self, hosts: network.Network, programs: Path, seed: int):
        self.hosts = hosts
        self.programs = programs
        self.folder = hosts.folder
        self.seed = seed
        self.random = random.Random(seed)
        for name in ("gsort", "gsort-mpi"):
            shutil.copy(programs / name, self.folder / name)
        self.launcher = network.launcher_of(programs / "gsort-mpi")
        self.sorts = 0

    def limit_memory(self, name: str, limit: int) -> None:
        if not self.hosts.limit_memory(name, limit):
            raise LeftOut("the kernel allows no memory groups here")

    def write_keys(self, name: str, count: int, width: int = 8) -> None:
        with open(self.folder / name, "wb") as file:
            for begin in range(0, count, 1 << 22):
                file.write(self.random.randbytes(min(1 << 22, count - begin) * width))

    def write_by_sender(self, name: str, senders: int, count: int) -> None:
        """`count` keys of each sender. Hosts that output their parts in order defer some."""
        with open(self.folder / name, "wb") as file:
            for sender in range(senders):
                keys_by_sender(sender, senders, array("Q", self.random.randbytes(8 * count))).tofile(file)

    def expect(self, name: str, *words: str) -> bytes:
        """Returns the output of gsort for an input."""
        subprocess.run(["./gsort", *words, name, "-o", "wanted"], cwd=self.folder, check=True)
        return (self.folder / "wanted").read_bytes()

    def start(self, processes: int | Sequence[str], *words: str) -> subprocess.Popen:
        """A sort with a process on each of the first hosts, begun on h1. Its messages are in the file `said`."""
        folder = [] if any(word.startswith("--resume") for word in words) else ["-T", "scratch"]
        return self.launch(processes, "./gsort-mpi", *folder, *words, "-o", PARTS if "--parts" in words else "out")

    def start_otherwise(self, on_h2: str, *words: str) -> subprocess.Popen:
        """A sort of 3 hosts, before which h2 does something for a shell. There the program is $program, and $more is behind
        the words."""
        sort = f"exec $program -T scratch {shlex.join(words)} $more"
        return self.launch(3, "sh", "-c", f"program=./gsort-mpi more=; case $(hostname) in h2) {on_h2};; esac; {sort}")

    def launch(self, processes: int | Sequence[str], *program: str) -> subprocess.Popen:
        command = [self.launcher, *self.hosts.processes_on(processes), *program]
        self.read_before = self.hosts.read_bytes()
        with open(self.folder / "said", "w", encoding="utf-8") as said:
            return subprocess.Popen(self.hosts.entering("h1", *command), cwd=self.folder, env=self.hosts.environment,
                                    stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    def read_bytes(self) -> int:
        """By the last sort, whose processes must end."""
        self.require_no_process(ENDS_WITHIN)
        with contextlib.suppress(ChildProcessError):  # those that their parents left: what they have read is counted here, then
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        return self.hosts.read_bytes() - self.read_before

    def said(self) -> str:
        return (self.folder / "said").read_text(encoding="utf-8", errors="replace")

    def finish(self, running: subprocess.Popen, seconds: float) -> int:
        try:
            return running.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"mpirun has not ended after {seconds:.0f} s") from None

    def sort(self, processes: int | Sequence[str], *words: str) -> None:
        """Must go well."""
        self.sorts += 1
        status = self.finish(self.start(processes, *words), 300)
        if status != 0:
            raise Failed(f"a sort with {processes} processes: status {status}")

    def join_parts(self) -> None:
        """The files of --parts become `out`."""
        parts = sorted(self.folder.glob("part-*"))
        (self.folder / "out").write_bytes(b"".join(map(Path.read_bytes, parts)))
        for part in parts:
            part.unlink()

    def require_output(self, wanted: bytes, what: str) -> None:
        if (self.folder / "out").read_bytes() != wanted:
            raise Failed(f"{what}: the output has other bytes")

    def require_no_process(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while self.hosts.processes():
            if time.monotonic() > end:
                raise Failed(f"processes are left after {seconds:.0f} s: {self.where()}")
            time.sleep(0.05)

    def where(self) -> str:
        return ", ".join(f"{name} on {self.hosts.host_of(process)}" for process, name in self.hosts.processes().items())

    def require_nothing_left(self) -> None:
        """No hidden output, and no file of a run on any host."""
        left = [path.name for path in self.folder.glob(".gsort-*")]
        for name in self.hosts.names:
            left += [f"{name}: {found}" for found in self.hosts.on(name, "find /tmp scratch -mindepth 1 -name '*gsort*'").split()]
        if left:
            raise Failed(f"names are left: {', '.join(left)}")

    def end(self, running: subprocess.Popen, seconds: float) -> int:
        """It ends in that time, and all processes. Returns the status."""
        begin = time.monotonic()
        status = self.finish(running, seconds)
        self.require_no_process(begin + seconds - time.monotonic())
        return status

    def require_failure(self, running: subprocess.Popen, seconds: float) -> None:
        """It ends with an error in that time; the old output stays, and no process."""
        if self.end(running, seconds) == 0:
            raise Failed("status 0 after a failure")
        self.require_output(OLD, "after a failure")

    def ranks(self) -> list[int]:
        return sorted(process for process, name in self.hosts.processes().items() if name == "gsort-mpi")

    def hidden(self) -> set[Path]:
        return set(self.folder.glob(".gsort-*"))


def memory_of(given: int) -> list[str]:
    return SMALL if given == LEAST else ["-S", f"{given}M"]


def write_input(bed: Bed, given: int, count: int) -> bytes:
    """Writes `count` keys, or with more memory, as many as the memory of four processes holds. Returns gsort's
    output."""
    bed.write_keys("in.u64", count if given == LEAST else given << 19)
    return bed.expect("in.u64")
