#!/usr/bin/env python3
"""Ends the real program at the worst moments, and looks at what is left.

 points    SIGKILL or SIGTERM right before and right after the Nth call of every kind that changes a file
 random    SIGKILL at random times
 signals   INT, TERM, HUP, QUIT, XCPU at random times: it must die of that very signal
 crowd     eight sorts at once into one folder and one output, some of them killed
 again     a sort that can be resumed is killed several times on its way; the runs that are there never become fewer
           until the output is in place

Afterwards the output is the old file or the new one, whole, the inputs are as they were, and no temporary file is left
but the runs of a sort that can be resumed: it must go on with them, come to the same bytes, and leave none.
One exception is counted: SIGKILL between giving the new file a hidden name and renaming it leaves that name. It must
be the whole output, and the next sort with the same output must remove it.

Usage: crashes.py --bin DIR --shim FILE --count N [--seed N] [--kinds KIND,...] [SORT...]
"""

import argparse
import os
import random
import re
import signal
import sys
import time

import bench

CALLS = ["open", "pwrite", "write", "fsync", "fdatasync", "ftruncate", "fchmod", "fallocate", "link", "rename",
         "unlink", "close"]
WINDOW = ["link:1:kill-after", "rename:1:kill-before", "link:1:term-after", "rename:1:term-before"]  # a hidden name
HIDDEN = re.compile(r"\.gsort-[0-9a-f]{16}")
MOMENTS = ["kill-before", "kill-after", "term-before", "term-after"]
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU]
SHORT = ["one_chunk", "spilling", "resumable", "several_passes", "in_place", "pipes", "records", "merged", "counted",
         "gzip"]


class Crashes:
    def __init__(self, options):
        self.random = random.Random(options.seed)
        self.options = options
        self.done = self.failed = self.hidden = 0

    def note(self, what: str, place: bench.Bench, status: int, allowed: set[int], output: bytes):
        """`allowed` are the statuses it may end with; with that of SIGKILL among them, it may leave a hidden name."""
        self.done += 1
        if -signal.SIGKILL in allowed and self.has_hidden_name(place):
            self.hidden += 1
            place.run()
        problems = place.changes()
        if status not in allowed:
            problems.append(f"status {status}")
        if not place.old_or_whole(output):
            problems.append("the output is neither the old one nor the new one")
        if status == 0 and output != place.wanted:
            problems.append("it exits with 0, but the output is wrong")
        if problems:
            self.failed += 1
            print(f"  FAILED {what}: " + "; ".join(problems), flush=True)

    @staticmethod
    def has_hidden_name(place: bench.Bench) -> bool:
        return any(HIDDEN.fullmatch(path.name) and path.parent == place.out.parent and path.read_bytes() == place.wanted
                   for path in place.files().keys() - place.before.keys())

    def points(self, place: bench.Bench, count: int):
        for turn in range(-len(WINDOW), count):
            call, moment = self.random.choice(CALLS), self.random.choice(MOMENTS)
            nth = int(self.random.choice([1, 2, 3, 10, 50, 200]) * self.random.uniform(1, 2))
            fault = f"{call}:{nth}:{moment}" if turn >= 0 else WINDOW[turn]
            status, _, output = place.run_with(fault)
            number = signal.SIGTERM if "term" in fault else signal.SIGKILL
            allowed = {-number} if place.was_hit else {0}
            self.note(fault, place, status, allowed, output)

    def with_signal(self, place: bench.Bench, number: int):
        process = place.start()
        delay = self.random.uniform(0, place.seconds * 1.1)
        time.sleep(delay)
        process.send_signal(number)
        status, _, output = place.finish(process)
        self.note(f"signal {number} after {delay:.4f} s", place, status, {0, -number}, output)

    def random_kills(self, place: bench.Bench, count: int):
        for _ in range(count):
            self.with_signal(place, signal.SIGKILL)

    def signals(self, place: bench.Bench, count: int):
        for _ in range(count):
            self.with_signal(place, self.random.choice(SIGNALS))

    def crowd(self, place: bench.Bench, count: int):
        if place.sort.to_pipe or place.sort.stdin or place.sort.resumes or place.sort.over:
            return
        for _ in range(max(count // 8, 1)):
            crowd = [place.start() for _ in range(8)]
            for process in crowd[::3]:
                time.sleep(self.random.uniform(0, place.seconds))
                process.kill()
            allowed = {0, -signal.SIGKILL}
            statuses = {place.finish(process)[0] for process in crowd}
            worst = max(statuses - allowed, default=0)  # most are not killed
            self.note(f"crowd {statuses}", place, worst, allowed, place.out.read_bytes())

    def again(self, place: bench.Bench, count: int):
        if not place.sort.resumes:
            return
        for _ in range(max(count // 4, 1)):
            elements = 0
            for _ in range(4):
                process = place.start()
                time.sleep(self.random.uniform(0, place.seconds))
                process.kill()
                status, _, output = place.finish(process)
                is_done = status == 0 or output == place.wanted  # it may be killed on its last steps
                found = 0 if is_done else place.elements_kept()
                self.done += 1
                if found < elements and not is_done:
                    self.failed += 1
                    print(f"  FAILED again: {elements} elements were kept, {found} are", flush=True)
                elements = found
            self.note("the last of four kills", place, status, {0, -signal.SIGKILL}, output)


def main() -> int:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    parser.add_argument("--count", type=int, required=True, help="crashes of each kind, over all sorts")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    parser.add_argument("--kinds", default="points,random,signals,crowd,again")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    crashes = Crashes(options)
    kinds = {"points": crashes.points, "random": crashes.random_kills, "signals": crashes.signals,
             "crowd": crashes.crowd, "again": crashes.again}
    names = options.sorts or SHORT
    for name in names:
        with bench.Bench(options, name) as place:
            for kind in options.kinds.split(","):
                kinds[kind](place, -(-options.count // len(names)))
    print(f"{crashes.done} crashes, {crashes.failed} failed; {crashes.hidden} left a hidden name, gone with the next sort")
    return 1 if crashes.failed else 0


if __name__ == "__main__":
    sys.exit(main())
