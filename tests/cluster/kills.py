"""Kills in each phase of a sort on several hosts: how a phase is seen from outside, and what must be there afterwards. Used with
mpirun (hosts.py) and with srun (slurm.py)."""

import collections
import contextlib
import dataclasses
import itertools
import os
import random
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import network
from host_bed import OLD, PARTS, Failed
from preload import preloadable  # in a folder that network adds

# The longest wait in a phase before a kill, in seconds.
PHASES = {"starting": 0.15, "forming": 0.08, "cutting": 0.05, "exchanging": 0.1, "writing": 0.08, "proving": 1.0}
PHASES_OF_PARTS = PHASES | {"naming": 0.3}
RANK_0 = "h1"
TRIES = 50
MARK = "slow.mark"


def slowly(program: str, library: Path, bytes_of_output: int, mark: str | Path = MARK) -> list[str]:
    """The program, which takes 0.9 s to sync and to name its output: the phase "proving". With --parts, each file gets its name
    0.3 s after the one before it."""
    return ["env", f"LD_PRELOAD={preloadable(library)}", f"SLOW_FROM={bytes_of_output * 9 // 20}", f"SLOW_MARK={mark}", program]


@dataclasses.dataclass
class Kill:
    """A kill, and its result."""
    phase: str
    victim: str
    victims: list[int]
    time: float
    is_struck: bool
    is_late: bool
    is_proving: bool
    was_named: bool  # when the process had ended


