#!/usr/bin/env python3
"""gsort-mpi on several hosts, which are namespaces of this machine (network.py): equal bytes, processes that are killed in each
phase, links that fail, a scratch folder that is full. After every failure the old output must be there, no process may be
left, and the next sort must remove what else is.

Skips with status 77 and a list of what is left out where the machine allows no namespaces."""

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterator
from itertools import permutations
from operator import add, gt
from pathlib import Path

import network
from bed import KINDS, keys, sends, sends_again, sends_much, written
from differing_hosts import DIFFERING
from failing_hosts import FAILING, LONG_FAILING, WAITING, start_exchange
from host_bed import (ENDS_WITHIN, GUIDE, LEAST, SIGKILL_TIMEOUT, SMALL, Bed, Failed, LeftOut, command_of_guide, memory_of,
                      require_hosts, write_input)
from kills import PHASES

SKIPPED = 77
KEYS_SENT = 1_500_000  # two runs of each of four processes
UNPACKED, RECORDS = ("--pack-runs=off",), ("--record=16", "--key=0:u64")
BEATS_AND_START = 100_000  # bytes


def equal_bytes(bed: Bed) -> None:
    bed.write_keys("in.u64", 300_000)
    bed.write_keys("in.u32", 500_001, 4)
    wanted = {name: bed.expect(name) for name in ("in.u64", "in.u32")}
    for processes in range(1, len(bed.hosts.names) + 1):
        name = "in.u64" if processes % 2 == 0 else "in.u32"
        bed.sort(processes, *SMALL, name)
        bed.require_output(wanted[name], f"{name}, {processes} processes")
    bed.require_no_process(ENDS_WITHIN)
    bed.require_nothing_left()


def hosts_file(bed: Bed) -> None:
    """The guide's command with a file of hosts' names."""
    _, *words = command_of_guide("mpirun.mpich" if bed.launcher.endswith("mpich") else "mpirun")
    (bed.folder / "hosts").write_text("".join(f"{name}\n" for name in bed.hosts.names))
    bed.write_keys("in.u64", 300_000)
    command = bed.hosts.entering("h1", bed.launcher, *words)
    subprocess.run(command, cwd=bed.folder, env=bed.hosts.environment, check=True, timeout=60)
    bed.require_output(bed.expect("in.u64"), "a file of hosts")
    require_hosts(bed.hosts)


def fields_of(value: object, name: str = "") -> set[str]:
    """The names of all fields, as the guide writes them."""
    if isinstance(value, dict):
        return {field for key, each in value.items() for field in fields_of(each, f"{name}.{key}" if name else key)}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return {field for each in value for field in fields_of(each, f"{name}[]")}
    return {name}


def hosts_removed(bed: Bed) -> None:
    """Other hosts, whose program ends by a signal, leave neither a folder nor control groups; after SIGKILL the next ones remove
    them."""
    environment = {name: value for name, value in os.environ.items() if name != network.FOLDER}
    command = [sys.executable, network.__file__, "--hosts", "1"]
    for number in (signal.SIGTERM, signal.SIGKILL):
        words = [*command, *(["--memory", "512"] if bed.hosts.limit_memory("h2", 1 << 30) else []), "--", "sh", "-c",
                 "pwd; exec sleep infinity"]
        with subprocess.Popen(words, env=environment, text=True, stdout=subprocess.PIPE) as program:
            folder = Path(program.stdout.readline().strip())
            made = network.made_by(folder)
            program.send_signal(number)
        if len(made) != (2 if "--memory" in words else 1):
            raise Failed(f"made were {made}")
        if number == signal.SIGKILL:
            subprocess.run([*command, "--", "true"], env=environment, check=True)
        if network.made_by(folder) or not network.made_by(bed.folder):
            raise Failed(f"of {made} are left {network.made_by(folder)}")


