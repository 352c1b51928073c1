#!/usr/bin/env python3
"""Tries every option at every door: the program, --form and --take, gsort-mpi with one process, and gsort_sort of the library.
Each door does what the program does, or ends with an error whose reason is in REFUSED. An option that is not in SAMPLES fails the
test, and so does a reason that no longer applies. By default, a seed chooses a third of the options.

Usage: doors.py --bin FOLDER --library LIBGSORT [--all | --seed N]"""

import argparse
import contextlib
import ctypes
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from option_coverage import parse_table


@dataclass
class Sample:
    """How an option is used."""

    words: str
    output: str = "out.u64"  # "": the command has none
    inputs: list[str] = field(default_factory=lambda: ["in.u64"])


BOTH = ["a.u64", "b.u64"]
FAST = Path("/dev/shm")
SAMPLES = {
    "--type": Sample("-t bytes20"), "--endian": Sample("--endian=big"), "--reverse": Sample("-r"),
    "--float-order": Sample("--float-order=total"), "--record": Sample("--record=8 --key=0:u64"), "--key": Sample("--record=8 --key=4:u32"),
    "--unique": Sample("-u"), "--count": Sample("-u --count"), "--min-count": Sample("-u --count --min-count=7"),
    "--batch-elements": Sample("--batch-elements=100"), "--skip": Sample("--skip=8"),
    "--skip-end": Sample("--skip-end=8"), "--elements": Sample("--elements=7"),
    "--check": Sample("-c", "", ["a.u64"]), "-C": Sample("-C", ""), "--fingerprint": Sample("--fingerprint", ""),
    "--expect": Sample("--fingerprint --expect=0:0000000000000000:0000000000000000", ""),
    "--merge": Sample("-m", inputs=BOTH), "--intersect": Sample("-m --intersect", inputs=BOTH),
    "--subtract": Sample("-m --subtract", inputs=BOTH), "--top": Sample("--top=7"), "--argsort": Sample("--argsort"),
    "--shuffle": Sample("--shuffle=7"),
    "--each": Sample("--each", "folder"), "--split-output": Sample("--split-output=2", "out-{}.u64"),
    "--explain": Sample("--explain"), "--resume": Sample("--resume=kept"), "--inputs-here": Sample("--inputs-here"),
    "--files0-from": Sample("--files0-from=names", inputs=[]), "--replace": Sample("--replace=write"),
    "--format": Sample("--format=bin"), "--decompress": Sample("--decompress=none"), "--compress": Sample("--compress=none"),
    "--temporary-directory": Sample("-T ."), "--buffer-size": Sample("-S 64M"), "--gpu-memory": Sample("--gpu-memory=1G"),
    "--parallel": Sample("--parallel=1"), "--batch-size": Sample("--batch-size=4"), "--engine": Sample("--engine=cpu"),
    "--device": Sample("--device=0"), "--direct-io": Sample("--direct-io=off"), "--pack-runs": Sample("--pack-runs=off"),
    "--no-verify": Sample("--no-verify"), "--verify-encoding": Sample("--verify-encoding"), "-q": Sample("-q"), "-v": Sample("-v"),
    "--progress": Sample("--progress=never"), "--stats": Sample("--stats=stats"), "--trace": Sample("--trace=trace"),
    "--color": Sample("--color=never"), "--parts": Sample("--parts", "out-{rank}.u64"),
    "--peer-timeout": Sample("--peer-timeout=9"),
}
# These options name files or a door, or print a text.
NOT_SAMPLED = {"--output", "--form", "--share", "--take", "--from", "--join", "--help", "-h", "--version", "--generate"}

NOT_YET = "gsort-mpi does not have it yet"
UNKNOWN = "is unknown"
ONE_PROCESS = "only one process alone can do it"
WITH_TAKE = "give it with each --take, where -o has {} in the name"
WITH_FORM = "give it with --form only, which records it with the runs"
NOT_OF_CALL = "is not one of this call"
NEEDS_FORM = "needs --form"
OWN_FILE = "write each part to its own file: put {} into the name of -o"
ONE_OF_THEM = "leave out one of them"

