#!/usr/bin/env python3
"""Runs GNU sort in the experiments that test gsort's guarantees, and prints a line for each. Needs root. No test.

 kill      SIGKILL at random times
 in_place  the same, with the output over the input
 full      an output on a full disk
 damaged   a bit of a temporary file is flipped before the file is merged
 power     a power cut right after status 0, and at random times
 errors    a disk under the temporary folder that begins to refuse a fifth of all transfers
 memory    the peak of resident memory beside -S, and limits of address space from 20 MiB to 4 GiB
 files     limits of open files from 4 to 20, and of the size of a file
 planted   links at the output's name; the temporary folder exchanged for a link midway
 odd       lines that are no numbers

Usage: gnu_sort.py [--count N] [--seed N] [EXPERIMENT...]
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

import disks

NUMBERS = 700_000
FOLDERS = ("temporary", "place")
EXPERIMENTS = ("kill", "in_place", "full", "damaged", "power", "errors", "memory", "files", "planted", "odd")


class Experiments:
    def __init__(self, options, root: Path):
        self.options, self.root, self.random = options, root, random.Random(options.seed)
        numbers = [self.random.getrandbits(32) for _ in range(NUMBERS)]
        self.input = "".join(f"{number}\n" for number in numbers).encode()
        self.wanted = "".join(f"{number}\n" for number in sorted(numbers)).encode()
        begin = time.monotonic()
        self.start(self.new_place()).wait()
        self.seconds = time.monotonic() - begin

    def new_place(self) -> Path:
        for folder in FOLDERS:
            shutil.rmtree(self.root / folder, ignore_errors=True)
            (self.root / folder).mkdir()
        self.fill(self.root / "place")
        return self.root / "place"

    def fill(self, place: Path):
        (place / "in").write_bytes(self.input)
        (place / "out").write_bytes(disks.OLD)

    def start(self, place: Path, out: str = "out", temporary: Path | None = None) -> subprocess.Popen:
        return subprocess.Popen(["sort", "-n", "-S", "2M", "-T", temporary or self.root / "temporary", "in", "-o", out],
                                cwd=place, stderr=subprocess.PIPE)

    def status_under(self, limit: str) -> str:
        place = self.new_place()
        process = subprocess.run(["bash", "-c", f"ulimit {limit}; exec sort -n -T {self.root / 'temporary'} in -o out"],
                                 cwd=place, stderr=subprocess.PIPE, check=False)
        return f"status {process.returncode}, output {self.state_of(place / 'out', disks.OLD)}"

    def stopped_midway(self, place: Path, how: signal.Signals, **more) -> subprocess.Popen:
        process = self.start(place, **more)
        time.sleep(self.random.uniform(0, self.seconds))
        process.send_signal(how)
        return process

    def state_of(self, file: Path, old: bytes) -> str:
        content = file.read_bytes() if file.exists() else b""
        return "old" if content == old else "right" if content == self.wanted else "RUINED"

    def kill(self, count: int) -> Counter:
        found = Counter()
        for _ in range(count):
            place = self.new_place()
            self.stopped_midway(place, signal.SIGKILL).wait()
            found[f"output {self.state_of(place / 'out', disks.OLD)}"] += 1
            found["files left"] += any((self.root / "temporary").iterdir())
        return found

    def in_place(self, count: int) -> Counter:
        found = Counter()
        for _ in range(count):
            place = self.new_place()
            self.stopped_midway(place, signal.SIGKILL, out="in").wait()
            found[f"input and output {self.state_of(place / 'in', self.input)}"] += 1
        return found

    def full(self, _: int) -> Counter:
        place = self.new_place()
        disk = disks.Disk(self.root, "full", "ext4")
        disk.make("-m", "0")
        disk.mount()
        (disk.at / "out").write_bytes(disks.OLD)
        free = shutil.disk_usage(disk.at).free
        (disk.at / "others").write_bytes(bytes(free - len(self.wanted) // 2))
        status = self.start(place, out=str(disk.at / "out")).wait()
        found = Counter([f"status {status}, output {self.state_of(disk.at / 'out', disks.OLD)}"])
        disk.unmount()
        return found

    def damaged(self, count: int) -> Counter:
        found = Counter()
        while sum(found.values()) < count:
            place = self.new_place()
            process = self.stopped_midway(place, signal.SIGSTOP)
            files = [file for file in (self.root / "temporary").iterdir() if file.stat().st_size > 1000]
            if process.poll() is None and files:
                with self.random.choice(files).open("r+b") as file:
                    file.seek(500)
                    digit = file.read(1)
                    file.seek(500)
                    file.write(bytes([digit[0] ^ 1]))
                process.send_signal(signal.SIGCONT)
                found[f"status {process.wait()}, output {self.state_of(place / 'out', disks.OLD)}"] += 1
            else:
                process.kill()
                process.wait()
        return found

    def power(self, count: int) -> Counter:
        found = Counter()
        base, disk, cut = (disks.Disk(self.root, f"power-{name}", "ext4") for name in ("base", "now", "cut"))
        base.make()
        base.mount()
        self.fill(base.at)
        base.unmount()
        for turn in range(count):
            base.copy_to(disk)
            disk.mount()
            process = self.start(disk.at)
            if turn % 2 == 0:
                process.wait()
            else:
                time.sleep(self.random.uniform(0, 1.1 * self.seconds))
            status = disks.cut_power(process, disk, cut)
            when = "midway" if status is None else f"after status {status}"
            found[f"{when}: output {self.state_of(cut.at / 'out', disks.OLD)}"] += 1
            cut.unmount()
        return found

    def errors(self, count: int) -> Counter:
        found = Counter()
        disk = disks.Disk(self.root, "failing", "ext4")
        for _ in range(count):
            place = self.new_place()
            disk.make()
            with disks.FailingDisk(disk, self.root) as failing:
                process = self.start(place, temporary=disk.at)
                time.sleep(self.random.uniform(0, self.seconds / 2))
                failing.break_down()
                try:
                    status = process.wait(disks.SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    status = process.wait()
            found[f"status {status}, output {self.state_of(place / 'out', disks.OLD)}"] += 1
        return found

    def memory(self, _: int) -> Counter:
        found = Counter()
        for given in (1, 2, 4, 8):
            self.new_place()
            process = subprocess.Popen(["sort", "-n", "-S", f"{given}M", "-T", "../temporary", "in", "-o", "out"],
                                       cwd=self.root / "place")
            most = 0
            while process.poll() is None:
                peak = re.search(r"sort\n.*VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text(), re.S)
                most = max(most, int(peak[1]) if peak else 0)
                time.sleep(0.001)
            found[f"-S {given}M: {most / 1024:.1f} MiB at most"] += 1
        for limit in (20, 30, 40, 60, 80, 100, 200, 400, 1000, 2000, 4000):
            found[f"{limit} MiB of addresses: {self.status_under(f'-v {limit * 1024}')}"] += 1
        return found

    def files(self, _: int) -> Counter:
        found = Counter()
        for limit in (4, 5, 6, 7, 8, 12, 16, 20):
            place = self.new_place()
            process = subprocess.run(["bash", "-c", f"ulimit -n {limit}; exec sort -n -S 1M -T ../temporary in -o out"],
                                     cwd=place, stderr=subprocess.PIPE, check=False)
            state = self.state_of(place / "out", disks.OLD)
            found[f"{limit} open files: status {process.returncode}, output {state}"] += 1
        found[f"files of 1 MiB: {self.status_under('-f 1024')}"] += 1
        return found

    def planted(self, _: int) -> Counter:
        found = Counter()
        for kind in (os.symlink, os.link):
            place = self.new_place()
            (place / "of_others").write_bytes(disks.OLD)
            (place / "out").unlink()
            kind(place / "of_others", place / "out")
            self.start(place).wait()
            kept = (place / "of_others").read_bytes() == disks.OLD
            found[f"{kind.__name__}: the other name is {'as it was' if kept else 'WRITTEN OVER'}"] += 1
        place = self.new_place()
        process = self.stopped_midway(place, signal.SIGSTOP)
        (self.root / "others").mkdir(exist_ok=True)
        (self.root / "temporary").rename(self.root / "moved")
        (self.root / "temporary").symlink_to(self.root / "others")
        process.send_signal(signal.SIGCONT)
        most = 0
        while process.poll() is None:
            most = max(most, len(os.listdir(self.root / "others")))
            time.sleep(0.002)
        found[f"folder exchanged: status {process.returncode}, {most} files of keys in the other folder"] += 1
        (self.root / "temporary").unlink()
        shutil.rmtree(self.root / "moved")
        return found

    def odd(self, _: int) -> Counter:
        found = Counter()
        for text in ("12x", "abc", "", "1 2", "0x10", "nan", "\0"):
            place = self.new_place()
            (place / "in").write_bytes(f"3\n{text}\n1\n".encode())
            found[f"a line of {text!r}: status {self.start(place).wait()}"] += 1
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT")
    options = parser.parse_args()
    names = options.experiments or EXPERIMENTS
    print(subprocess.run(["sort", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0])
    with tempfile.TemporaryDirectory() as root:
        experiments = Experiments(options, Path(root))
        for name in names:
            found = getattr(experiments, name)(options.count)
            seen = [f"{count} x {what}" for what, count in sorted(found.items()) if count]
            print(f"{name}: " + "; ".join(seen), flush=True)


if __name__ == "__main__":
    main()
