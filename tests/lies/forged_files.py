#!/usr/bin/env python3
"""Files that lie: a file that --take and --join read is changed as a person who knows the formats could (forged.py), planted
by another user, or swapped under its name. Each command then ends right, or with an error and the old output, within its
memory. Every third trial has its files in a tmpfs and runs in a memory cgroup, if the machine allows it; every second one
has a call that fails.

Usage: forged_files.py --bin DIR [--shim FILE] [--trials N] [--seed N]
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / name) for name in ("fault", "cli", "support")]
sys.dont_write_bytecode = True
import faults  # noqa: E402  found by the line above
import forged  # noqa: E402
import run  # noqa: E402  what a message looks like
from memory_group import NoGroup, memory_group  # noqa: E402
from preload import preloadable  # noqa: E402
from share_jobs import FORGED_MIB, OLD, PEAK_OF  # noqa: E402

TMPFS = "/dev/shm"
GROUP_MIB = 96
NOBODY = 65534
KINDS = {"one_file": (["-t", "u32"], [], ["out"]), "own_files": (["-t", "u64"], ["-u"], ["out-0", "out-1"]),
         "records": (["--record=12", "--key=4:i32"], [], ["out"])}
SECONDS = 60
FORGERIES = {}


def forgery(function):
    FORGERIES[function.__name__] = function
    return function


class Trial:
    def __init__(self, options, pick: random.Random, kind: str, folder: Path, enter: list[str], fault: str):
        self.element, self.result, self.names = KINDS[kind]
        self.pick, self.folder, self.enter, self.fault, self.shim = pick, folder, enter, fault, options.shim
        self.gsort = options.bin.resolve() / "gsort"
        self.output = "out" if self.names == ["out"] else "out-{}"
        for name in self.names:
            (folder / name).write_bytes(OLD)
        (folder / "in").write_bytes(pick.randbytes(24) * 5 + pick.randbytes(24 * 6000))
        self.must("in", *self.element, *self.result, "-o", "want")
        for share in "01":
            self.must(*self.element, f"--form=r{share}", f"--share={share}/2", "in")

    def run(self, *words: str, variables=(), enter=()) -> tuple[int, str]:
        command = [*enter, *(["env", *variables] if variables else []), self.gsort, f"-S{FORGED_MIB}M", "--parallel=2", *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS)
        return done.returncode, done.stderr

    def must(self, *words: str):
        status, message = self.run(*words)
        if status:
            raise SystemExit(f"gsort {' '.join(words)}: status {status}: {message}")

    def take(self, part: int) -> list[str]:
        return [f"--take={part}/2", "--from=r0,r1", *self.result, "-o", self.output]

    def take_all(self):
        for part in 0, 1:
            self.must(*self.take(part))

    def hidden(self, *kinds: str) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if any(f".gsort-{kind}-" in path.name for kind in kinds))

    def try_all(self) -> list[str]:
        """The takes and the join, the first attempt of each perhaps with a fault. Returns what is wrong."""
        status, joined = 0, False
        for words in self.take(0), self.take(1), ["--join=2", "-o", self.output]:
            if self.fault:
                first, _ = self.run(*words, variables=[f"LD_PRELOAD={self.shim}", f"GSORT_FAULT={self.fault}"], enter=self.enter)
                joined = first == 0 and words[0] == "--join=2"
            status, message = self.run(*words, enter=[*self.enter, sys.executable, "-c", PEAK_OF])
            peak = int((self.folder / "peak").read_text()) / 1024
            if peak > FORGED_MIB:
                return [f"{words[0]}: it takes {peak:.1f} MiB, -S was {FORGED_MIB}M"]
            if status not in (0, 2) or (status == 2 and run.message_problem(message)) or (status == 0 and message):
                return [f"{words[0]}: status {status}: {message!r}"]
        found = [(self.folder / name).read_bytes() for name in self.names]
        if status == 0 and b"".join(found) != (self.folder / "want").read_bytes():
            return ["joined, but it is another output"]
        # A forged record may hide from the second --join that the first one has made the output.
        is_made = joined and b"".join(found) == (self.folder / "want").read_bytes()
        if status == 2 and found != [OLD] * len(found) and not is_made:
            return [f"it failed, and the old output is gone: {message!r}"]
        return []


# Each changes a file and returns whether an output may be right that differs from the one of the inputs.
@forgery
def a_manifest_or_an_index(trial: Trial) -> bool:
    return forged.forge_manifest(trial.folder / trial.pick.choice(["r0", "r1"]), trial.pick)


@forgery
def a_record(trial: Trial) -> bool:
    trial.take_all()
    forged.forge_record(trial.pick.choice(trial.hidden("part")), trial.pick)
    return False


@forgery
def a_record_of_another_user(trial: Trial) -> bool:
    """It says that a part is complete, and the part is zeros."""
    trial.take_all()
    record = trial.pick.choice(trial.hidden("part"))
    data = trial.hidden("parts", "own")[0]
    data.write_bytes(bytes(data.stat().st_size))
    for path in trial.hidden("part"):
        path.unlink() if path != record else os.chown(path, NOBODY, -1)
    return False


@forgery
def a_data_file_that_was_swapped(trial: Trial) -> bool:
    trial.take_all()
    data = trial.pick.choice(trial.hidden("parts", "own"))
    content = bytearray(data.read_bytes())
    content[trial.pick.randrange(len(content))] ^= 1
    time.sleep(0.02)  # a tick of the file system's clock
    if trial.pick.random() < 0.5:
        (trial.folder / "other").write_bytes(content)
        (trial.folder / "other").chmod(0o600)
        (trial.folder / "other").rename(data)
    else:
        data.write_bytes(content)
    return False


@forgery
def runs_that_were_swapped(trial: Trial) -> bool:
    """The runs of a share of other elements, under the manifest of this one, or the other way round."""
    other = trial.folder / "other"
    data = (trial.folder / "in").read_bytes()
    other.write_bytes(data[::-1])
    trial.must(*trial.element, "--form=r2", "--share=1/2", "other")
    other.unlink()
    name = trial.pick.choice(["gsort.runs", "gsort.manifest"])
    (trial.folder / "r2" / name).rename(trial.folder / "r1" / name)
    return False


def make_trial(options, number: int) -> list[str]:
    pick = random.Random(f"{options.seed}/{number}")
    forge = list(FORGERIES.values())[number % len(FORGERIES)]
    if forge is a_record_of_another_user and os.geteuid() != 0:
        return []
    kind = pick.choice(list(KINDS))
    in_memory = number % 3 == 0 and Path(TMPFS).is_mount()
    fault = pick.choice(faults.all_faults()).text(int(2 ** pick.uniform(0, 7))) if options.shim and number % 2 else ""
    with tempfile.TemporaryDirectory(prefix="gsort-forged-", dir=TMPFS if in_memory else None) as folder:
        with ExitStack() as stack:
            enter = []
            if in_memory:
                with suppress(NoGroup):
                    enter = stack.enter_context(memory_group(GROUP_MIB))
            trial = Trial(options, pick, kind, Path(folder), enter, fault)
            says_more = forge(trial)
            problems = trial.try_all()
        if says_more and problems == ["joined, but it is another output"]:
            problems = []
    return [f"{forge.__name__}, {kind}, fault {fault or 'none'}{', in memory' * in_memory}: {text}" for text in problems]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True, help="the folder of gsort")
    parser.add_argument("--shim", type=Path, help="the library that tests/fault/shim.cpp makes")
    parser.add_argument("--trials", type=int, default=15)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    parser.add_argument("--only", type=int, help="the trial of this number")
    options = parser.parse_args()
    options.shim = preloadable(options.shim) if options.shim else None
    print(f"--seed {options.seed}", flush=True)
    failed = 0
    for number in range(options.trials) if options.only is None else [options.only]:
        for problem in make_trial(options, number):
            failed += 1
            print(f"FAILED, --only {number}: {problem}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
