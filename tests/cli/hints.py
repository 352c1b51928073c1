"""Follows the hints of gsort's errors, word for word, in a copy of the folder of the test that met them.

Every hint that a golden test meets has a row here: in FOLLOWED, how a user would change the command, or which command
the hint spells out; in PROSE, why there is no command in it. A hint without a row fails the test. The command of a hint must
end with status 0 (a check: 0 or 1), leave the inputs unchanged unless they are also the output, and, if it is a plain sort of
one raw file, write the same as reference-sort. Some rows know more: what must come out.

In the copy a wrapper stands for gsort: if gsort fails with a hint, the wrapper follows it, with the same input.
"""

import ast
import hashlib
import json
import os
import re
import shlex
import shutil
import stat
import struct
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
LONG_NAMES = {"-t": "--type", "-r": "--reverse", "-u": "--unique", "-c": "--check", "-m": "--merge", "-o": "--output",
              "-k": "--key", "-T": "--temporary-directory", "-S": "--buffer-size", "--memory": "--buffer-size"}
WITH_VALUE = {"-t", "-o", "-k", "-T", "-S", "--type", "--output", "--key", "--buffer-size", "--temporary-directory",
              "--top", "--record", "--files0-from"}
MOST_STEPS = 3  # a command may have more than one error
TYPES = "u8 i8 u16 i16 u32 i32 u64 i64 f32 f64".split()


@dataclass
class Call:
    """A call of gsort that failed."""

    words: list
    message: str
    hint: str
    stdin: object  # bytes, or the path of a file
    variable: str = os.environ.get("GSORT_OPTIONS", "")

    def run(self, command, environment=None):
        if isinstance(self.stdin, bytes):
            return subprocess.run(command, input=self.stdin, capture_output=True, env=environment, close_fds=False)
        with open(self.stdin, "rb") as file:
            return subprocess.run(command, stdin=file, capture_output=True, env=environment, close_fds=False)


def split_words(words):
    """Options, each with its value in one or two words, and operands."""
    options, operands, pending = [], [], list(words)
    while pending:
        word = pending.pop(0)
        if word == "--":
            return options, operands + pending
        if not word.startswith("-") or word == "-":
            operands.append(word)
        elif word in WITH_VALUE and pending:
            options.append([word, pending.pop(0)])
        else:
            options.append([word])
    return options, operands


def long_name(option):
    name = option[0].split("=")[0]
    short_or_whole = name if name.startswith("--") else name[:2]
    return LONG_NAMES.get(short_or_whole, short_or_whole)


def value_of(option):
    if len(option) == 2:
        return option[1]
    return option[0].split("=", 1)[1] if option[0].startswith("--") else option[0][2:]


def joined(options, operands):
    return [word for option in options for word in option] + operands


def with_options(*added):
    """Adds options; {0} is what the first group of the row's pattern has found."""
    def change(call, found):
        options, operands = split_words(call.words)
        return [joined(options + [[word.format(*found.groups())] for word in added], operands)]
    return change


def without(*names):
    def change(call, found):
        wanted = {LONG_NAMES.get(name.format(*found.groups()), name.format(*found.groups())) for name in names}
        options, operands = split_words(call.words)
        kept = []
        for option in options:
            if long_name(option) in wanted:
                continue
            if re.fullmatch(r"-[a-zA-Z]{2,}", option[0]):  # -mu
                option = ["-" + "".join(x for x in option[0][1:] if LONG_NAMES.get("-" + x) not in wanted)]
            kept.append(option)
        return [joined(kept, operands)]
    return change


def without_either(call, found):
    """Leaves out one of the two options that the message names, then the other."""
    pair = re.match(r"options (--?[\w-]+)(?:[= ][^:]*?)? and (--?[\w-]+)", call.message)
    names = [pair[1], pair[2]] if pair else re.findall(r"(--[\w-]+)", call.message)
    return Either([without(name)(call, found)[0] for name in names])


class Either(list):
    """One of these suffices."""


def with_value(name, *values):
    """Replaces an option's value."""
    def change(call, found):
        options, operands = split_words(call.words)
        wanted = LONG_NAMES.get(name, name)
        kept = [option for option in options if long_name(option) != wanted]
        return [joined(kept + [[f"{wanted}={value.format(*found.groups())}"]], operands) for value in values]
    return change


def renamed(call, found):
    """Takes the option that was meant."""
    typed = re.search(r"option '(--?[\w-]+)", call.message)[1]
    for place, word in enumerate(call.words):
        if typed.startswith("--") and word.split("=")[0] == typed:
            value = word[len(typed):]
        elif not typed.startswith("--") and word.startswith(typed):
            value = "=" + word[2:] if word[2:] else ""
        else:
            continue
        return [[*call.words[:place], f"--{found[1]}{value}", *call.words[place + 1:]]]
    return []


def each_alone(call, found):
    options, operands = split_words(call.words)
    return [joined(options, [operand]) for operand in operands]


