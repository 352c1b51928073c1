"""A folder in which one sort is run again and again, whole or not, and what must hold afterwards."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("cli", "support")]
import run  # noqa: E402  folders of tests, and what messages look like
import sorts  # noqa: E402
from memory_group import memory_group  # noqa: E402
from preload import preloadable  # noqa: E402

OLD = b"what was there before"  # in place of the output, where that is not an input
TMPFS = "/dev/shm"
SECONDS = 60  # no sort here takes two; one that takes this long hangs
HANGS = -1000  # in place of an exit status


def add_arguments(parser):
    parser.add_argument("--bin", type=Path, required=True, help="the folder of gsort and gsort-gen")
    parser.add_argument("--shim", type=Path, required=True, help="the library that shim.cpp makes")
    parser.add_argument("--group", type=int, metavar="MIB", help="with all files in a tmpfs, in a memory cgroup of this size")
    parser.add_argument("sorts", nargs="*", help="names of sorts.py; all")


def why_no_gpu(options) -> str:
    """The message of gsort if it must use one; empty if there is one."""
    command = [options.bin / "gsort", "--engine=cuda", "--explain", "-t", "u32", "-o", "/dev/null"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode not in (0, 2):
        raise SystemExit(f"gsort --engine=cuda --explain ended with {done.returncode}: {done.stderr}")
    return done.stderr.partition("\n")[0] if done.returncode else ""


def gpu_is_expected() -> bool:
    """As tests/support/gpu_expected.hpp says."""
    if "GSORT_TEST_GPU" in os.environ:
        return os.environ["GSORT_TEST_GPU"] != "0"
    return os.environ.get("CUDA_VISIBLE_DEVICES") not in ("", "-1") and Path("/dev/nvidiactl").exists()


def print_stacks(pid: int):
    """The call for which each thread of a process waits, if there is a debugger."""
    if shutil.which("gdb"):
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(["gdb", "-batch", "-p", str(pid), "-ex", "thread apply all backtrace 16"],
                           stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False)


class Bench:
    def __init__(self, options, name: str):
        self.sort = sorts.all_sorts()[name]
        self.stack = contextlib.ExitStack()
        self.enter = self.stack.enter_context(memory_group(options.group)) if options.group else []
        self.root = Path(tempfile.mkdtemp(prefix="gsort-fault-", dir=TMPFS if options.group else None))
        self.place = run.Workplace(options.bin.resolve(), options.bin.resolve(), self.root)
        self.folders = [self.place.work, self.place.tmp, self.root / "other-tmp"]
        self.folders[2].mkdir()
        self.shim, self.hit, self.was_hit = preloadable(options.shim), self.root / "hit", False
        self.place.bash(self.sort.make, check=True)
        self.out = self.place.work / (self.sort.over or "out")
        self.outs = [self.place.work / f"out{i}" for i in range(self.sort.parts)] or [self.out]
        self.old = self.out.read_bytes() if self.sort.over else OLD
        if self.sort.each:
            (self.place.work / "outs").mkdir()
            self.outs = [self.place.work / "outs" / name for name in self.sort.each]
        self.wholes: list[bytes] = []  # what each output of several sorts is to be
        wanted = self.sort.wanted(self.place.work)
        begin = time.monotonic()
        status, message, self.wanted = self.run()
        self.seconds = time.monotonic() - begin
        if status != 0 or self.sort.decoded(self.wanted) != wanted:
            raise SystemExit(f"{name}: wrong before anything was done to it: {status} {message}")
        self.wholes = [out.read_bytes() for out in self.outs] if self.sort.each else []
        self.before = self.files()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)
        self.stack.close()

    def files(self) -> dict:
        """All files but the output, with the facts that change when they do: no program can set the last of them."""
        outputs = {*self.outs, self.outs[0].parent}
        return {path: (path.stat().st_size, path.stat().st_mtime_ns, path.stat().st_ctime_ns)
                for folder in self.folders for path in folder.rglob("*") if path not in outputs}

    def start(self, variables: dict | None = None) -> subprocess.Popen:
        self.hit.unlink(missing_ok=True)
        # The shell that enters the group must not meet the fault.
        given = [f"{name}={value}" for name, value in (variables or {}).items()] if self.enter else []
        command = [*self.enter, *["env"] * bool(given), *given, self.place.gsort, *self.sort.arguments]
        if self.sort.parts:
            for part in self.outs:
                part.unlink(missing_ok=True)
            command += ["-o", "out{}"]
        elif self.sort.each:
            for out in self.outs:
                out.write_bytes(self.old)
            command += ["-o", "outs"]
        elif not self.sort.to_pipe:
            self.out.write_bytes(self.old)
            command += ["-o", self.out.name]
        feed = None
        if self.sort.stdin:
            feed = subprocess.Popen(["cat", self.sort.stdin], cwd=self.place.work, stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL)
        try:
            return subprocess.Popen(command, cwd=self.place.work, stdin=feed.stdout if feed else subprocess.DEVNULL,
                                    env={**self.place.environment, **({} if self.enter else variables or {})}, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
        finally:
            if feed:
                feed.stdout.close()

    def finish(self, process: subprocess.Popen) -> tuple[int, str, bytes]:
        """Status, message, and what the output is afterwards."""
        try:
            stdout, stderr = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            print_stacks(process.pid)
            process.kill()
            process.communicate()
            return HANGS, "it hangs", b""
        return (process.returncode, stderr.decode(errors="backslashreplace"),
                stdout if self.sort.to_pipe else self.output())

    def output(self) -> bytes:
        """All parts, one after the other; without any, the old output. The same for several sorts; if one of them has kept its
        old output, the others may, too."""
        there = [part for part in self.outs if part.exists()]
        if self.sort.parts and len(there) < len(self.outs):
            return f"only {len(there)} of the parts".encode() if there else self.old
        contents = [part.read_bytes() for part in self.outs]
        if self.wholes and contents != self.wholes:
            both = [content in (self.old, whole) for content, whole in zip(contents, self.wholes)]
            return self.old if all(both) else b"one output is neither old nor new"
        return b"".join(contents)

    def run(self, variables: dict | None = None) -> tuple[int, str, bytes]:
        return self.finish(self.start(variables))

    def calls(self) -> Counter:
        """The number of calls by kind and place in the code, in a run without a fault."""
        noted = self.root / "places"
        self.run({"LD_PRELOAD": str(self.shim), "GSORT_FAULT_PLACES": str(noted)})
        return Counter(tuple(line.split()) for line in noted.read_text().splitlines())

    def run_with(self, fault: str, of_place: str = "") -> tuple[int, str, bytes]:
        """With a fault at the Nth call, or at the Nth one from a place in the code."""
        only = {"GSORT_FAULT_PLACE": of_place} if of_place else {}
        result = self.run({"LD_PRELOAD": str(self.shim), "GSORT_FAULT": fault, "GSORT_FAULT_HIT": str(self.hit)} | only)
        self.was_hit = self.hit.exists()  # the next run begins without
        return result

    def elements_kept(self) -> int:
        """In the runs from which the sort would go on."""
        explained = subprocess.run([self.place.gsort, *self.sort.arguments, "--explain=json", "-o", "out"],
                                   cwd=self.place.work, env=self.place.environment, capture_output=True, check=True)
        return json.loads(explained.stdout)["elements_to_resume"]

    def old_or_whole(self, output: bytes) -> bool:
        return self.sort.to_pipe or output in (self.old, self.wanted)

    def resumed(self) -> list[str]:
        """The fault of the sort that continues with the existing runs. An empty folder may be left: its maker is unknown."""
        folder = self.place.work / self.sort.resumes if self.sort.resumes else None
        if not folder or not folder.exists():
            return []
        status, message, output = self.run()
        if folder.exists() and not list(folder.iterdir()):
            folder.rmdir()
        if status != 0 or output != self.wanted:
            return [f"resumed, it ends with {status}: {message}"]
        return []

    def changes(self) -> list[str]:
        """The fault of files other than the output; removes files that were left."""
        problems = self.resumed()
        now = self.files()
        changed = [str(path) for path in self.before | now if self.before.get(path) != now.get(path)]
        for path in now.keys() - self.before.keys():
            path.unlink()
        return problems + [f"left or changed: {', '.join(changed)}"] * bool(changed)
