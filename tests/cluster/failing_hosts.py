"""Cases of hosts.py in which something fails: processes that are killed, stopped or do not end, links that are down, a scratch
folder that is full. After a failed sort, the old output is still there and no process is left; the next sort removes all other
files that are left."""

import base64
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence

import network
from differing_hosts import require_one_error, require_refusal, write_large
from host_bed import (ENDS_WITHIN, GUIDE, LEAST, OLD, PARTS, RESUME, SIGKILL_TIMEOUT, SMALL, Bed, Failed, LeftOut, memory_of,
                      write_input)
from kills import Sort, SortOfParts, kill_often, slowly
from resume import runs_in

TIMEOUT = 3  # s, of --peer-timeout
SHORT_KEEPALIVE = {"time": 1, "intvl": 1, "probes": 2}  # s, s, count
START_LIMIT = 10  # s: the least


def kill_in_phases(bed: Bed, *more: str) -> None:
    """In each phase, mpirun is killed and a rank; of several rounds, each rank in each. With -u, parts are deferred, and the
    output is written in a moment, at the end."""
    of_parts, defers = "--parts" in more, "-u" in more
    kind, phases = (SortOfParts, [*bed.phases, "naming"]) if of_parts else (Sort, bed.phases)
    if defers:
        phases = [phase for phase in phases if phase != "writing"]
        bed.write_by_sender("in.u64", 3, 300_000)
    else:
        bed.write_keys("in.u64", 600_000)
    wanted = bed.expect("in.u64")
    bed.hosts.shape("12mbit")
    size = len(wanted) // (3 if of_parts else 1)
    program = slowly("./gsort-mpi", bed.programs.parent / "tests/libslow_end.so", size)
    words = [*SMALL, "-T", "scratch", *more, "in.u64", "-o", PARTS if of_parts else "out"]
    kills = itertools.count(1)
    left: list[str] = []

    def kill(phase: str, victim: str, wait: float) -> str:
        if next(kills) % 10 == 0:  # as users have it: mpirun gives processes 3 s to end
            bed.hosts.environment.pop(SIGKILL_TIMEOUT, None)
        else:
            bed.hosts.environment[SIGKILL_TIMEOUT] = "0"
        sort = kind(bed.hosts, 3)
        running = bed.launch(3, *program, *words)
        found = sort.kill(phase, victim, wait, lambda: running.poll() is None, lambda: bed.end(running, ENDS_WITHIN), wanted)
        if of_parts:
            left.extend(remove_parts(bed, words))
        return found

    def sort_after() -> None:
        bed.sort(3, *SMALL, *more, "in.u64", "--stats=stats")
        if of_parts:
            bed.join_parts()
        bed.require_output(wanted, "the sort after killed ones")
        if defers and not json.loads((bed.folder / "stats").read_text())["ranks"][1]["deferred_bytes"]:
            raise Failed("no part is deferred")
        bed.require_no_process(ENDS_WITHIN)
        bed.require_nothing_left()

    hosts = bed.hosts.names[:3]
    launchers = [] if network.HAS_PRTE else ["mpirun"]  # Open MPI 5's daemons may stay, if it is killed while they start
    victims = [(*launchers, *(hosts if bed.rounds > 1 else [host])) for host in hosts]
    kill_often(bed.rounds, phases, lambda place: victims[place % 3], bed.seed, kill, sort_after)
    if of_parts and not left:
        raise Failed("no kill has left a file")


def remove_parts(bed: Bed, words: list[str]) -> list[str]:
    """Removes the parts that a kill has left, as the guide says. They must stop the next sort, and nothing else may be left.
    Returns their names."""
    bed.require_nothing_left()
    left = sorted(bed.folder.glob("part-*"))
    if left:
        running = bed.launch(3, "./gsort-mpi", *words)
        if bed.end(running, ENDS_WITHIN) != 2 or "exists" not in bed.said():
            raise Failed(f"{left} are there, and the next sort says {bed.said()}")
    for path in left:
        path.unlink()
    return [path.name for path in left]


def killed(bed: Bed) -> None:
    kill_in_phases(bed)


def killed_parts(bed: Bed) -> None:
    kill_in_phases(bed, "--parts")