class Sort:
    """A sort of in.u64 to `out` on the first hosts, as it is seen from outside. To be made before it starts."""

    phases = [*PHASES, "named"]
    ending = ("proving",)  # of these

    def __init__(self, hosts: network.Network, processes: int, hears_within: float = 0.5):
        """`hears_within`: so many seconds after a launcher's kill, the others may still give the output its name; 1 s after
        that of one of them."""
        self.hosts, self.folder, self.processes, self.hears_within = hosts, hosts.folder, processes, hears_within
        self.size = (self.folder / "in.u64").stat().st_size
        (self.folder / "out").write_bytes(OLD)
        self.old = (self.folder / "out").stat()
        (self.folder / MARK).unlink(missing_ok=True)
        self.sent_before = hosts.sent_bytes("h2")
        self.sent_first = 0  # when it began to form runs

    def programs(self) -> list[int]:
        return sorted(process for process, name in self.hosts.processes().items() if name == "gsort-mpi")

    def hidden(self) -> list[os.stat_result]:
        """Its hidden output, not what a sort before has left under the same name."""
        found = [path.stat() for path in self.folder.glob(".gsort-*")]
        return [facts for facts in found if facts.st_mtime_ns >= self.old.st_mtime_ns]

    def is_named(self) -> bool:
        return (self.folder / "out").stat().st_ino != self.old.st_ino

    def is_cutting(self) -> bool:  # nothing but beats crosses the network while runs are formed
        if not self.hidden():
            return False
        sent = self.hosts.sent_bytes("h2")
        self.sent_first = self.sent_first or sent
        return sent > self.sent_first + 3_000

    def is_exchanging(self) -> bool:
        return self.hosts.sent_bytes("h2") - self.sent_before > 200_000

    def is_writing(self) -> bool:
        return self.is_exchanging() and any(facts.st_blocks * 512 > self.size // 2 for facts in self.hidden())

    def is_naming(self) -> bool:
        return False

    def has_begun(self, phase: str) -> bool:
        """`proving`: only with the library slow_end. Behind the last phase there is the name."""
        try:
            return {"starting": lambda: len(self.programs()) == self.processes, "forming": lambda: bool(self.hidden()),
                    "cutting": self.is_cutting, "exchanging": self.is_exchanging, "writing": self.is_writing,
                    "proving": (self.folder / MARK).exists, "naming": self.is_naming, "named": self.is_named}[phase]()
        except FileNotFoundError:  # a hidden file that has got its name
            return True

    def victims(self, name: str) -> list[int]:
        """A launcher's processes, or that of gsort-mpi on a host."""
        return sorted(process for process, found in self.hosts.processes().items() if found.startswith(name) or (
            found == "gsort-mpi" and self.hosts.host_of(process) == name))

    def kill(self, phase: str, victim: str, wait: float, running: Callable[[], bool], end: Callable[[], int],
             wanted: bytes) -> str:
        """Kills a launcher, or gsort-mpi on a host, some time after the phase has begun. `end` requires that all end, and returns
        the status. The old output must be there; or the complete new one, if it had its name before, or got it while others
        heard of the kill. Says when it was: "in time"; "late", as the phase had ended; "meanwhile", just before the name."""
        while running() and not self.has_begun(phase):
            time.sleep(0.001)
        time.sleep(wait)
        is_late = self.has_begun(dict(itertools.pairwise(self.phases))[phase])
        is_struck, before = False, time.time()
        victims = self.victims(victim)
        with contextlib.suppress(IndexError, ProcessLookupError):
            process = victims[0]
            before = time.time()
            os.kill(process, signal.SIGKILL)
            is_struck = True
            while process in self.hosts.processes():
                time.sleep(0.001)
        is_proving = (self.folder / MARK).exists() and (self.folder / MARK).stat().st_mtime < before
        is_late = is_late or not is_struck or (is_proving and phase not in self.ending)
        done = Kill(phase, victim, victims, before, is_struck, is_late, is_proving, self.is_named())
        return self.judge(done, end(), wanted)

    def judge(self, done: Kill, status: int, wanted: bytes) -> str:
        output = (self.folder / "out").read_bytes()
        waited = (self.folder / "out").stat().st_ctime - done.time  # from the kill to the name
        if output != (wanted if self.is_named() else OLD):
            raise Failed(f"status {status}, and the output has other bytes, {len(output)}")
        is_rank = done.victim in self.hosts.names
        if done.is_struck and output == wanted and waited > 0 and (waited > (1 if is_rank else self.hears_within) or (
                done.victim == RANK_0 and not done.was_named) or (is_rank and not done.is_proving)):
            raise Failed(f"status {status}, and the output got its name {waited:.2f} s after the kill")
        if status == 0 and (output == OLD or (done.is_struck and waited > 0)):
            raise Failed(f"status 0, and {'the old' if output == OLD else 'a new'} output; {done.victims} were there")
        return "late" if done.is_late else "in time" if output == OLD else "meanwhile"


class SortOfParts(Sort):
    """The same with --parts, to files of which none exists."""

    phases = [*PHASES_OF_PARTS, "named"]
    ending = ("proving", "naming")

    def parts(self) -> dict[int, bytes]:
        found = {number: self.folder / PARTS.format(rank=number) for number in range(self.processes)}
        return {number: path.read_bytes() for number, path in found.items() if path.exists()}

    def hidden(self) -> list[os.stat_result]:
        """They have no names: what processes have open."""
        found = []
        for process in self.programs():
            with contextlib.suppress(OSError):  # it has just ended
                for entry in Path(f"/proc/{process}/fd").iterdir():
                    path = Path(os.readlink(entry))
                    if path.parent == self.folder and path.name.startswith("#"):
                        found.append(entry.stat())
        return found

    def is_writing(self) -> bool:
        return self.hosts.sent_bytes("h2") - self.sent_before > 500_000

    def is_naming(self) -> bool:
        return bool(self.parts())

    def is_named(self) -> bool:
        return len(self.parts()) == self.processes

    def judge(self, done: Kill, status: int, wanted: bytes) -> str:
        """Files may stay only if the kill came while they were given names, or shortly before. They must be complete."""
        parts, share = self.parts(), len(wanted) // self.processes
        if any(content != wanted[number * share:(number + 1) * share] for number, content in parts.items()):
            raise Failed(f"status {status}, and one of these parts has other bytes: {[*parts]}")
        if parts and done.is_struck and not done.is_proving:
            raise Failed(f"status {status}, and parts {[*parts]} have names")
        if status == 0 and (len(parts) < self.processes or (done.is_struck and not done.was_named)):
            raise Failed(f"status 0, and parts {[*parts]} have names; {done.victims} were there")
        return "late" if done.is_late else "meanwhile" if len(parts) == self.processes else "in time"


def said(counts: dict[tuple[str, str, str], int]) -> str:
    return ", ".join(f"{sum(count for key, count in counts.items() if key[2] == when)} {when}"
                     for when in ("in time", "meanwhile", "late"))


def kill_often(rounds: int, phases: Iterable[str], victims: Callable[[int], Iterable[str]], seed: int,
               kill: Callable[[str, str, float], str], sort: Callable[[], None]) -> None:
    """In each round kills victims in each phase, and again where it was late; then `sort` must leave nothing."""
    counts: collections.Counter[tuple[str, str, str]] = collections.Counter()
    for number in range(rounds):
        chance = random.Random(seed + number)
        for place, phase in enumerate(phases):
            for victim in victims(place):
                for attempt in range(TRIES):
                    wait = chance.random() * PHASES_OF_PARTS[phase] / (1 + attempt) if number > 0 else 0
                    try:
                        found = kill(phase, victim, wait)
                    except Failed as failure:
                        raise Failed(f"{victim} killed while {phase}: {failure}; repeat with --seed {seed + number}") from None
                    counts[phase, victim, found] += 1
                    if found == "in time":
                        break
                else:
                    raise Failed(f"{victim} could not be killed while {phase}")
            sort()
        if rounds > 1:
            print(f"  round {number + 1} of {rounds}, --seed {seed + number}, until now {said(counts)}", flush=True)
    for phase, victim in dict.fromkeys((phase, victim) for phase, victim, _ in counts):
        print(f"  {victim} killed while {phase}: {said({key: counts[key] for key in counts if key[:2] == (phase, victim)})}")
