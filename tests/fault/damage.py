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

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import forms  # noqa: E402  found by the line above


class Call:
    """One call of the real program that has ended."""

    def __init__(self, words: list[str], status: int, old: bytes | None):
        self.words, self.status, self.old = words, status, old
        self.out = Path(words[words.index("-o") + 1])

    def element_bytes(self) -> int:
        record = re.search(r"--record=(\d+)", " ".join(self.words))
        kind = self.words[self.words.index("-t") + 1] if "-t" in self.words else ""
        return int(record[1]) if record else forms.bytes_of(kind) if kind else 8

    def elements(self) -> list[bytes]:
        """The keys of an output of raw elements; none if it is another one, or there is none."""
        text = " ".join(self.words)
        if self.status != 0 or "--compress" in text or re.search(r"--format=\w+:(text|npy)", text):
            return []
        raw, size = self.out.read_bytes(), self.element_bytes()
        return [raw[at:at + size] for at in range(0, len(raw), size)]

    def write(self, elements: list[bytes]) -> bool:
        """Whether that changed anything."""
        before, after = self.out.read_bytes(), b"".join(elements)
        self.out.write_bytes(after)
        return before != after


# Each returns whether it did anything.
def wrong_byte(call: Call) -> bool:
    elements = call.elements()
    if not elements:
        return False
    at = random.randrange(len(elements))
    changed = bytearray(elements[at])
    changed[random.randrange(len(changed))] ^= random.randrange(1, 256)
    return call.write(elements[:at] + [bytes(changed)] + elements[at + 1:])


def lost_piece(call: Call) -> bool:
    elements = call.elements()
    begin = random.randrange(len(elements) + 1)
    return call.write(elements[:begin] + elements[begin + random.randint(1, 1000):]) if elements else False


def pieces_exchanged(call: Call) -> bool:
    elements = call.elements()
    piece = min(1000, len(elements) // 3)
    if piece == 0:
        return False
    first = random.randrange(len(elements) - 2 * piece)
    second = random.randrange(first + piece, len(elements) - piece + 1)
    a, b = slice(first, first + piece), slice(second, second + piece)
    elements[a], elements[b] = elements[b], elements[a]
    return call.write(elements)


def doubled_and_dropped(call: Call) -> bool:
    elements = call.elements()
    if elements:
        elements[random.randrange(len(elements))] = random.choice(elements)
    return call.write(elements) if elements else False


def order_broken(call: Call) -> bool:
    elements = call.elements()
    places = [i for i in range(1, len(elements)) if elements[i - 1] != elements[i]]
    if not places:
        return False
    at = random.choice(places)
    elements[at - 1], elements[at] = elements[at], elements[at - 1]
    return call.write(elements)


def old_output_destroyed(call: Call) -> bool:
    if call.status != 2 or not call.old:
        return False
    destroy = random.choice([lambda: call.out.write_bytes(b""), call.out.unlink,
                             lambda: call.out.write_bytes(call.old[:-1])])
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
    """Takes more than -S of the calls with forged files, and than any memory cgroup of the soak has."""
    return call.status >= 0 and len(b"\1" * (400 << 20)) > 0


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
    old = out.read_bytes() if out.exists() else None
    status, stderr = run_real([real, *words])
    call = Call(words, status, old)
    planted = KINDS[kind](call)
    if planted:
        with open(log, "a") as notes:
            print(kind, *words, file=notes)
    if not (planted and kind == "message_missing"):
        os.write(2, stderr)
    if planted and kind == "hang":
        time.sleep(3600)
    if call.status < 0:
        if call.status != -signal.SIGKILL:
            signal.signal(-call.status, signal.SIG_DFL)
        os.kill(os.getpid(), -call.status)
    sys.exit(call.status)