def killed_deferring(bed: Bed) -> None:
    kill_in_phases(bed, "-u")


def kept_on(bed: Bed, name: str) -> int:
    """The elements of the runs that are kept on a host."""
    manifest = bed.hosts.on(name, "cat scratch/kept/gsort-*/gsort.manifest | base64 --wrap=0")
    return sum(elements for elements, _ in runs_in(base64.b64decode(manifest)))


def resume_on(bed: Bed, names: Sequence[str]) -> None:
    """Resumes a sort of 3 processes on these hosts, in this order: they must use all runs that they see. Then removes the runs on
    the other hosts, as the guide says. Open MPI's mpirun puts its own host first."""
    seen = bed.hosts.names[:3]
    kept = sum(kept_on(bed, name) for name in seen if name in names)
    bed.sort(names, *SMALL, RESUME, "in.u64", "--stats=stats")
    bed.require_output(bed.expect("in.u64"), f"the sort that goes on, on {names}")
    ranks = json.loads((bed.folder / "stats").read_text())["ranks"]
    resumed, read = (sum(rank[field] for rank in ranks) for field in ("resumed_elements", "elements_read"))
    if [rank["host"] for rank in ranks] != list(names) or kept == 0 or (resumed, read) != (kept, count_of(bed) - kept):
        raise Failed(f"{kept:,} elements were kept; what was used is {ranks}")
    for name in seen:
        if name not in names:
            bed.hosts.on(name, "rm -r scratch/kept")
    bed.require_no_process(ENDS_WITHIN)
    bed.require_nothing_left()


def count_of(bed: Bed) -> int:
    return (bed.folder / "in.u64").stat().st_size // 8


def start_exchange(bed: Bed, *words: str, given: int = LEAST) -> subprocess.Popen:
    """A sort of 3 hosts over slow links, in the middle of its exchange."""
    write_input(bed, given, 1_500_000)
    bed.hosts.shape("20mbit" if given == LEAST else f"{given * 2}mbit")
    sort = Sort(bed.hosts, 3)
    running = bed.start(3, *memory_of(given), *words, "in.u64")
    while not sort.has_begun("exchanging"):
        if running.poll() is not None:
            raise Failed(f"the sort has ended, status {running.returncode}")
        time.sleep(0.01)
    return running


def link_interrupted(bed: Bed) -> None:
    running = start_exchange(bed)
    wanted = bed.expect("in.u64")
    bed.hosts.link("h3", "down")
    time.sleep(4)
    bed.hosts.link("h3", "up")
    if bed.finish(running, 60) != 0:
        raise Failed("a sort whose link was down for 4 s has failed")
    bed.require_output(wanted, "a link that was down")


def link_lost(bed: Bed) -> None:
    """gsort-mpi ends everywhere. mpirun does not: it waits until TCP gives up the host that it tells to stop."""
    running = start_exchange(bed, f"--peer-timeout={TIMEOUT}", RESUME)
    bed.hosts.link("h3", "down")
    end = time.monotonic() + TIMEOUT + ENDS_WITHIN
    while bed.ranks():
        if time.monotonic() > end:
            raise Failed(f"a sort whose link is down goes on: {bed.where()}")
        time.sleep(0.05)
    bed.require_output(OLD, "a link that is down")
    if "h3 (rank 2)" not in bed.said() or f"has not answered for {TIMEOUT}" not in bed.said():
        raise Failed("the host that does not answer is not named")
    bed.hosts.kill_all()
    running.wait()
    bed.hosts.link("h3", "up")
    resume_on(bed, ["h1", "h4", "h3", "h2"])


def link_lost_early(bed: Bed, keepalive: dict[str, int] = SHORT_KEEPALIVE) -> None:
    """mpirun notices before gsort-mpi does, and ends all, itself too."""
    if bed.launcher.endswith("mpich"):
        raise LeftOut("MPICH's mpirun notices no lost host")
    if network.HAS_PRTE:
        raise LeftOut("Open MPI 5's mpirun has status 0 when a host is lost")
    bed.hosts.environment |= network.open_mpi({f"oob_tcp_keepalive_{name}": str(value) for name, value in keepalive.items()})
    running = start_exchange(bed)
    bed.hosts.link("h3", "down")
    bed.require_failure(running, keepalive["time"] + keepalive["intvl"] * keepalive["probes"] + ENDS_WITHIN)
    if "has not answered" in bed.said():
        raise Failed("gsort-mpi noticed before mpirun did")
    bed.hosts.link("h3", "up")
    bed.sort(3, *SMALL, "in.u64")
    bed.require_output(bed.expect("in.u64"), "the sort after a link that was down")
    bed.require_nothing_left()


