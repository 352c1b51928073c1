#!/usr/bin/env python3
"""At each of its calls, kills --join or runs another --join: the output is then the old or the new one, the same --join succeeds
afterwards, and of the hidden files only its record stays (src/pipeline/share/part_state.hpp). By default, tries some of the
calls, which a seed chooses.

Usage: joins.py --bin FOLDER --shim SHIM [--all | --seed N]"""

import argparse
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from preload import preloadable  # noqa: E402

CALLS = ["open", "rename", "link", "unlink", "fsync", "pwrite"]
ACTIONS = ["kill-before", "kill-after", "run"]
FEWER = 18  # by default, one call in so many
PARTS, OLD = 3, b"the old output"
FAST = Path("/dev/shm")


class Joins:
    """The hidden files of all parts, and the output that they replace: one file, or one for each part."""

    def __init__(self, folder: Path, arguments: argparse.Namespace, is_own: bool):
        self.arguments, self.work, self.saved = arguments, folder / "work", folder / "saved"
        self.output = "out-{}" if is_own else "out"
        self.outputs = [f"out-{part}" for part in range(PARTS)] if is_own else ["out"]
        self.work.mkdir()
        keys = [place * 7919 % 251 for place in range(3_000)]
        (self.work / "in").write_bytes(struct.pack("<3000Q", *keys))
        self.wanted = struct.pack("<3000Q", *sorted(keys))
        self.must("-t", "u64", "--form=runs", "--share=0/1", "in")
        for part in range(PARTS):
            self.must(f"--take={part}/{PARTS}", "--from=runs", "-o", self.output)
        (self.work / self.outputs[0]).write_bytes(OLD)
        shutil.copytree(self.work, self.saved)

    def run(self, *words: str, fault: str = "") -> tuple[int, str]:
        environment = {"PATH": os.environ["PATH"], "GSORT_CACHE": "off"}
        if fault:
            # The other --join runs without faults.
            again = f"env -u LD_PRELOAD -u GSORT_FAULT '{self.arguments.bin}/gsort' --join={PARTS} -o '{self.output}' 2> other"
            environment |= {"LD_PRELOAD": str(preloadable(self.arguments.shim)), "GSORT_FAULT": fault, "GSORT_FAULT_HIT": "hit",
                            "GSORT_FAULT_RUN": again}
        done = subprocess.run([self.arguments.bin / "gsort", *words], cwd=self.work, capture_output=True, text=True, check=False,
                              env=environment, timeout=120)
        return done.returncode, done.stderr

    def must(self, *words: str) -> None:
        status, message = self.run(*words)
        if status != 0:
            raise SystemExit(f"gsort {' '.join(words)}: status {status}: {message}")

    def problems(self, fault: str) -> list[str] | None:
        """Returns the problems after a --join with this fault; None if the fault does not occur."""
        shutil.rmtree(self.work)
        shutil.copytree(self.saved, self.work)
        join = [f"--join={PARTS}", "-o", self.output]
        status, message = self.run(*join, fault=fault)
        if not (self.work / "hit").exists():
            return None
        problems = []
        if fault.endswith("run") and (status != 0 or (self.work / "other").read_text()):
            problems.append(f"status {status}: {message} {(self.work / 'other').read_text()}")
        first = (self.work / self.outputs[0]).read_bytes()
        if first not in (OLD, self.wanted[:len(first)]):
            problems.append("the output is neither the old nor the new one")
        for time in ("after it", "once more"):
            status, message = self.run(*join)
            if status != 0:
                problems.append(f"the same command {time}: status {status}: {message}")
        if b"".join((self.work / name).read_bytes() for name in self.outputs if (self.work / name).exists()) != self.wanted:
            problems.append("another output")
        hidden = sorted(path.name for path in self.work.iterdir() if path.name.startswith("."))
        if hidden != [f".{name}.gsort-joined" for name in self.outputs]:
            problems.append(f"hidden files stay: {hidden}")
        return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--shim", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    print("seed", arguments.seed)
    tried = failures = 0
    for is_own in (False, True):
        with tempfile.TemporaryDirectory(prefix="gsort-joins-", dir=FAST if FAST.is_dir() else None) as name:
            joins = Joins(Path(name), arguments, is_own)
            for call in CALLS:
                for action in ACTIONS:
                    step = 1 if arguments.all else FEWER
                    nth = 1 if arguments.all else chance.randint(1, step)
                    while (problems := joins.problems(f"{call}:{nth}:{action}")) is not None:
                        tried += 1
                        failures += len(problems)
                        for problem in problems:
                            print(f"FAILED: {joins.output}, {call}:{nth}:{action}: {problem}")
                        nth += step
    print(f"{tried} faults, {failures} failures")
    return int(failures > 0 or tried == 0)


if __name__ == "__main__":
    sys.exit(main())
