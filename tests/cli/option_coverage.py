#!/usr/bin/env python3
"""Is every option used by a golden test? Each long and each short name of the option table must stand behind a
`gsort` in a command of golden/*.txt. Prints the names that do not and exits with 1 if there is one. The table is
read from the fish completion, which gsort makes of it.

Usage: option_coverage.py GSORT | --selftest"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import run


@dataclass
class Option:
    letter: str | None
    name: str | None
    takes_value: bool


def parse_table(completion: str) -> list[Option]:
    options = []
    for line in completion.splitlines():
        words = line.rpartition(" -d '")[0].split()
        if words[:3] != ["complete", "-c", "gsort"]:
            continue
        after = {word: words[place + 1] for place, word in enumerate(words[:-1])}
        options.append(Option(after.get("-s"), after.get("-l"), "-x" in words or "-r" in words))
    return options


def arguments_of_gsort(command: str) -> list[str]:
    """The words behind every `gsort` of a shell command that begin with a dash."""
    found = []
    for part in re.split(r"[;|&()`\n]|\bdo\b|\$\(", command):
        match = re.search(r"(?:^|\s)gsort\s(.*)", part)
        if match:
            words = (word.strip("'\"") for word in match[1].split())
            found += [word for word in words if word.startswith("-")]
    return found


def names_used(commands: list[str], table: list[Option]) -> set[str]:
    with_value = {option.letter for option in table if option.takes_value}
    used = set()
    for word in (word for command in commands for word in arguments_of_gsort(command)):
        if word.startswith("--"):
            used.add(word.split("=")[0])
            continue
        for letter in word[1:]:
            used.add("-" + letter)
            if letter in with_value:
                break
    return used


def unused_names(commands: list[str], table: list[Option]) -> list[str]:
    names = ["-" + option.letter for option in table if option.letter]
    names += ["--" + option.name for option in table if option.name]
    used = names_used(commands, table)
    return [name for name in names if name not in used]


def selftest() -> None:
    table = parse_table("# fish\ncomplete -c gsort -s t -l type -x -a 'u8' -d 'a -l b'\n"
                        "complete -c gsort -s r -l reverse -d 'down'\ncomplete -c gsort -s v -d 'say'\n")
    assert table == [Option("t", "type", True), Option("r", "reverse", False), Option("v", None, False)]
    everything = ["-t", "-r", "-v", "--type", "--reverse"]
    assert unused_names([], table) == everything
    assert unused_names(["gsort-gen -t u8 -r | head -v; gsort in"], table) == everything
    assert unused_names(["cat in | X=1 gsort -rtv --type=u8 -- in"], table) == ["-v", "--reverse"]
    assert unused_names(["for s in -v; do gsort '--reverse' in; done"], table) == ["-t", "-r", "-v", "--type"]


def main() -> int:
    if sys.argv[1:] == ["--selftest"]:
        selftest()
        return 0
    table = parse_table(subprocess.run([sys.argv[1], "--generate=fish"], check=True, capture_output=True,
                                       text=True).stdout)
    commands = [command.text for path in sorted((Path(__file__).parent / "golden").glob("*.txt"))
                for case in run.parse_golden(path).values() for command in case]
    unused = unused_names(commands, table)
    for name in unused:
        print(f"no golden test uses {name}")
    print(f"option coverage: {len(table)} options, {len(unused)} findings")
    return 1 if unused or not table else 0


if __name__ == "__main__":
    sys.exit(main())