def link_lost_as_guided(bed: Bed) -> None:
    """With the settings of the guide."""
    link_lost_early(bed, {name: int(value) for name, value in re.findall(r"oob_tcp_keepalive_(\w+) (\d+)", GUIDE.read_text())})


def sort_after_full(bed: Bed) -> None:
    """The scratch folder of h2 has room again."""
    bed.hosts.on("h2", "umount scratch")
    bed.write_keys("in.u64", 1_500_000)
    bed.sort(3, *SMALL, "in.u64")
    read = bed.read_bytes()
    if read < 12_000_000:
        raise Failed(f"a sort of 12 MB seems to have read {read:,} bytes")
    bed.require_output(bed.expect("in.u64"), "the sort after a full scratch folder")
    bed.require_nothing_left()


def scratch_full(bed: Bed) -> None:
    write_large(bed)
    bed.hosts.on("h2", "mount -t tmpfs -o size=1m none scratch")
    require_refusal(bed, "a full scratch folder", bed.start(3, "-S", "256M", "in.u64"), "on h2 (rank 1)")
    sort_after_full(bed)


def scratch_fills(bed: Bed, *keep: str) -> None:
    """The scratch folder of a host fills while runs are formed; it had room when gsort-mpi checked."""
    bed.write_keys("in.u64", 30_000_000)
    (bed.folder / "out").write_bytes(OLD)
    bed.hosts.on("h2", "mount -t tmpfs -o size=100m none scratch")
    running = bed.start(3, *SMALL, *keep, "in.u64")
    while bed.hosts.read_bytes() < bed.read_before + (16 << 20) and running.poll() is None:
        time.sleep(0.002)
    bed.hosts.on("h2", "head -c 100m /dev/zero > scratch/other 2>&- || true")
    if keep:
        if bed.end(running, ENDS_WITHIN) != 2 or "No space left" not in bed.said():
            raise Failed("a scratch folder that fills")
        bed.require_output(OLD, "a scratch folder that fills")
        bed.hosts.on("h2", "rm scratch/other")
        return resume_on(bed, ["h1", "h4", "h3", "h2"])
    require_one_error(bed, "a scratch folder that fills", running, "on h2 (rank 1)", "No space left", seconds=ENDS_WITHIN)
    return sort_after_full(bed)


def scratch_fills_and_resumed(bed: Bed) -> None:
    scratch_fills(bed, RESUME)


def never_leaves(bed: Bed) -> None:
    """A process does not come to the end of MPI, where the others wait for it; the output is in place."""
    bed.write_keys("in.u64", 300_000)
    wanted = bed.expect("in.u64")
    shutil.copy(bed.programs.parent / "tests/libnever_leaves.so", bed.folder)
    on_h2 = f"export LD_PRELOAD={bed.folder}/libnever_leaves.so"
    bed.hosts.environment.pop(SIGKILL_TIMEOUT, None)  # all need time to tell of it
    running = bed.start_otherwise(on_h2, *SMALL, f"--peer-timeout={TIMEOUT}", "in.u64", "-o", "out")
    if bed.finish(running, TIMEOUT + ENDS_WITHIN) == 0:
        raise Failed("status 0 although a process has not ended")
    bed.require_no_process(ENDS_WITHIN)
    bed.require_output(wanted, "a process that never leaves")
    told = f"ending all processes: one of them has not ended for {TIMEOUT} seconds" in bed.said()
    if not told and not network.HAS_PRTE:  # which drops what a process prints just before its end
        raise Failed("the wait at the end is not told")


