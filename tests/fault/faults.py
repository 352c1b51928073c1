#!/usr/bin/env python3
"""Makes calls of the real program fail, one after the other, and looks at what is left.

The library that shim.cpp makes lets the Nth call of a kind go wrong. For every sort of sorts.py, every kind of call and
every error that makes sense for it, N = 1, 2, ... until a run comes through without meeting the fault; or, with --every, the
first call and one at random from each place in the code, as a first run without a fault has noted them. A run passes if
  - it exits with 0, and the output is right to the last byte, and no failure to sync was passed over; or
  - it exits with 2, with one message of the form `gsort: WHAT WHERE: WHY` that tells of that call (verdicts.py), and the
    old output is as it was;
and in both cases no file is left in the folder of the output or of temporary files, and the inputs are as they were.
A call that is interrupted (EINTR, EAGAIN) or moves only a part must end no sort, a refused thread none but those that need
one, and only oneTBB's if it was given when it was asked for. Sorts on a GPU are left out where there is none.

Usage: faults.py --bin DIR --shim FILE [--every] [--jobs N] [--share N] [--seed N] [--calls CALL,...] [--group MIB] [SORT...]
"""

import argparse
import errno
import itertools
import os
import random
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Iterable

import bench
import sorts
import verdicts
from memory_group import NoGroup, memory_group

ACTIONS = {
    "open": ["EMFILE", "EACCES", "ENOMEM", "EINTR"],
    "read": ["EIO", "EINTR", "EAGAIN", "short"],
    "pread": ["EIO", "EINTR", "EINVAL", "short"],
    "write": ["EIO", "EPIPE", "EINTR", "EAGAIN", "short"],
    "pwrite": ["EIO", "ENOSPC", "EDQUOT", "EFBIG", "EINTR", "EINVAL", "short"],
    "fsync": ["EIO", "ENOSPC", "EINTR"],
    "fdatasync": ["EIO", "EINTR"],
    "sync_file_range": ["EIO"],
    "close": ["EIO", "EINTR"],
    "rename": ["EIO", "ENOSPC", "EINTR"],
    "link": ["EIO", "ENOSPC", "ENOENT"],
    "unlink": ["EIO"],
    "ftruncate": ["EIO", "EFBIG", "EINTR"],
    "fallocate": ["EOPNOTSUPP", "ENOSPC"],
    "fchmod": ["EPERM"],
    "fchown": ["EPERM"],
    "xattr": ["EIO", "ENOMEM"],
    "stat": ["EIO", "ENOMEM"],
    "mmap": ["ENOMEM"],
    "malloc": ["ENOMEM"],
    "pthread_create": ["EAGAIN"],
}
ONCE = {"EINTR", "EAGAIN", "short", "EINVAL"}  # for ever they would be no outcome


@dataclass
class Fault:
    call: str
    action: str
    persistent: bool

    def text(self, nth: int) -> str:
        number = getattr(errno, self.action, self.action)
        return f"{self.call}:{nth}:{number}" + (":on" if self.persistent else "")

    def must_be_survived(self) -> bool:
        """The call was interrupted, or did a part of its work: once more, and no user hears of it."""
        return self.action in ("EINTR", "short") or (self.action == "EAGAIN" and self.call in ("read", "write"))

    def breaks_the_promise(self) -> bool:
        return self.call == "fsync" and self.action not in ONCE


def all_faults() -> list[Fault]:
    faults = []
    for call, actions in ACTIONS.items():
        for action in actions:
            faults.append(Fault(call, action, False))
            if action not in ONCE or call == "pthread_create":
                faults.append(Fault(call, action, True))
    return faults


def steps():
    """1, 2, 3, ..., and then with growing strides."""
    nth, stride = 1.0, 1.0
    while True:
        yield int(nth)
        if nth >= 8:
            stride *= 1.5
        nth += stride


def could_do_without(sort: sorts.Sort, message: str) -> bool:
    """Without the thread that was refused. CUDA's library needs its own, and has errors for that; oneTBB needs those that
    the system has just given to the program."""
    if verdicts.OF_TASKS.match(message):
        return False
    if sort.on_gpu:
        return not re.search(r"no usable NVIDIA GPU|\(cudaError\w+\)", message)
    return not sort.needs_threads


def problems_of(place: bench.Bench, fault: Fault, nth: int, of_place: str = "") -> list[str]:
    status, message, output = place.run_with(fault.text(nth), of_place)
    problems = place.changes()
    if status == 0:
        problems += ["it exits with 0, but the output is wrong"] * (output != place.wanted)
        if place.was_hit and fault.breaks_the_promise() and not place.sort.resumes:  # that syncs once more, to tidy up
            problems.append("it exits with 0, but may not be on the disk")
    elif status == 2:
        # After a failure to sync the folder the new output is in place; only a power cut could take it away. So it is
        # when only a report is missing.
        told = "the new output is in place" in message or "the sorted output is in place" in message
        in_place = output == place.wanted and told
        if output != place.old and not in_place and not place.sort.to_pipe:
            problems.append("it failed, but the old output is gone")
        if fault.call == "pthread_create" and could_do_without(place.sort, message):
            problems.append("it could have done without the thread")
        for one in (verdicts.single_messages(message) if place.sort.each else []) or [message]:
            unexpected = verdicts.problem_of(one, fault, place.sort.on_gpu)
            problems += filter(None, [bench.run.message_problem(one), unexpected])
    else:
        problems.append(f"status {status}")
    return [*problems, f"message: {message!r}"] if problems else []


