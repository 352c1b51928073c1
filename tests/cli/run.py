#!/usr/bin/env python3
"""Runs tests of the command line against the built gsort.

A golden file holds cases as a user would see them at a terminal:

    == a_name_that_says_what_happens
    $ gsort no-such-file -o out
    ! gsort: opening no-such-file: No such file or directory
    !   <...>
    [2]

"$ " starts a command for bash, lines of stdout follow as they are, lines of stderr after "! ", and an exit
status other than 0 in brackets. "<...>" stands for any text in a line. A case runs in an empty folder. Beyond
what is written, these hold for every command:
  - a gsort that exits with 2 says one message of the form `gsort: WHAT WHERE: WHY`, with a hint;
  - a command that exits with 2 leaves every file as it was, and adds none;
  - with --follow-hints, its hint, followed to the letter, does what it says (hints.py);
  - the folder for temporary files, $TMPDIR, is empty afterwards.
Cases that need more than bash are Python functions in scenarios.py, and in the modules that it is followed by below.

Usage: run.py --bin DIR [--tools DIR] [--seed N] (--list | --of-all-types | NAME... | FILE...)
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ANY = "<...>"
SKIPPED = 77  # the exit status that ctest takes for "skipped"


class Skipped(Exception):
    """Says why a case cannot run here."""


@dataclass
class Command:
    text: str
    stdout: list[str] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)
    status: int = 0


def parse_golden(path: Path) -> dict[str, list[Command]]:
    cases: dict[str, list[Command]] = {}
    commands: list[Command] = []
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            commands = cases.setdefault(f"{path.stem}.{line[3:]}", [])
        elif line.startswith("$ "):
            commands.append(Command(line[2:]))
        elif line.startswith("! "):
            commands[-1].stderr.append(line[2:])
        elif re.fullmatch(r"\[\d+\]", line):
            commands[-1].status = int(line[1:-1])
        elif line.startswith("#") or not line:
            continue
        else:
            commands[-1].stdout.append(line)
    return cases


def matches(expected: list[str], actual: str) -> bool:
    lines = actual.splitlines()
    if len(lines) != len(expected):
        return False
    patterns = (".*".join(map(re.escape, line.split(ANY))) for line in expected)
    return all(re.fullmatch(pattern, line) for pattern, line in zip(patterns, lines))


def file_fingerprint(path: Path) -> str:
    facts = path.stat()
    if facts.st_blocks * 512 < facts.st_size // 2:  # a file of holes would take for ever
        return f"{facts.st_size} bytes changed at {facts.st_mtime_ns}"
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except PermissionError:
        return "unreadable"


def fingerprints(folder: Path) -> dict[str, str]:
    """The files of a folder, by content; also the names of links and of other entries."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = "-> " + os.readlink(path)
        elif path.is_file():
            found[name] = file_fingerprint(path)
        else:
            found[name] = "no file"
    return found


def message_problem(text: str) -> str | None:
    """Is this one message, `gsort: WHAT WHERE: WHY` and a way out?"""
    lines = text.splitlines()
    if not lines or not re.fullmatch(r"gsort: \S.*: \S.*", lines[0]):
        return "the message is not 'gsort: WHAT WHERE: WHY'"
    if len(lines) < 2 or not all(re.fullmatch(r"  \S.*", line) for line in lines[1:]):
        return "under the message there is no line with the way out"
    return None


