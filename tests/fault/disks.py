#!/usr/bin/env python3
"""Sorts on disks that fail, in file systems of their own on loop devices. Needs root; ends with 77 where it cannot work.

 power     what a power cut leaves: a copy of the disk, taken in the middle of a sort, is mounted again. The output on it is
           the old or the new one, whole; a sort that can be resumed goes on with what is there
 caches    the same on a disk with a cache of its own, which the cut empties: what was not flushed is lost (nbdkit)
 errors    a disk that begins to refuse a fifth of all transfers (nbdkit), under the temporary folder, output or input
 thin      a disk that promises more than it has, and loses what it was given

Usage: disks.py --bin DIR [--count N] [--seed N] [--file-systems ext4,xfs] [KIND...]
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import run  # noqa: E402  what messages look like

OLD = b"what was there before"
CANNOT = 77
MIB = 1 << 20
SIZES = {"ext4": 96, "xfs": 320}  # the least that mkfs takes, and room
SECONDS = 60


def call(*words, **more) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, **more)


def wait_until(holds):
    end = time.monotonic() + SECONDS
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("a disk does not come up")
        time.sleep(0.02)


class Disk:
    """An image with a file system, mounted at `at`."""

    def __init__(self, folder: Path, name: str, kind: str):
        self.image, self.at, self.kind = folder / f"{name}.img", folder / name, kind
        self.at.mkdir()

    def make(self, *options):
        with self.image.open("wb") as image:
            image.truncate(SIZES[self.kind] * MIB)
        call(f"mkfs.{self.kind}", "-q", *options, *(["-F"] if self.kind == "ext4" else ["-f"]), self.image)

    def mount(self, device: Path | None = None):
        call("mount", "-o", "loop" + (",nouuid" if self.kind == "xfs" else ""), device or self.image, self.at)

    def unmount(self):
        for _ in range(50):
            if subprocess.run(["umount", self.at], capture_output=True).returncode == 0:
                return
            time.sleep(0.1)  # a process that was killed still holds a file
        call("umount", "-l", self.at)

    def copy_to(self, other: "Disk"):
        call("cp", "--sparse=always", self.image, other.image)


def cut_power(process: subprocess.Popen, disk: Disk, cut: Disk) -> int | None:
    """Mounts a copy of the disk as it is now, in its place. The status of the process; None while it was at work."""
    process.send_signal(signal.SIGSTOP)
    status = process.poll()
    disk.copy_to(cut)
    process.kill()
    process.wait()
    disk.unmount()
    cut.mount()
    return status


class ServedDisk:
    """A disk whose image is reached through nbdkit, and what that does to it."""

    def __init__(self, disk: Disk, folder: Path, filter_name: str, *arguments: str):
        self.disk, self.socket, self.device = disk, folder / "nbd.sock", folder / "device"
        self.words = ["nbdkit", "-f", "-U", self.socket, f"--filter={filter_name}", "file", disk.image, *arguments]
        self.device.touch()

    def __enter__(self):
        self.socket.unlink(missing_ok=True)
        self.server = subprocess.Popen(self.words, stderr=subprocess.DEVNULL)
        wait_until(self.socket.exists)
        self.client = subprocess.Popen(["nbdfuse", self.device, "--unix", self.socket], stderr=subprocess.DEVNULL)
        wait_until(lambda: self.device.stat().st_size > 0)
        self.disk.mount(self.device)
        return self

    def __exit__(self, *_):
        self.disk.unmount()
        subprocess.run(["umount", self.device], capture_output=True)
        for process in self.client, self.server:
            process.kill()
            process.wait()


class FailingDisk(ServedDisk):
    """Refuses transfers once break_down() was called."""

    def __init__(self, disk: Disk, folder: Path):
        self.trigger = folder / "broken"
        super().__init__(disk, folder, "error", "error=EIO", "error-pread-rate=20%", "error-pwrite-rate=20%",
                         f"error-file={self.trigger}")

    def __enter__(self):
        self.trigger.unlink(missing_ok=True)
        return super().__enter__()

    def break_down(self):
        self.trigger.touch()

    def __exit__(self, *_):
        self.trigger.unlink(missing_ok=True)
        super().__exit__()


class CachingDisk(ServedDisk):
    """Keeps what is written to itself until it is told to flush, or loses it."""

    def __init__(self, disk: Disk, folder: Path):
        super().__init__(disk, folder, "cache", "cache=writeback")

    def lose_cache(self):
        self.server.kill()
        self.server.wait()


class Experiments:
    def __init__(self, options, root: Path):
        self.options, self.root = options, root
        self.random = random.Random(options.seed)
        self.environment = {**os.environ, "PATH": f"{options.bin.resolve()}:{os.environ['PATH']}"}
        self.done = self.failed = 0
        self.statuses = Counter()
        call("gsort-gen", "-t", "u32", "-n", 1_500_000, "-o", root / "in.u32", env=self.environment)
        call("gsort", root / "in.u32", "-o", root / "wanted", env=self.environment)
        self.wanted = (root / "wanted").read_bytes()

    def note(self, what: str, status: int | None, problems: list[str]):
        self.done += 1
        self.statuses[f"{what.split(',')[0]}: {'cut midway' if status is None else f'status {status}'}"] += 1
        if problems:
            self.failed += 1
            print(f"  FAILED {what}: " + "; ".join(problems), flush=True)

    def start(self, folder: Path, *arguments) -> subprocess.Popen:
        return subprocess.Popen([str(word) for word in ["gsort", *arguments]], cwd=folder, env=self.environment,
                                stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def place_input(self, folder: Path):
        shutil.copy(self.root / "in.u32", folder)
        (folder / "out").write_bytes(OLD)
        os.sync()

    def power(self, count: int):
        self.cut_often("power", count, self.cut_midway)

    def caches(self, count: int):
        self.cut_often("caches", count, self.cut_and_lose_cache)

    def cut_often(self, name: str, count: int, cut_at: Callable[[Disk, Disk, float, list[str]], int | None]):
        for kind in self.options.file_systems.split(","):
            base, disk, cut = (Disk(self.root, f"{name}-{kind}-{what}", kind) for what in ("base", "now", "cut"))
            base.make()
            base.mount()
            self.place_input(base.at)
            base.unmount()
            base.copy_to(disk)
            cut_at(disk, cut, SECONDS, ["--resume=runs"])
            cut.unmount()
            seconds = self.seconds
            for turn in range(count):
                how = ["--resume=runs"] if turn % 2 else []
                delay = self.random.uniform(0, 1.3 * seconds)
                base.copy_to(disk)
                status = cut_at(disk, cut, delay, how)
                problems = self.after_the_cut(cut.at, status, how)
                cut.unmount()
                self.note(f"{name} {kind} {' '.join(how)}, after {delay:.3f} s", status, problems)

    def start_and_wait(self, disk: Disk, delay: float, how: list[str]) -> subprocess.Popen:
        """A sort on the disk, `delay` seconds after its start, or when it has ended."""
        begin = time.monotonic()
        process = self.start(disk.at, "-S", "2M", "--batch-size=8", *how, "in.u32", "-o", "out")
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            pass
        self.seconds = time.monotonic() - begin
        return process

    def cut_midway(self, disk: Disk, cut: Disk, delay: float, how: list[str]) -> int | None:
        disk.mount()
        return cut_power(self.start_and_wait(disk, delay, how), disk, cut)

    def cut_and_lose_cache(self, disk: Disk, cut: Disk, delay: float, how: list[str]) -> int | None:
        with CachingDisk(disk, self.root) as caching:
            process = self.start_and_wait(disk, delay, how)
            process.send_signal(signal.SIGSTOP)
            status = process.poll()
            caching.lose_cache()
            process.kill()
            process.wait()
        disk.copy_to(cut)
        cut.mount()
        return status

    def after_the_cut(self, at: Path, status: int | None, how: list[str]) -> list[str]:
        problems = []
        output = (at / "out").read_bytes()
        if output not in (OLD, self.wanted) or (status == 0 and output != self.wanted):
            problems.append("the output is neither the old one nor the new one")
        if (at / "in.u32").read_bytes() != (self.root / "in.u32").read_bytes():
            problems.append("the input was changed")
        left = [path.name for path in at.iterdir() if path.name not in ("in.u32", "out", "runs", "lost+found")]
        if not all(name.startswith(".gsort-") for name in left):
            problems.append(f"left: {left}")
        again = self.start(at, "-S", "2M", *how, "in.u32", "-o", "out")
        _, message = again.communicate(timeout=SECONDS)
        if again.returncode != 0 or (at / "out").read_bytes() != self.wanted:
            problems.append(f"given again, it ends with {again.returncode}: {message!r}")
        if (at / "runs").exists() and list((at / "runs").iterdir()):
            problems.append("given again, it leaves runs")
        return problems

    def errors(self, count: int):
        disk = Disk(self.root, "failing", "ext4")
        disk.make()
        disk.mount()
        self.place_input(disk.at)
        disk.unmount()
        whole = disk.image.read_bytes()
        roles = {"temporary": ["-T", disk.at, "in.u32", "-o", "out"], "output": ["in.u32", "-o", disk.at / "out"],
                 "input": [disk.at / "in.u32", "-o", "out"]}
        for _ in range(count):
            role = self.random.choice(list(roles))
            disk.image.write_bytes(whole)
            (self.root / "out").write_bytes(OLD)
            status, message = self.sort_on_failing(disk, ["-S", "2M", "--direct-io=on", *roles[role]])
            self.note(f"errors under the {role}", status, self.judge(disk, role, status, message))

    def sort_on_failing(self, disk: Disk, arguments: list) -> tuple[int, str]:
        with FailingDisk(disk, self.root) as failing:
            process = self.start(self.root, *arguments)
            time.sleep(self.random.uniform(0, 0.3))
            failing.break_down()
            try:
                _, message = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                return -1000, "it hangs"
        return process.returncode, message.decode(errors="replace")

    def judge(self, disk: Disk, role: str, status: int, message: str) -> list[str]:
        output = (self.root / "out").read_bytes()
        if role == "output":
            disk.mount()  # the journal may bring back what was there before
            output = (disk.at / "out").read_bytes()
            disk.unmount()
        if status == 0:
            return ["status 0, but another output"] * (output != self.wanted)
        if status != 2:
            return [f"status {status}: {message!r}"]
        in_place = output == self.wanted and "the new output is in place" in message
        problems = ["it failed, and the old output is gone"] * (output != OLD and not in_place)
        return problems + list(filter(None, [run.message_problem(message)]))

    def thin(self, count: int):
        pool = self.root / "pool"
        pool.mkdir()
        for turn in range(count):
            call("mount", "-t", "tmpfs", "-o", f"size={2 + turn % 8}m", "tmpfs", pool)  # the runs take 6
            disk = Disk(pool, "thin", "ext4")
            disk.make("-O", "^has_journal")
            disk.mount()
            (self.root / "out").write_bytes(OLD)
            how = self.random.choice(["on", "off"])
            process = self.start(self.root, "-S", "2M", "--pack-runs=off", f"--direct-io={how}", "-T", disk.at, "in.u32",
                                 "-o", "out")
            _, message = process.communicate(timeout=SECONDS)
            self.note(f"thin, --direct-io={how}", process.returncode,
                      self.judge(disk, "temporary", process.returncode, message.decode(errors="replace")))
            disk.unmount()
            call("umount", pool)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of gsort and gsort-gen")
    parser.add_argument("--count", type=int, default=4, help="experiments of each kind (and file system)")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    parser.add_argument("--file-systems", default="ext4")
    parser.add_argument("kinds", nargs="*", default=["power", "thin"])
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if os.environ.get("GSORT_OWN_MOUNTS") is None:  # private mounts, gone with this process
        unshare = ["unshare", "--mount", "--propagation", "private"]
        try:
            call(*unshare, "true")
        except FileNotFoundError as problem:
            print(f"no mounts of its own: {problem}")
            return CANNOT
        except subprocess.CalledProcessError as problem:
            print(f"no mounts of its own: {problem.stderr.decode().strip()}")
            return CANNOT
        command = [*unshare, sys.executable, "-B", *sys.argv]
        return subprocess.run(command, env={**os.environ, "GSORT_OWN_MOUNTS": "1"}).returncode
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="gsort-disks-") as root:
        try:
            probe = Disk(Path(root), "probe", "ext4")
            probe.make()
            probe.mount()
            probe.unmount()
        except (subprocess.CalledProcessError, FileNotFoundError) as problem:
            print(f"no file system can be mounted here: {problem}")
            return CANNOT
        os.environ["PATH"] = f"{options.bin.resolve()}:{os.environ['PATH']}"
        experiments = Experiments(options, Path(root))
        for kind in options.kinds:
            getattr(experiments, kind)(options.count)
    for what, times in sorted(experiments.statuses.items()):
        print(f"  {what}: {times}")
    print(f"{experiments.done} experiments, {experiments.failed} failed")
    return 1 if experiments.failed else 0


if __name__ == "__main__":
    sys.exit(main())