# door -> reason -> the options that this door refuses for it.
REFUSED = {
    "program": {NEEDS_FORM: "--inputs-here", UNKNOWN: "--parts --peer-timeout"},
    "gsort-mpi": {
        NOT_YET: "--count --min-count --batch-elements --merge --intersect --subtract --argsort --each --split-output "
                 "--files0-from --replace --decompress --batch-size",
    },
    "--form": {
        WITH_TAKE: "--unique --count --min-count --compress --verify-encoding",
        ONE_PROCESS: "--check -C --fingerprint --expect --merge --intersect --subtract --top --argsort --each --split-output "
                     "--resume --batch-elements",
        "copy the elements into files of their own first": "--skip --skip-end --elements",
        "leave out -T: the runs stay in the folder of --form": "--temporary-directory",
        ONE_OF_THEM: "--replace", UNKNOWN: "--parts --peer-timeout",
    },
    "--take": {
        WITH_FORM: "--type --endian --reverse --float-order --record --key --shuffle --skip --skip-end --elements --no-verify",
        ONE_PROCESS: "--check -C --fingerprint --expect --merge --intersect --subtract --top --argsort --each --split-output "
                     "--resume --batch-elements",
        OWN_FILE: "--unique --count --min-count", "give inputs with --form only": "--files0-from", NEEDS_FORM: "--inputs-here", ONE_OF_THEM: "--replace",
        UNKNOWN: "--parts --peer-timeout",
    },
    "library": {
        NOT_OF_CALL: "--check -C --fingerprint --expect --each --explain --files0-from --stats --trace --inputs-here",
        UNKNOWN: "--parts --peer-timeout",
    },
}

class Door:
    """A way to run a sort. Each option runs in a folder of its own."""

    def __init__(self, name: str, arguments: argparse.Namespace):
        self.name, self.gsort, self.gsort_mpi = name, str(arguments.bin / "gsort"), str(arguments.bin / "gsort-mpi")
        self.library = ctypes.CDLL(str(arguments.library))
        self.library.gsort_error_message.restype = self.library.gsort_error_hint.restype = ctypes.c_char_p

    def call(self, sample: Sample) -> str:
        """Returns the error of gsort_sort, if there is one."""
        def strings(texts: list[str]) -> ctypes.Array:
            return (ctypes.c_char_p * (len(texts) + 1))(*(text.encode() for text in texts), None)
        inputs = sample.inputs or ["in.u64"]
        status = self.library.gsort_sort(strings(inputs), ctypes.c_size_t(len(inputs)), (sample.output or "out").encode(),
                                         strings(sample.words.split()), None)
        return f"{self.library.gsort_error_message().decode()} {self.library.gsort_error_hint().decode()}" if status else ""

    def commands(self, sample: Sample) -> list[list[str]]:
        words = sample.words.split()
        output = ["-o", sample.output] if sample.output else []
        if self.name in ("program", "gsort-mpi"):
            return [[self.gsort if self.name == "program" else self.gsort_mpi, *words, *sample.inputs, *output]]
        of_form, of_take = (words, []) if self.name == "--form" else ([], words)
        form = [self.gsort, "--form=runs", "--share=0/1", *of_form, *(sample.inputs if of_form else ["in.u64"])]
        take = [self.gsort, "--take=0/1", "--from=runs", *of_take, *(output or ["-o", "out"])]
        if "--explain" in words:
            return [form] if of_form else [form, take]
        return [form, take, [self.gsort, "--join=1", *output]]

    def run(self, sample: Sample) -> tuple[str, dict[str, bytes], str]:
        """Returns the error, else the new files and, if the sample has no output, exit status and stdout."""
        with tempfile.TemporaryDirectory(prefix="gsort-doors-", dir=FAST if FAST.is_dir() else None) as name:
            folder = Path(name)
            prepare(folder)
            before, stdout = {path.name for path in folder.iterdir()}, ""
            if self.name == "library":
                with contextlib.chdir(folder):
                    if error := self.call(sample):
                        return error, {}, ""
            for command in self.commands(sample) if self.name != "library" else []:
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                                      timeout=120, env={"PATH": os.environ["PATH"], "GSORT_CACHE": "off"})
                if done.returncode not in (0, 1) or (done.returncode == 1 and sample.output):
                    return " ".join((done.stderr or f"status {done.returncode}").split()), {}, ""
                stdout = f"{done.returncode} {done.stdout}" if not sample.output else ""
            files = {path.name.replace("out-0", "out"): path.read_bytes() for path in folder.rglob("*.u64")
                     if path.name not in before or path.parent.name == "folder"}
            return "", files, stdout