class Workplace:
    """A folder for one test: work/ where commands run, tmp/ for temporary files, and an environment."""

    def __init__(self, bin_folder: Path, tool_folder: Path, root: Path):
        self.work, self.tmp = root / "work", root / "tmp"
        self.follows_hints = False
        root.chmod(0o755)
        self.work.mkdir()
        self.tmp.mkdir()
        self.tmp.chmod(0o1777)
        self.work.chmod(0o777)
        self.gsort = bin_folder / "gsort"
        path = [str(HERE / "helpers"), str(bin_folder), str(tool_folder), "/usr/bin", "/bin"]
        self.environment = {
            "PATH": ":".join(path), "LC_ALL": "C.UTF-8", "HOME": str(self.work), "TMPDIR": str(self.tmp),
            "CUDA_CACHE_DISABLE": "1",  # the driver's, which would be in the folder that is looked at
            # Sanitizers shall not be taken for a status of gsort's own.
            **{name: f"{os.environ.get(name, '')}:exitcode=99".lstrip(":")
               for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")},
        }
        for name in ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "QEMU_CPU", "QEMU_PAGESIZE"):
            if name in os.environ:
                self.environment[name] = os.environ[name]

    def bash(self, text: str, **more) -> subprocess.CompletedProcess:
        return subprocess.run(["bash", "-c", "umask 022\n" + text], cwd=self.work, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=560, text=True,
                              errors="backslashreplace", **more)

    def bash_bytes(self, text: str) -> bytes:
        return subprocess.run(["bash", "-c", text], cwd=self.work, env=self.environment, check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout

    def leftovers(self) -> list[str]:
        return [str(path) for path in self.tmp.rglob("*")]


def run_command(place: Workplace, command: Command) -> list[str]:
    before = fingerprints(place.work) if command.status == 2 else None
    done = place.bash(command.text)
    problems = []
    if done.returncode == SKIPPED:
        raise Skipped(done.stdout + done.stderr)
    if done.returncode != command.status:
        problems.append(f"status {done.returncode}, not {command.status}")
    if not matches(command.stdout, done.stdout):
        problems.append("another stdout")
    if not matches(command.stderr, done.stderr):
        problems.append("another stderr")
    if done.returncode == 2 and "gsort" in command.text.split():
        problems += filter(None, [message_problem(done.stderr)])
    if done.returncode == command.status == 2 and fingerprints(place.work) != before:
        problems.append("it failed, but files have changed")
    if place.leftovers():
        problems.append(f"temporary files are left: {place.leftovers()}")
    if place.follows_hints and done.returncode == command.status == 2:
        import hints  # here, because most cases need none

        problems += hints.problems_with(place, command.text, done.stderr)
    if problems:
        problems += [f"stdout: {line}" for line in done.stdout.splitlines()]
        problems += [f"stderr: {line}" for line in done.stderr.splitlines()]
        problems.append("files: " + ", ".join(fingerprints(place.work)))
    return problems


def run_golden(place: Workplace, commands: list[Command]) -> bool:
    for command in commands:
        problems = run_command(place, command)
        print("$", command.text)
        for problem in problems:
            print("   ", problem)
        if problems:
            return False
    return True


def all_scenarios() -> dict[str, object]:
    sys.path.insert(0, str(HERE))
    import limits  # noqa: F401  these add their scenarios to the others
    import pipes  # noqa: F401
    import replacing  # noqa: F401
    import scenarios
    import security  # noqa: F401

    return {f"scenario.{name}": function for name, function in scenarios.all_scenarios().items()}


def all_cases(names: list[str]) -> dict[str, object]:
    """The cases of the files that have these; without names, all. A process that runs one case starts in half the time."""
    files = {name.partition(".")[0] for name in names}
    cases: dict[str, object] = {}
    for path in sorted((HERE / "golden").glob("*.txt")):
        if not names or path.stem in files:
            cases.update(parse_golden(path))
    return cases if names and "scenario" not in files else cases | all_scenarios()


def cases_of(name: str, cases: dict[str, object]) -> list[str]:
    """The case of this name, or all cases of the golden file."""
    found = [name] if name in cases else [case for case in cases if case.startswith(f"{name}.")]
    if not found:
        sys.exit(f"there is no case {name}")
    return found


def is_of_types(case) -> bool:
    """Whether it tries some of the key types (helpers/key-types), or of what a scenario lists."""
    return any("key-types)" in command.text for command in case) if isinstance(case, list) else hasattr(case, "tries_some")


def run_case(case, options) -> bool:
    root = Path(tempfile.mkdtemp(prefix="gsort-cli-", dir=options.scratch))
    try:
        place = Workplace(options.bin.resolve(), options.tools.resolve(), root)
        place.follows_hints = options.follow_hints
        place.environment |= {"SEED": str(options.seed), "KEY_TYPES": "all" if options.of_all_types else ""}
        return run_golden(place, case) if isinstance(case, list) else case(place)
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, default=Path("build/release/bin"))
    parser.add_argument("--tools", type=Path, default=Path("build/release/tests"))
    parser.add_argument("--scratch", help="where the folders of the cases are made")
    parser.add_argument("--follow-hints", action="store_true")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="chooses what the cases try")
    parser.add_argument("--of-all-types", action="store_true", help="the cases that try some of the key types or of a list, with all")
    parser.add_argument("--without", metavar="REGEX", help="leaves out cases whose names contain this")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    cases = all_cases(options.names)
    if options.list:
        print("\n".join(cases))
        return 0
    if options.of_all_types:
        cases = {name: case for name, case in cases.items() if is_of_types(case)}
    results = []
    for name in [case for name in options.names or cases for case in cases_of(name, cases)]:
        if options.without and re.search(options.without, name):
            continue
        begin = time.monotonic()
        try:
            result = "ok" if run_case(cases[name], options) else "FAILED"
        except Skipped as reason:
            print(reason)
            result = "skipped"
        results.append(result)
        print(f"{result}: {name} --seed {options.seed} ({time.monotonic() - begin:.2f} s)", flush=True)
    return 1 if "FAILED" in results else 0 if "ok" in results else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