@dataclass
class Count:
    hits: int = 0
    failed: int = 0

    def look(self, place: bench.Bench, fault: Fault, nth: int, of_place: str = ""):
        problems = problems_of(place, fault, nth, of_place)
        self.hits += place.was_hit
        if problems:
            self.failed += 1
            where = f" at place {of_place}" if of_place else ""
            print(f"  FAILED {fault.text(nth)} ({fault.action}){where}: " + "; ".join(problems), flush=True)

    def sweep(self, place: bench.Bench, fault: Fault, numbers: Iterable[int]):
        for nth in numbers:
            self.look(place, fault, nth)
            if not place.was_hit:
                return


def chosen_faults(options, sort: sorts.Sort, turn: int) -> list[Fault]:
    return [fault for number, fault in enumerate(all_faults(), turn)
            if number % options.share == 0 and fault.call not in sort.without
            and (not options.calls or fault.call in options.calls.split(","))]


def meet_some(options, name: str, turn: int, job: int) -> Count:
    """One job's part of the faults of one sort, in folders of its own."""
    count = Count()
    with bench.Bench(options, name) as place:
        for fault in chosen_faults(options, place.sort, turn):
            count.sweep(place, fault, itertools.islice(steps(), job, None, options.jobs))
    return count


def meet_all(options, name: str, calls: Counter, job: int) -> Count:
    """One job's part of the faults of each place of one sort."""
    count, pick, told = Count(), random.Random(f"{options.seed}/{name}"), time.monotonic()
    cases = [(fault, nth, of_place) for fault in chosen_faults(options, sorts.all_sorts()[name], 0)
             for (call, of_place), most in sorted(calls.items()) if call == fault.call
             for nth in sorted({1, pick.randint(1, most)})]
    pick.shuffle(cases)
    own = cases[job::options.jobs]
    with bench.Bench(options, name) as place:
        for number, (fault, nth, of_place) in enumerate(own):
            count.look(place, fault, nth, of_place)
            if job == 0 and time.monotonic() > told + 10:
                told = time.monotonic()
                print(f"  {name}: {100 * number // len(own)} % of {len(cases)} cases", flush=True)
    return count


def meet(options, name: str, turn: int) -> Count:
    total, work = Count(), lambda job: meet_some(options, name, turn, job)
    if options.every:
        with bench.Bench(options, name) as place:
            calls = place.calls()
        work = lambda job: meet_all(options, name, calls, job)
    with ThreadPoolExecutor(options.jobs) as pool:
        for part in pool.map(work, range(options.jobs)):
            total.hits += part.hits
            total.failed += part.failed
    return total


def main() -> int:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    parser.add_argument("--every", action="store_true", help="fail calls of each place in the code, not the Nth of all")
    parser.add_argument("--jobs", type=int, help="sorts at the same time (default: one; with --every one a core)")
    parser.add_argument("--share", type=int, default=1, help="one fault of so many, another for every sort")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="chooses faults, and calls of a place")
    parser.add_argument("--calls", help="only these, with commas between them")
    options = parser.parse_args()
    options.jobs = options.jobs or (len(os.sched_getaffinity(0)) if options.every else 1)
    print(f"--seed {options.seed}", flush=True)
    total = Count()
    known = sorts.all_sorts()
    if unknown := set(options.sorts) - known.keys():
        parser.error(f"no such sorts: {', '.join(unknown)}")
    wanted = {name: turn for turn, name in enumerate(known) if not options.sorts or name in options.sorts}
    reason = bench.why_no_gpu(options) if any(known[name].on_gpu for name in wanted) else ""
    if reason:
        print(f"sorts on a GPU are left out: {reason}")
        if bench.gpu_is_expected():
            return 1
        wanted = {name: turn for name, turn in wanted.items() if not known[name].on_gpu}
    if not wanted:
        return bench.run.SKIPPED
    if options.group:
        try:
            with memory_group(options.group):
                pass
        except NoGroup as problem:
            print(problem)
            return bench.run.SKIPPED
    for name, turn in wanted.items():
        begin = time.monotonic()
        for share in range(options.share):  # if a sort meets none of these faults, tries the next share
            count = meet(options, name, turn + share + options.seed)
            if count.hits:
                break
        print(f"{name}: met {count.hits} faults, {count.failed} times wrong, {time.monotonic() - begin:.0f} s", flush=True)
        total.hits += count.hits
        total.failed += count.failed
    print(f"{total.hits} faults, {total.failed} failed")
    return 1 if total.failed or not total.hits else 0


if __name__ == "__main__":
    sys.exit(main())
