#!/usr/bin/env python3
"""What GNU sort does in the experiments that gsort's promises are tested with; a line for each. Needs root. No test.

 kill      SIGKILL at random times
 in_place  the same, with the output over the input
 full      an output on a full disk
 damaged   a bit of a temporary file is flipped before the file is merged
 power     a power cut right after status 0, and at random times
 errors    a disk under the temporary folder that begins to refuse a fifth of all transfers

Usage: gnu_sort.py [--count N] [--seed N] [EXPERIMENT...]
"""

import argparse
import random
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT")
    options = parser.parse_args()
    names = options.experiments or ["kill", "in_place", "full", "damaged", "power", "errors"]
    print(subprocess.run(["sort", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0])
    with tempfile.TemporaryDirectory() as root:
        experiments = Experiments(options, Path(root))
        for name in names:
            found = getattr(experiments, name)(options.count)
            print(f"{name}: " + "; ".join(f"{count} x {what}" for what, count in sorted(found.items()) if count), flush=True)


if __name__ == "__main__":
    main()