def prepare(folder: Path) -> None:
    chance = random.Random(5)
    keys = [chance.randrange(500) for _ in range(3_000)]
    (folder / "in.u64").write_bytes(struct.pack("<3000Q", *keys))
    for name, some in (("a", keys[:900]), ("b", keys[700:])):
        (folder / f"{name}.u64").write_bytes(struct.pack(f"<{len(some)}Q", *sorted(some)))
    (folder / "names").write_bytes(b"in.u64\0")
    (folder / "folder").mkdir()


def reason_of(door: str, option: str) -> str | None:
    return next((reason for reason, options in REFUSED[door].items() if option in options.split()), None)


def page_findings() -> list[str]:
    """The differences between REFUSED and the table of src/DESIGN.md of the doors at which an option works."""
    def works(door: str, option: str) -> bool:
        if door != "shares":
            return not reason_of(door, option)
        return not reason_of("--form", option) or reason_of("--take", option) in (None, OWN_FILE)

    page = (Path(__file__).resolve().parents[2] / "src/DESIGN.md").read_text(encoding="utf-8")
    head, *rows = [line.split("|")[1:-1] for line in page.splitlines() if re.match(r"\|(feature|`--)", line)]
    cells = [(option, door, cell) for row in rows for option in re.findall(r"`(--[a-z-]+)", row[0])
             for door, cell in zip(head, row) if door in ("shares", "gsort-mpi", "C, C++")]
    return [f"src/DESIGN.md says '{cell}' of {option} for {door}" for option, door, cell in cells
            if cell == ("no" if works("library" if door == "C, C++" else door, option) else "yes")]


def checks_need_a_gpu(gsort: str) -> list[str]:
    """The finding that a check uses a GPU, which the same table denies."""
    with tempfile.TemporaryDirectory(prefix="gsort-doors-") as name:
        prepare(Path(name))
        done = subprocess.run([gsort, "-c", "--engine=cuda", "a.u64"], cwd=name, capture_output=True, text=True, check=False,
                              env={"PATH": os.environ["PATH"], "CUDA_VISIBLE_DEVICES": ""})
    return [f"-c --engine=cuda without a GPU: {done.stderr}"] * (done.returncode != 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=lambda text: Path(text).resolve(), required=True, help="the folder of the programs")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--library", type=lambda text: Path(text).resolve(), required=True)
    arguments = parser.parse_args()
    programs = [program for name in ("gsort", "gsort-mpi") if (program := arguments.bin / name).exists()]
    options = set()
    for program in programs:
        table = subprocess.run([program, "--generate=fish"], capture_output=True, text=True, check=True).stdout
        options |= {f"--{option.name}" if option.name else f"-{option.letter}"
                    for option in parse_table(table.replace("gsort-mpi", "gsort"))}
    failures = page_findings() + checks_need_a_gpu(str(arguments.bin / "gsort"))
    failures += [f"{option} has no sample" for option in sorted(options - set(SAMPLES) - NOT_SAMPLED)]
    doors = {name: Door(name, arguments) for name in REFUSED if name != "gsort-mpi" or len(programs) > 1}
    known = sorted(options & set(SAMPLES))
    print("seed", arguments.seed)
    tried = known if arguments.all else random.Random(arguments.seed).sample(known, len(known) // 3)
    for option in tried:
        wanted = doors["program"].run(SAMPLES[option])
        for name, door in doors.items():
            found = wanted if name == "program" else door.run(SAMPLES[option])
            reason = reason_of(name, option)
            if reason and reason not in found[0]:
                failures.append(f"{option} at {name}: is not refused with '{reason}', but '{found[0] or 'does it'}'")
            elif not reason and found[0]:
                failures.append(f"{option} at {name}: {found[0]}")
            elif not reason and not wanted[0] and found[1:] != wanted[1:]:
                failures.append(f"{option} at {name}: another result, {list(found[1])} {found[2]!r} instead of {list(wanted[1])} {wanted[2]!r}")
    print("\n".join(failures))
    print(f"{len(tried)} options, {len(doors)} doors, {len(failures)} failures")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