def never_starts(bed: Bed) -> None:
    """MPI waits for a process that does not come."""
    bed.write_keys("in.u64", 1_000)
    (bed.folder / "out").write_bytes(OLD)
    shutil.copy(bed.programs.parent / "tests/libnever_leaves.so", bed.folder)
    on_h2 = f"export NEVER_STARTS=1 LD_PRELOAD={bed.folder}/libnever_leaves.so"
    running = bed.start_otherwise(on_h2, *SMALL, f"--peer-timeout={START_LIMIT}", "in.u64", "-o", "out")
    bed.require_failure(running, START_LIMIT + ENDS_WITHIN)
    if f"starting MPI: it has not started for {START_LIMIT} seconds" not in bed.said():
        raise Failed("the wait at the start is not told")


def stopped_for_ever(bed: Bed, *keep: str) -> None:
    """The others name the host of a process that is stopped, and end it."""
    running = start_exchange(bed, f"--peer-timeout={TIMEOUT}", *keep)
    process = next(process for process in bed.ranks() if bed.hosts.host_of(process) == "h2")
    os.kill(process, signal.SIGSTOP)
    end = time.monotonic() + TIMEOUT + 1
    while f"h2 (rank 1): it has not answered for {TIMEOUT} seconds" not in bed.said():
        if time.monotonic() > end:
            raise Failed(f"a process is stopped for {TIMEOUT + 1} s, and its host is not named")
        time.sleep(0.05)
    bed.require_failure(running, ENDS_WITHIN)
    if keep:
        return resume_on(bed, ["h3", "h4"])
    bed.sort(3, *SMALL, "in.u64")
    bed.require_output(bed.expect("in.u64"), "the sort after a stopped one")
    return bed.require_nothing_left()


def stopped_and_resumed(bed: Bed) -> None:
    stopped_for_ever(bed, RESUME)


def resumed(bed: Bed) -> None:
    """Runs are on disks of their hosts. A process is killed; a sort without its host goes on with those of the others, and is
    killed, too; then all are there, and one more. Only runs that no process sees are formed again."""
    count = 1_500_000
    bed.hosts.shape("20mbit")
    for processes, seen in ((3, 0), (2, count * 2 // 3)):
        if processes == 3:
            running = start_exchange(bed, RESUME)
        else:
            sort = Sort(bed.hosts, 2)
            running = bed.start(processes, *SMALL, RESUME, "-v", "in.u64")
            while not sort.has_begun("exchanging"):
                if running.poll() is not None:
                    raise Failed(f"the sort has ended, status {running.returncode}: {bed.said()}")
                time.sleep(0.01)
        os.kill(bed.ranks()[-1], signal.SIGKILL)
        bed.require_failure(running, ENDS_WITHIN)
        if seen and json.loads((bed.folder / "explained").read_text())["hosts"][0]["resumed_elements"] != seen // 2:
            raise Failed("the runs of a host are not used there")
        if not seen:
            status = bed.finish(bed.start(2, *SMALL, RESUME, "in.u64", "--explain=json"), 60)
            (bed.folder / "explained").write_text(bed.said())
            if status != 0:
                raise Failed("--explain fails")
    wanted = bed.expect("in.u64")
    bed.sort(4, *SMALL, RESUME, "in.u64", "--stats=stats")
    bed.require_output(wanted, "the sort after killed ones")
    ranks = json.loads((bed.folder / "stats").read_text())["ranks"]
    if sum(rank["resumed_elements"] for rank in ranks) != count or any(rank["elements_read"] for rank in ranks):
        raise Failed(f"what was there is {ranks}")
    bed.require_no_process(ENDS_WITHIN)
    bed.require_nothing_left()


FAILING: dict[str, Callable[[Bed], None]] = {case.__name__: case for case in (
    scratch_full, resumed, never_leaves, never_starts, link_interrupted, link_lost, link_lost_early, stopped_for_ever, killed)}
# These leave the processors idle most of the time.
WAITING = [case.__name__ for case in (never_leaves, never_starts, link_interrupted, link_lost, stopped_for_ever)]
LONG_FAILING: dict[str, Callable[[Bed], None]] = {case.__name__: case for case in (
    scratch_fills, scratch_fills_and_resumed, stopped_and_resumed, link_lost_as_guided, killed_parts, killed_deferring)}
