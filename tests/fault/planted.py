#!/usr/bin/env python3
"""Does tools/soak see what is wrong? Each fault of damage.py is planted by a program named gsort that calls the real one and
then damages what came of it, in one call of so many; the soak, which does not know, must report it, as what it
is, within --minutes. With --control it must report nothing in that time where nothing is planted, and meet every option and
every kind of trouble that it draws.

Usage: planted.py --bin DIR --shim FILE [--every N] [--minutes M] [--patience S] [--control] [--some N [--seed N]] [KIND...]
"""

import argparse
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import damage

ROOT = Path(__file__).resolve().parents[2]
# Each is what the soak's report begins with. If a sort is killed after the damage, the soak only sees its output.
NEITHER = "the output is neither the old one nor the new one"
NOT_JOINED = "there is an output that was not joined"
OTHER_OUTPUT = (f"status 0, but another output|it is not what another sort makes|{NEITHER}|{NOT_JOINED}|joined: |"
                "nothing was to go wrong: 'gsort: joining the parts of|forged: status 0: ''")
REPORTS = {
    "wrong_byte": OTHER_OUTPUT, "lost_piece": OTHER_OUTPUT, "pieces_exchanged": OTHER_OUTPUT,
    "doubled_and_dropped": OTHER_OUTPUT, "order_broken": OTHER_OUTPUT,
    "old_output_destroyed": f"it failed, and the old output is gone|there is no output|{NEITHER}|{NOT_JOINED}",
    "temporary_file_left": "left or changed|left behind",
    "wrong_status": (r"status (?:[13]: |2: ''|0, and yet a message|0, but another output)|the message is not|"
                     r"(?:this is to be refused, but|forged): status [013]: |"
                     r"the least that was named, \w+, is not enough: status (?:[13]: |2: '')"),
    "hang": "it hangs",
    "memory_taken": r"it takes \d|status -9",
    "message_missing": "the message is not|(?:this is to be refused, but|forged): status 2: ''",
}


# Signals that come before Python can pass them on are ignored: then the sort comes to its end.
SCRIPT = """#!/bin/sh
read -r number < /proc/sys/kernel/random/uuid
[ $((0x${{number%%-*}} % {every})) -eq 0 ] || exec {real} "$@"
trap '' INT TERM HUP
exec {interpreter} -ISB -c {python} "$@"
"""


def make_bin(folder: Path, options, kind: str) -> Path:
    """A folder of programs as --bin is, with another gsort. Returns where that notes what it did."""
    log = folder / "planted"
    for name in ("gsort-gen", "reference-sort"):
        found = [place / name for place in (options.bin, options.bin.parent / "tests") if (place / name).exists()]
        (folder / name).symlink_to(found[0].resolve())
    (folder / "libgsort_fault_shim.so").symlink_to(options.shim.resolve())
    real, here = (options.bin / "gsort").resolve(), Path(__file__).parent
    python = (f"import sys; sys.path.insert(0, {str(here)!r}); import damage; "
              f"damage.main({str(real)!r}, {kind!r}, {str(log)!r})")
    program = folder / "gsort"
    program.write_text(SCRIPT.format(every=options.every, real=shlex.quote(str(real)), interpreter=sys.executable,
                                     python=shlex.quote(python)))
    program.chmod(0o755)
    return log


def problem_with(options, kind: str) -> str | None:
    """The fault of the soak's report."""
    with tempfile.TemporaryDirectory(prefix="gsort-planted-") as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        (folder / "scratch").mkdir()
        log = make_bin(folder / "bin", options, kind)
        patience = ["--patience", str(options.patience)] if kind == "hang" else []
        # Only without --scratch there are files in a tmpfs.
        more = ["--until-all-met"] if kind == "none" else ["--scratch", folder / "scratch"]
        done = subprocess.run([ROOT / "tools/soak", "--bin", folder / "bin", *more, "--minutes", str(options.minutes),
                               "--most-wrong", "1", *patience], capture_output=True, text=True)
        if kind == "none":
            is_well = done.returncode == 0 and not re.search(r"^NOT met: (?!a memory cgroup$)", done.stdout, re.MULTILINE)
            return None if is_well else done.stdout + done.stderr
        if not log.exists():
            return f"nothing was planted: {done.stdout}{done.stderr}"
        report = re.search(r"^case \d+ is wrong: (.*)", done.stdout, re.MULTILINE)
        if done.returncode != 1 or not report or not re.match(REPORTS[kind], report[1]):
            return f"planted: {log.read_text()}reported, with status {done.returncode}: {done.stdout}{done.stderr}"
        print(f"  {report[1][:100]}")
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of the real programs")
    parser.add_argument("--shim", type=Path, required=True, help="the library that shim.cpp makes")
    parser.add_argument("--every", type=int, default=20, help="one call of so many is damaged")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--patience", type=float, default=120, help="of the soak, for what hangs")
    parser.add_argument("--some", type=int, help="only so many kinds; a seed chooses them")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("kinds", nargs="*", help="of damage.py; all")
    parser.add_argument("--control", action="store_true", help="also plant nothing, and expect no report")
    options = parser.parse_args()
    failed = 0
    kinds = options.kinds or list(damage.KINDS)
    if options.some:
        print(f"--seed {options.seed}")
        kinds = random.Random(options.seed).sample(kinds, options.some)
    for kind in ["none"] * options.control + kinds:
        begin = time.monotonic()
        problem = problem_with(options, kind)
        failed += problem is not None
        print(f"{'FAILED' if problem else 'ok'}: {kind}, after {time.monotonic() - begin:.0f} s", problem or "", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
