#!/usr/bin/env python3
"""Sorts by several processes that share files: --form, --take, --join. Random inputs, shares and parts, against one
gsort; and processes that are killed at random times, repeated, and run twice at once, with the same bytes each time.
Also the Makefile of the guide.

Usage: shares.py --gsort PROGRAM [--seconds S] [--seed N]"""

import argparse
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[2] / "src/SHARES.md"
KINDS = [["-t", "u32"], ["-t", "u64", "-r"], ["-t", "f64"], ["-t", "i16"], ["-t", "u8", "-r"],
         ["-t", "u128"], ["-t", "i128", "-r"],
         ["--record=12", "--key=4:u32"], ["--record=20", "--key=0:bytes3", "-r"],
         # Nothing but keys:
         ["--record=8", "--key=0:u32", "--key=4:u32"], ["--record=8", "--key=4:i32r", "--key=0:bytes4"],
         ["--record=16", "--key=0:u64", "--key=8:u64"], ["--record=16", "--key=0:bytes16", "-r"]]

MOST_SORTS = 50  # for lack of kills


class Sort:
    """One sort by several processes, in a folder of its own."""

    def __init__(self, gsort: str, folder: Path, chance: random.Random, elements: int):
        self.gsort, self.folder, self.chance = gsort, folder, chance
        self.kind = chance.choice(KINDS)
        self.shares, self.parts = chance.choice([1, 2, 3, 4, 5, 6, 12]), chance.randint(1, 6)
        # Few runs at once, so that there are up to three rounds of merging; and a file for each part.
        self.rounds = chance.choice([[], ["--batch-size=2"], ["--batch-size=3"]])
        self.own = chance.choice([None, None, [], ["-u"], ["--compress=zstd"], ["--format=bin:text"]])
        self.memory = ["-S", "16M", "--parallel=2"]
        size = 12 * 20 * (elements // 20)  # whole elements of every kind
        alphabet = chance.choice([b"\0\1", bytes(range(256)), b"\0\0\0\7"])
        data = os.urandom(size) if len(alphabet) == 256 else bytes(chance.choices(alphabet, k=size))
        (folder / "in").write_bytes(data)
        if self.own == ["--format=bin:text"] and self.kind[0] != "-t":
            self.own = ["-u"]
        self.run([*self.kind, *(self.own or []), "in", "-o", "want"], check=True)

    def run(self, arguments: list[str], check: bool = False) -> int:
        done = subprocess.run([self.gsort, *self.memory, *arguments], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        if check and done.returncode != 0:
            sys.exit(f"{self.gsort} {' '.join(arguments)}: status {done.returncode}\n{done.stderr}")
        return done.returncode

    def start(self, arguments: list[str]) -> subprocess.Popen:
        return subprocess.Popen([self.gsort, *self.memory, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def form(self, share: int) -> list[str]:
        return [*self.kind, f"--form=runs{share}", f"--share={share}/{self.shares}", "in"]

    def take(self, part: int) -> list[str]:
        folders = [f"runs{share}" for share in range(self.shares)]
        self.chance.shuffle(folders)
        return [f"--take={part}/{self.parts}", f"--from={','.join(folders)}", *(self.own or []), *self.rounds,
                "-o", self.output()]

    def join(self) -> list[str]:
        return [f"--join={self.parts}", "-o", self.output()]

    def output(self) -> str:
        return "out" if self.own is None else "out-{}"

    def outputs(self) -> list[str]:
        return ["out"] if self.own is None else [f"out-{part}" for part in range(self.parts)]

    def steps(self) -> list[list[list[str]]]:
        """The commands that may run at once, in the order of those that may not."""
        return [[self.form(i) for i in range(self.shares)], [self.take(i) for i in range(self.parts)], [self.join()]]

    def require_output(self, what: str) -> None:
        wanted = (self.folder / "want").read_bytes()
        written = b"".join((self.folder / output).read_bytes() for output in self.outputs())
        if self.own == ["--compress=zstd"]:  # members of other lengths
            written, wanted = (subprocess.run(["zstd", "-dc"], input=each, capture_output=True, check=True).stdout
                               for each in (written, wanted))
        if written != wanted:
            sys.exit(f"{what}: other bytes than one gsort: {self.kind}, {self.own}, {self.rounds}, {self.shares} shares, "
                     f"{self.parts} parts")
        left = {path.name for path in self.folder.iterdir()}
        left -= {"in", "want", *self.outputs(), *(f".{output}.gsort-joined" for output in self.outputs()),
                 *(f"runs{share}" for share in range(self.shares))}
        if left:
            sys.exit(f"{what}: left behind: {sorted(left)}")


def require_good(process: subprocess.Popen) -> None:
    if process.wait() != 0:
        sys.exit(f"{' '.join(process.args)}: status {process.returncode}")


def kill_after(process: subprocess.Popen, seconds: float) -> bool:
    """Returns whether it was killed then. Otherwise it has come to a good end before."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        if process.wait() == -signal.SIGKILL:
            return True
    require_good(process)
    return False


def killed_and_repeated(sort: Sort) -> int:
    """Kills every process a few times. Returns how often."""
    kills = 0
    for step in sort.steps():
        for arguments in step:
            for _ in range(sort.chance.randint(1, 4)):
                kills += kill_after(sort.start(arguments), sort.chance.uniform(0.0005, 0.06))
            sort.run(arguments, check=True)
    # Files left by a last kill are gone when the same command has run again.
    sort.require_output("killed")
    return kills


def one_of_two_killed(sort: Sort) -> int:
    """Every process runs twice at once, and one of the two is killed, but not the other. Returns how many were killed."""
    kills = 0
    for step in sort.steps():
        for arguments in step:
            pair = [sort.start(arguments), sort.start(arguments)]
            sort.chance.shuffle(pair)
            kills += kill_after(pair[0], sort.chance.uniform(0.0005, 0.06))
            require_good(pair[1])
            sort.run(arguments, check=True)  # removes what the killed one has left
    sort.require_output("one of two killed")
    return kills


def with_another_number(sort: Sort) -> None:
    """Some parts are taken, and one is killed; then there are more or fewer of them. Shares stay as many as they were."""
    for arguments in sort.steps()[0]:
        sort.run(arguments, check=True)
    for arguments in sort.steps()[1][1:]:
        sort.run(arguments, check=True)
    kill_after(sort.start(sort.steps()[1][0]), sort.chance.uniform(0.0005, 0.03))
    sort.parts = sort.chance.choice([parts for parts in range(1, 8) if parts != sort.parts])
    sort.shares += 1
    folder = {path: path.read_bytes() for path in (sort.folder / "runs0").iterdir()}
    if sort.run(sort.form(0)) != 2 or any(path.read_bytes() != there for path, there in folder.items()):
        sys.exit(f"a share of {sort.shares - 1} was taken for one of {sort.shares}")
    sort.run(sort.form(sort.shares - 1), check=True)
    if sort.run(sort.take(0)) != 2:
        sys.exit(f"shares of {sort.shares - 1} and {sort.shares} were merged")
    shutil.rmtree(sort.folder / f"runs{sort.shares - 1}")
    sort.shares -= 1
    for step in sort.steps()[1:]:
        for arguments in step:
            sort.run(arguments, check=True)
    sort.require_output("with another number of parts")


def twice_at_once(sort: Sort) -> None:
    with ThreadPoolExecutor(6) as pool:
        for step in sort.steps():
            list(pool.map(lambda arguments: sort.run(arguments, check=True), step + step))
    sort.require_output("twice at once")


def plain(sort: Sort) -> None:
    for step in sort.steps():
        for arguments in step:
            sort.run(arguments, check=True)
    sort.require_output("one after the other")


def by_make(gsort: str, folder: Path) -> None:
    """The Makefile of the guide; and a second time with only what a failure has left out."""
    if shutil.which("make") is None:
        return print("left out: there is no make")
    makefile, = re.findall(r"^## make$.*?^```$\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.S | re.M)
    (folder / "Makefile").write_text(makefile)
    (folder / "big.u64").write_bytes(os.urandom(800_000))
    (folder / "bin").mkdir()
    program = folder / "bin/gsort"
    program.write_text(f'#!/bin/sh\ncase $1 in --take=3/*) [ -e may-take ] || exit 1;; esac\nexec {shlex.quote(str(gsort))} "$@"\n')
    program.chmod(0o755)
    environment = os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "LC_ALL": "C", "MAKEFLAGS": ""}
    subprocess.run([gsort, "big.u64", "-o", "want"], cwd=folder, check=True)

    def make(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run(["make", "--keep-going", "-j2", *words], cwd=folder, env=environment, capture_output=True,
                              text=True, check=False)

    failed = make()
    (folder / "may-take").touch()
    done = make()
    if failed.returncode == 0 or done.returncode != 0 or (folder / "sorted.u64").read_bytes() != (folder / "want").read_bytes():
        sys.exit(f"the guide's Makefile: {failed.stdout}{failed.stderr}{done.stdout}{done.stderr}")
    if re.findall(r"gsort --(\w+=\d+)", done.stdout) != ["take=3", "join=6"] or "up to date" not in make().stdout:
        sys.exit(f"the guide's Makefile does again what is done: {done.stdout}")
    make("clean").check_returncode()
    known = {"Makefile", "bin", "big.u64", "want", "sorted.u64", "may-take", ".sorted.u64.gsort-joined"}
    if left := {*os.listdir(folder)} - known:
        sys.exit(f"the guide's Makefile leaves {left}")
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gsort", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    options = parser.parse_args()
    gsort = str(Path(options.gsort).resolve())
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="gsort-shares-") as folder:
        by_make(gsort, Path(folder))
    chance = random.Random(options.seed)
    end = time.monotonic() + options.seconds
    sorts, kills, kills_of_pairs = 0, 0, 0
    while sorts < 5 or time.monotonic() < end or (sorts < MOST_SORTS and 0 in (kills, kills_of_pairs)):
        folder = Path(tempfile.mkdtemp(prefix="gsort-shares-"))
        try:
            elements = chance.choice([0, 20, 100, 5000, 100_000])
            sort = Sort(gsort, folder, chance, elements)
            way = sorts % 5
            if way == 0:
                plain(sort)
            elif way == 1:
                kills += killed_and_repeated(sort)
            elif way == 2:
                with_another_number(sort)
            elif way == 3:
                kills_of_pairs += one_of_two_killed(sort)
            else:
                twice_at_once(sort)
        finally:
            shutil.rmtree(folder)
        sorts += 1
    if kills == 0 or kills_of_pairs == 0:
        sys.exit(f"no process was killed in {sorts} sorts: {kills} alone, {kills_of_pairs} of two")
    print(f"{sorts} sorts, {kills} kills, {kills_of_pairs} of one of two: all bytes are those of one gsort")
    return 0


if __name__ == "__main__":
    sys.exit(main())