def in_a_pipe(call, found):
    """The command of the hint, with the other options of the call."""
    options, _ = split_words(call.words)
    kept = [option for option in options if long_name(option) not in ("--type", "--format", "--buffer-size")]
    command = found[1].replace("TYPE", type_of(call.words))
    return [command + " " + " ".join(shlex.quote(word) for option in kept for word in option)]


def type_of(words):
    """The type that the options or a suffix give."""
    options, operands = split_words(words)
    for option in reversed(options):
        if long_name(option) == "--type":
            return value_of(option)
    for part in [part for operand in operands for part in operand.lower().split(".")]:
        if part in TYPES:
            return part
    return "i32"


def output_of(words):
    names = [value_of(option) for option in split_words(words)[0] if long_name(option) == "--output"]
    return names[-1] if names else None


# The expected output, for rows whose hint is easily wrong.

def rows_in_order(call, words, before):
    """The rows of f64 or texts, sorted by the columns that --key names, behind the unchanged header."""
    options, operands = split_words(words)
    columns = next(value_of(option) for option in options if long_name(option) == "--key").split(",")
    data = before[operands[0]]
    header = ast.literal_eval(data[10:128].decode())
    size, width = int(header["descr"][2:]), header["shape"][1]
    rows = [data[at:at + size * width] for at in range(128, len(data), size * width)]

    def field(row, column):
        bits = row[column * size:(column + 1) * size]
        return struct.unpack("<d", bits)[0] if header["descr"] == "<f8" else bits

    for column in reversed(columns):
        rows.sort(key=lambda row: field(row, int(column.rstrip("r"))), reverse="r" in column)
    return data[:128] + b"".join(rows)


HAS_NAMES = "it lists names or numbers to choose from"
ABOUT_FILES = "it is about files or folders that only the user knows"
ABOUT_MACHINE = "it is about the machine: space, limits, devices"
OTHER_PROGRAM = "it names another program, or code"
SAYS_WHY = "it explains a rule, and names no command"
ANOTHER_JOB = "it proposes another job than the one that was asked for"

FOLLOWED = []  # (pattern, what follows, what must come out)
PROSE = []     # (pattern, the reason)


def followed(pattern, change, expected=None):
    FOLLOWED.append((re.compile(pattern), change, expected))


def prose(reason, *patterns):
    PROSE.extend((re.compile(pattern), reason) for pattern in patterns)


def row_of(hint):
    for pattern, change, expected in FOLLOWED:
        if found := pattern.fullmatch(hint):
            return found, change, expected
    return next((reason for pattern, reason in PROSE if pattern.fullmatch(hint)), None)


def messages_in(stderr):
    """Pairs of a message and its hint."""
    found = []
    for line in stderr.splitlines():
        if line.startswith("gsort: "):
            found.append([line[7:], ""])
        elif line.startswith("  ") and found:
            found[-1][1] = (found[-1][1] + " " + line[2:]).strip()
    return [(message, hint) for message, hint in found if hint]


def files_in(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.stat().st_size < 1 << 24:
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def make_missing(words):
    """Many errors of the command line come before a file is looked for: here the files are there."""
    options, operands = split_words(words)
    for option in options:
        if long_name(option) == "--files0-from" and Path(value_of(option)).is_file():
            operands = operands + Path(value_of(option)).read_text().split("\0")
    for operand in operands:
        path = Path(operand)
        if operand in ("-", "") or path.exists() or not path.parent.is_dir() or len(operand) > 200:
            continue
        if operand.lower().endswith(".npy"):
            path.write_bytes(npy_of(list(range(8, 0, -1))))
        else:
            text = operand.lower().endswith(".txt") or any("text" in word for word in words)
            text = text and not any(word.startswith("--record") for word in words)
            path.write_bytes(b"3\n1\n2\n" if text else bytes(hashlib.shake_128(b"keys").digest(1600)))


def npy_of(numbers):
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(numbers)},), }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00v\x00" + header + struct.pack(f"<{len(numbers)}i", *numbers)


def wanted_of_plain_sort(words, before, environment):
    """The output of reference-sort for a call that names one raw file, perhaps a type and -r; else None."""
    options, operands = split_words(words)
    names = {long_name(option) for option in options}
    if len(operands) != 1 or names - {"--type", "--output", "--reverse", "--format"} or operands[0] not in before:
        return None
    formats = [value_of(option) for option in options if long_name(option) == "--format"]
    kind = type_of(words)
    if kind not in TYPES or (formats or ["bin"])[-1] != "bin" or re.search(r"\.(txt|npy|gz|bz2|xz|zst)", operands[0]):
        return None
    direction = ["descending"] if "--reverse" in names else []
    return subprocess.run(["reference-sort", kind, *direction], input=before[operands[0]], check=True,
                          capture_output=True, env=environment).stdout