def stats(bed: Bed) -> None:
    """The report of all hosts says what happened, and the guide describes it."""
    bed.write_keys("in.u64", 300_000)
    bed.sort(3, *SMALL, "in.u64", "--stats=stats", "--trace=trace")
    report = json.loads((bed.folder / "stats").read_text())
    ranks = report["ranks"]
    require_hosts(bed.hosts, 3)
    for name, expected in (("elements_read", 300_000), ("elements_written", 300_000), ("runs", report["runs"])):
        if sum(rank[name] for rank in ranks) != expected:
            raise Failed(f"{name} do not add up: {ranks}")
    for rank in ranks:  # random keys: a third stays, and frames are packed
        sent = 8 * rank["elements_written"] - rank["own_bytes"]
        if abs(rank["sent_bytes"] - sent) > sent // 10 or not 0 < rank["sent_frame_bytes"] < rank["sent_bytes"]:
            raise Failed(f"what was sent is {rank}")
    described = set(re.findall(r"`([a-z_.\[\]]+)`", re.search(r"\| field \|.*?\n\n", GUIDE.read_text(), re.S)[0]))
    if described != fields_of(report):
        raise Failed(f"described or written, but not both: {described ^ fields_of(report)}")
    events = json.loads((bed.folder / "trace").read_text())["traceEvents"]
    named = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    if named != [f"gsort-mpi, h{rank + 1} (rank {rank})" for rank in range(3)]:
        raise Failed(f"the processes of the trace are {named}")
    for process in (1, 2, 3):
        read = sum(event["args"]["bytes"] for event in events
                   if event["pid"] == process and (event["name"], event.get("cat")) == ("read", "stage"))
        phases = {event["name"] for event in events if event["pid"] == process and event.get("cat") == "phase"}
        if read != 800_000 or phases != {"read", "merge", "sync"}:
            raise Failed(f"the trace of process {process} has {read} bytes that were read, and the phases {phases}")


def explained(bed: Bed) -> None:
    """The plan of every host is printed, and nothing is made."""
    bed.write_keys("in.u64", 300_000)
    if bed.finish(bed.start(3, *SMALL, "in.u64", "--explain=json"), 60) != 0:
        raise Failed("--explain fails")
    lines = [line for line in bed.said().splitlines() if not line.startswith("[")]  # those are warnings of mpirun
    plan = json.loads("\n".join(lines))
    if [host["name"] for host in plan["hosts"]] != bed.hosts.names[:3]:
        raise Failed(f"the hosts are {plan['hosts']}")
    if sum(host["elements"] for host in plan["hosts"]) != 300_000 or plan["network_bytes"] != 1_600_000:
        raise Failed(f"the plan is {plan}")
    if (bed.folder / "out").exists():
        raise Failed("--explain has made the output")
    bed.require_nothing_left()


def memory_limited(bed: Bed) -> None:
    """A host has little more memory than -S, and its links are slow: what waits to be sent is bounded, too."""
    bed.limit_memory("h2", 80 << 20)
    bed.write_keys("in.u64", 6_000_000)
    wanted = bed.expect("in.u64")
    bed.hosts.shape("200mbit")
    bed.sort(2, *SMALL, "in.u64")
    bed.require_output(wanted, "little memory")


def require_memory(bed: Bed, given: int) -> dict:
    """Requires that no process of the last sort used more memory than -S. Returns the report."""
    report = json.loads((bed.folder / "stats").read_text())
    peaks = [rank["peak_resident_bytes"] / 2**20 for rank in report["ranks"]]
    print(f"  peaks of {', '.join(f'{peak:.0f}' for peak in peaks)} MiB with -S {given}M", flush=True)
    if max(peaks) > given:
        raise Failed(f"a process took {max(peaks):.0f} MiB with -S {given}M")
    return report


