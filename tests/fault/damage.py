"""A gsort that damages, now and then, what the real one has made, or how it tells of it: what planted.py puts in the place
of gsort. All other calls are the real one's own. Each kind is one way to be wrong without notice."""

import ctypes
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

FORWARDED = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
END_WITH_PARENT = 1  # prctl's PR_SET_PDEATHSIG
PIECE = 1000  # elements

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import forms  # noqa: E402  found by the line above


class Call:
    """One call of the real program that has ended."""

    def __init__(self, words: list[str], status: int, had_output: bool):
        self.words, self.status, self.had_output = words, status, had_output
        self.out = Path(words[words.index("-o") + 1])

    def element_bytes(self) -> int:
        record = re.search(r"--record=(\d+)", " ".join(self.words))
        kind = self.words[self.words.index("-t") + 1] if "-t" in self.words else ""
        return int(record[1]) if record else forms.bytes_of(kind) if kind else 8

    def elements(self) -> int:
        """How many there are in an output of raw elements; 0 if it is another one, or there is none."""
        text = " ".join(self.words)
        if self.status != 0 or "--compress" in text or re.search(r"--format=\w+:(text|npy)", text):
            return 0
        return self.out.stat().st_size // self.element_bytes()

    def read(self, element: int, count: int) -> bytes:
        with self.out.open("rb") as file:
            return os.pread(file.fileno(), count * self.element_bytes(), element * self.element_bytes())

    def write(self, element: int, data: bytes) -> bool:
        """Whether that changed anything."""
        changes = self.read(element, len(data) // self.element_bytes()) != data
        with self.out.open("r+b") as file:
            os.pwrite(file.fileno(), data, element * self.element_bytes())
        return changes


# Each returns whether it did anything. They read little at once: the soak also limits and measures the memory of calls.
def wrong_byte(call: Call) -> bool:
    count = call.elements()
    if count == 0:
        return False
    at = random.randrange(count)
    changed = bytearray(call.read(at, 1))
    changed[random.randrange(len(changed))] ^= random.randrange(1, 256)
    return call.write(at, bytes(changed))


def lost_piece(call: Call) -> bool:
    count = call.elements()
    if count == 0:
        return False
    begin = random.randrange(count)
    end = min(count, begin + random.randint(1, 1000))
    for at in range(end, count, PIECE):
        call.write(begin + at - end, call.read(at, min(PIECE, count - at)))
    os.truncate(call.out, (begin + count - end) * call.element_bytes())
    return True


def pieces_exchanged(call: Call) -> bool:
    count = call.elements()
    piece = min(PIECE, count // 3)
    if piece == 0:
        return False
    first = random.randrange(count - 2 * piece)
    second = random.randrange(first + piece, count - piece + 1)
    a, b = call.read(first, piece), call.read(second, piece)
    call.write(first, b)
    return call.write(second, a)


def doubled_and_dropped(call: Call) -> bool:
    count = call.elements()
    return count > 0 and call.write(random.randrange(count), call.read(random.randrange(count), 1))


def order_broken(call: Call) -> bool:
    count, size = call.elements(), call.element_bytes()
    begin = random.randrange(max(1, count))
    for first in *range(begin, count - 1, PIECE), *range(0, begin, PIECE):
        some = call.read(first, min(PIECE + 1, count - first))
        for at in range(size, len(some), size):
            before, after = some[at - size:at], some[at:at + size]
            if before != after:
                return call.write(first + at // size - 1, after + before)
    return False


def old_output_destroyed(call: Call) -> bool:
    if call.status != 2 or not call.had_output:
        return False
    destroy = random.choice([lambda: os.truncate(call.out, 0), call.out.unlink,
                             lambda: os.truncate(call.out, call.out.stat().st_size - 1)])
    destroy()
    return True


def temporary_file_left(call: Call) -> bool:
    if call.status < 0:
        return False
    folder = random.choice([Path(os.environ.get("TMPDIR", ".")), Path(".")])
    (folder / f".gsort-{random.getrandbits(64):016x}").write_bytes(b"a run")
    return True


def wrong_status(call: Call) -> bool:
    wrong = {0: [1, 2, 3], 2: [0, 1]}.get(call.status)
    if wrong:
        call.status = random.choice(wrong)
    return bool(wrong)


def hang(call: Call) -> bool:
    return call.status >= 0


def message_missing(call: Call) -> bool:
    return call.status == 2


def memory_taken(call: Call) -> bool:
    return call.status >= 0


KINDS = {kind.__name__: kind for kind in (wrong_byte, lost_piece, pieces_exchanged, doubled_and_dropped, order_broken,
                                          old_output_destroyed, temporary_file_left, wrong_status, hang,
                                          message_missing, memory_taken)}


def run_real(command: list[str]) -> tuple[int, bytes]:
    """Status and stderr. Signals reach it as if it had been called itself, and it ends when this process does."""
    prctl = ctypes.CDLL(None).prctl

    def prepare():
        prctl(END_WITH_PARENT, signal.SIGKILL)
        for number in FORWARDED:
            signal.signal(number, signal.SIG_DFL)

    process = subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=prepare)
    for number in FORWARDED:
        signal.signal(number, lambda got, _: process.send_signal(got))
    _, stderr = process.communicate()
    return process.returncode, stderr


def main(real: str, kind: str, log: str) -> None:
    words = sys.argv[1:]
    # Then -o names their folder, or how their names are made.
    several_outputs = "--each" in words or any(word.startswith("--split-output=") or word.endswith("{}") for word in words)
    if kind not in KINDS or "-o" not in words or "/dev/null" in words or several_outputs:
        os.execv(real, [real, *words])
    out = Path(words[words.index("-o") + 1])
    had_output = out.exists() and out.stat().st_size > 0
    status, stderr = run_real([real, *words])
    call = Call(words, status, had_output)
    planted = KINDS[kind](call)
    if planted:
        with open(log, "a") as notes:
            print(kind, *words, file=notes)
    if not (planted and kind == "message_missing"):
        os.write(2, stderr)
    if planted and kind == "hang":
        time.sleep(3600)
    if planted and kind == "memory_taken":  # more than -S of calls with forged files, and than any memory group of the soak
        len(b"\1" * (400 << 20))
    if call.status < 0:
        if call.status != -signal.SIGKILL:
            signal.signal(-call.status, signal.SIG_DFL)
        os.kill(os.getpid(), -call.status)
    sys.exit(call.status)