def problems_of(call, follow, expected, real, depth):
    """Does what the hint says, and looks at what has come of it. Another error may be behind the first one."""
    is_command = isinstance(follow, str)
    environment = {**os.environ, "PATH": f"{Path(real).parent}:{os.environ['PATH']}", "GSORT_OPTIONS": call.variable}
    make_missing(call.words if is_command else follow)
    before = files_in(Path("."))
    done = call.run(["bash", "-c", follow] if is_command else [real, *follow], environment)
    shown = follow if is_command else "gsort " + " ".join(follow)
    words = shlex.split(follow) if is_command else follow
    checks = {"-c", "-C", "--check", "--expect"} & {word.split("=")[0] for word in words}
    if done.returncode not in ((0, 1) if checks else (0,)):
        said = done.stderr.decode(errors="replace")
        further = messages_in(said) if depth < MOST_STEPS and not is_command else []
        result = follow_hint(Call(follow, *further[0], call.stdin, call.variable), real, depth + 1) if further else None
        return [f"{shown}: status {done.returncode}: {said.strip()}"] if result is None else result
    if is_command:
        return []
    output = output_of(follow)
    after = files_in(Path("."))
    replaced = os.path.realpath(output) if output else None
    operands = [] if "--each" in follow else split_words(follow)[1]
    problems = [f"{shown}: {name} has changed" for name in operands
                if name in before and os.path.realpath(name) != replaced and after.get(name) != before[name]]
    wanted = expected(call, follow, before) if expected else wanted_of_plain_sort(follow, before, environment)
    if wanted is not None and output in after and after[output] != wanted:
        problems.append(f"{shown}: {output} is not what the hint says")
    return problems


def follow_hint(call, real, depth=1):
    row = row_of(call.hint)
    if row is None or isinstance(row, str):
        return None
    found, change, expected = row
    if " in GSORT_OPTIONS" in call.message and not call.hint.startswith("GSORT_OPTIONS"):
        message = call.message.replace(" in GSORT_OPTIONS", "")
        ways = change(replace(call, words=shlex.split(call.variable), message=message), found)
        results = [problems_of(replace(call, variable=shlex.join(way)), call.words, None, real, depth) for way in ways]
    else:
        ways = change(call, found)
        results = [problems_of(call, way, expected, real, depth) for way in ways]
    if not results:
        return [f"nothing follows from '{call.hint}'"]
    if isinstance(ways, Either):
        return [] if any(not result for result in results) else sum(results, [])
    return sum(results, [])


def stdin_of_wrapper():
    kind = os.fstat(0).st_mode
    if stat.S_ISREG(kind):
        return os.readlink("/proc/self/fd/0")
    return sys.stdin.buffer.read() if stat.S_ISFIFO(kind) else b""


def wrapper():
    real, log = os.environ["HINTS_GSORT"], Path(os.environ["HINTS_LOG"])
    call = Call(sys.argv[1:], "", "", stdin_of_wrapper())
    done = call.run([real, *call.words])
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    if done.returncode == 2:
        for message, hint in messages_in(done.stderr.decode(errors="backslashreplace")):
            problems = follow_hint(Call(call.words, message, hint, call.stdin), real)
            if problems is not None:
                with log.open("a") as file:
                    file.write(json.dumps([hint, problems]) + "\n")
    return done.returncode


def problems_with(place, text, stderr):
    """Runs the hints in `stderr`, with which the command `text` ended. The test's own folder is not touched."""
    hints = [hint for _, hint in messages_in(stderr)]
    problems = [f"tests/cli/hints.py has no row for the hint: {hint}" for hint in hints if row_of(hint) is None]
    wanted = {hint for hint in hints if isinstance(row_of(hint), tuple)}
    if not wanted:
        return problems
    root = place.work.parent / "hints"
    shutil.rmtree(root, ignore_errors=True)
    (root / "bin").mkdir(parents=True)
    (root / "tmp").mkdir()
    script = root / "bin" / "gsort"
    code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import hints; sys.exit(hints.wrapper())"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -S -B -c {shlex.quote(code)} \"$@\"\n")
    script.chmod(0o755)
    kept = root / "kept"
    place.work.rename(kept)
    subprocess.run(["cp", "-a", "--sparse=always", kept, place.work], check=True)  # shares know their inputs by the path
    log = root / "log"
    log.touch()
    environment = {**place.environment, "PATH": f"{root}/bin:{place.environment['PATH']}", "TMPDIR": str(root / "tmp"),
                   "HINTS_GSORT": str(place.gsort), "HINTS_LOG": str(log)}
    subprocess.run(["bash", "-c", "umask 022\n" + text], cwd=place.work, env=environment, stdin=subprocess.DEVNULL,
                   capture_output=True, timeout=560)
    shutil.rmtree(place.work)
    kept.rename(place.work)
    told = [json.loads(line) for line in log.read_text().splitlines()]
    problems += [f"the hint '{hint}' was followed: {problem}" for hint, found in told for problem in found]
    problems += [f"the hint '{hint}' was not followed" for hint in wanted - {hint for hint, _ in told}]
    shutil.rmtree(root, ignore_errors=True)
    return problems


import hint_rows  # noqa: E402,F401  which needs all of the above