def require_traffic(bed: Bed, processes: int, kind: str, *words: str) -> None:
    """Each host sends exactly the keys that it must, as packed as they are in runs, and little more."""
    content = keys(kind, "Q", KEYS_SENT, bed.random)
    size = 16 if words == RECORDS else 8
    elements = array("Q", bed.random.randbytes(KEYS_SENT * size))
    elements[::size // 8] = array("Q", content)
    (bed.folder / "in.u64").write_bytes(elements.tobytes())
    before = [bed.hosts.sent_bytes(name) for name in bed.hosts.names[:processes]]
    bed.sort(processes, *SMALL, *words, "in.u64", "--stats=stats")
    sent = [bed.hosts.sent_bytes(name) - first for name, first in zip(bed.hosts.names, before)]
    if "--parts" in words:
        bed.join_parts()
    report = require_memory(bed, LEAST)
    ranks, merged_first = report["ranks"], "-u" in words
    stored = report["bytes"] + (sum(written(ranks)) * size if merged_first else 0)  # each process merges its share into a run
    packed = sum(rank["kept_bytes"] + rank["spilled_bytes"] for rank in ranks) / stored
    all_sends = sends(content, ranks, [KEYS_SENT // processes] * processes if merged_first else written(ranks))
    is_assigned = not merged_first and "--parts" not in words
    shares = [rank["share"] for rank in ranks] if is_assigned else range(processes)
    required = list(map(list.__getitem__, all_sends, shares))
    if merged_first:
        required = list(map(add, required, sends_again(content, ranks)))
    found = [rank["sent_bytes"] // size for rank in ranks]
    sums = report["cuts"]["sum_bytes"] * (processes - 1).bit_length()  # sent along a tree
    bounds = [1.1 * (size * packed * keys_sent + sums) + BEATS_AND_START for keys_sent in required]
    what = f"{kind}, {processes} processes, {' '.join(words) or 'no option'}"
    print(f"  {what}: at most {max(found) * processes / KEYS_SENT:.1%} of a share is sent, packed to {packed:.1%}: "
          f"{max(sent):,} of {max(bounds):,.0f} bytes, with sums of {sums:,}", flush=True)
    if found != required or any(map(gt, sent, bounds)):
        raise Failed(f"{what}: {found} keys were sent, not {required}; {sent} bytes, at most {bounds}")
    if report["runs"] < 2 * processes or (words == UNPACKED and packed < 1):
        raise Failed(f"{what}: {report['runs']} runs, packed to {packed:.1%}")
    if is_assigned:
        least = min(max(map(list.__getitem__, all_sends, order)) for order in permutations(range(processes)))
        if sends_much(ranks, size) or max(found) > least + KEYS_SENT / processes / 128:
            raise Failed(f"{what}: {found} keys were sent; {least:,} are enough")


def network_bytes(bed: Bed) -> None:
    """A process sends at most 1 - 1/P of its share of the input, and no order of the shares of the output makes the most that a
    process sends much less. With --parts and -u, the order is that of the processes."""
    for processes in (2, 3, 4):
        for kind in KINDS:
            require_traffic(bed, processes, kind)
        for words, kinds in ((UNPACKED, ("random", "few")), (RECORDS, ("equal", "few")),
                             (("--parts",), ("random", "reversed")), (("-u",), ("random", "reversed", "skewed"))):
            for kind in kinds:
                require_traffic(bed, processes, kind, *words)


def one_slow_link(bed: Bed, given: int = LEAST) -> None:
    """All wait for the host with a quarter of the link, and take no more memory meanwhile."""
    wanted = write_input(bed, given, 3_000_000)
    bed.hosts.shape(f"{given * 10 // 3}mbit")
    bed.hosts.shape(f"{given * 5 // 6}mbit", ["h3"])
    bed.sort(4, *memory_of(given), "in.u64", "--stats=stats")
    bed.require_output(wanted, "a slow link")
    require_memory(bed, given)


def stopped(bed: Bed, given: int = LEAST) -> None:
    """A process is stopped for 10 s in the exchange."""
    running = start_exchange(bed, "--stats=stats", given=given)
    process = next(process for process in bed.ranks() if bed.hosts.host_of(process) == "h2")
    os.kill(process, signal.SIGSTOP)
    wanted = bed.expect("in.u64")
    time.sleep(10)
    os.kill(process, signal.SIGCONT)
    if bed.finish(running, 300) != 0:
        raise Failed("a sort has failed, a process of which was stopped for 10 s")
    bed.require_output(wanted, "a process that was stopped")
    require_memory(bed, given)


def deferred(bed: Bed, given: int = LEAST) -> None:
    """Processes that defer parts of the output take no more memory, and remove what they have kept."""
    bed.write_by_sender("in.u64", 4, 750_000 if given == LEAST else given << 17)
    bed.hosts.shape(f"{given * 10 // 3}mbit")
    bed.sort(4, *memory_of(given), "-u", "in.u64", "--stats=stats")
    bed.require_output(bed.expect("in.u64", "-u"), "parts that are deferred")
    ranks = require_memory(bed, given)["ranks"]
    if not all(rank["deferred_bytes"] for rank in ranks[1:]):
        raise Failed(f"no part is deferred: {ranks}")
    bed.require_no_process(ENDS_WITHIN)
    bed.require_nothing_left()


def more_memory(bed: Bed) -> None:
    """Each process reads as much as its -S."""
    all_on_one_host(bed, LEAST)
    for given in (64, 128, 256):
        for case in (one_slow_link, stopped, all_on_one_host):
            case(bed, given)
    for given in (64, 128):
        deferred(bed, given)


def sort_input_of_h2(bed: Bed, *words: str) -> None:
    """By four processes, of which only that on h2 has any input: in.u64."""
    (bed.folder / "empty.u64").write_bytes(b"")
    script = f'case $(hostname) in h2) in=in.u64;; *) in=empty.u64;; esac; exec ./gsort-mpi {" ".join(words)} $in'
    command = [bed.launcher, *bed.hosts.processes_on(4), "sh", "-c", script]
    subprocess.run(bed.hosts.entering("h1", *command), cwd=bed.folder, env=bed.hosts.environment, check=True, timeout=300)


def all_on_one_host(bed: Bed, given: int = 64) -> None:
    """One host has all of the input, the others nothing."""
    wanted = write_input(bed, given, 3_000_000)
    sort_input_of_h2(bed, "--inputs-here", *memory_of(given), "--stats=stats", "-T", "scratch", "-o", "out")
    bed.require_output(wanted, "all input on one host")
    ranks = require_memory(bed, given)["ranks"]
    if {rank["elements_written"] for rank in ranks} != {len(wanted) // 8 // 4}:
        raise Failed(f"shares of the output are not equal: {ranks}")


def room_for_a_part(bed: Bed) -> None:
    """The host that has all of the input, 24 MB, writes a quarter of the output, and has room for that only."""
    bed.write_keys("in.u64", 3_000_000)
    wanted = bed.expect("in.u64")
    (bed.folder / "parts").mkdir()
    bed.hosts.on("h2", "mount -t tmpfs -o size=8m none parts")
    sort_input_of_h2(bed, "--inputs-here", *SMALL, "--parts", "-T", "scratch", "-o", "parts/{rank}.u64")
    bed.hosts.on("h2", "cp parts/1.u64 second.u64; umount parts")
    files = ["parts/0.u64", "second.u64", "parts/2.u64", "parts/3.u64"]
    if b"".join((bed.folder / name).read_bytes() for name in files) != wanted:
        raise Failed("the parts have other bytes")


CASES: dict[str, Callable[[Bed], None]] = {case.__name__: case for case in (
    equal_bytes, hosts_file, hosts_removed, stats, explained, memory_limited, one_slow_link, all_on_one_host, deferred,
    room_for_a_part)} | FAILING | DIFFERING
LONG_CASES = {case.__name__: case for case in (network_bytes, more_memory, stopped)} | LONG_FAILING


def run(name: str, case: Callable[[Bed], None], options: argparse.Namespace) -> int:
    """Returns the status."""
    begin = time.monotonic()
    with network.Network(4) as hosts:
        if not options.long:  # Open MPI's mpirun gives processes 3 s to end, however soon they do
            hosts.environment[SIGKILL_TIMEOUT] = "0"
        bed = Bed(hosts, options.bin.resolve(), options.seed)
        bed.rounds, bed.phases = options.rounds, options.phases
        try:
            case(bed)
        except Failed as failure:
            said = bed.said() if (bed.folder / "said").exists() else ""
            print(f"FAILED: {name}: {failure}", *(f"  {line}" for line in said.splitlines()), sep="\n")
            return 1
        except LeftOut as reason:
            print(f"left out: {name}: {reason}", flush=True)
            return SKIPPED
    print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    return 0


@contextlib.contextmanager
def beside(words: list[str]) -> Iterator[subprocess.Popen | None]:
    """This program with these words, at the same time, if there are any."""
    if not words:
        yield None
        return
    with subprocess.Popen(["setpriv", "--pdeathsig", "TERM", sys.executable, __file__, *words]) as program:
        try:
            yield program
        except BaseException:
            program.terminate()
            raise


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of the programs")
    parser.add_argument("--long", action="store_true", help="all cases, also those that take many minutes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1, help="of kills")
    parser.add_argument("--phases", nargs="+", default=list(PHASES), choices=PHASES, help="in which is killed")
    parser.add_argument("cases", nargs="*", help="all, if none is named")
    options = parser.parse_args()
    cases = {name: case for name, case in (CASES | LONG_CASES).items()
             if name in options.cases or (not options.cases and (options.long or name in CASES))}
    reason = "there is no mpirun, or gsort-mpi was not built; tools/setup installs Open MPI" \
        if network.launcher_of(options.bin / "gsort-mpi") is None else network.why_not()
    if reason:
        print(f"skipped: {reason}. Left out: {', '.join(cases)}")
        return SKIPPED
    if network.is_inside():
        return run(options.cases[0], cases[options.cases[0]], options)
    before = network.interfaces_and_mounts()
    common = ["--bin", str(options.bin), "--seed", str(options.seed), "--rounds", str(options.rounds),
              *(["--long"] if options.long else []), "--phases", *options.phases]
    waiting = [] if options.cases else WAITING
    with beside([*waiting, *common] if waiting else []) as others:
        status = {name: network.go_inside(name, *common) for name in cases if name not in waiting}
        if others:
            status["waiting"] = others.wait()
    if network.interfaces_and_mounts() != before:
        return print("FAILED: interfaces or mounts of this machine have changed") or 1
    left_out = [name for name in status if status[name] == SKIPPED]
    if left_out:
        print(f"{len(left_out)} of {len(status)} cases were left out: {', '.join(left_out)}")
    return max(0 if name in left_out else status[name] for name in status) or (SKIPPED if len(left_out) == len(status) else 0)


if __name__ == "__main__":
    sys.exit(main())
