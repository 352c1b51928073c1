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

    def output(self) -> bytes:
        """The output if it is of raw elements; b"" if it is another one, or there is none."""
        text = " ".join(self.words)
        if self.status != 0 or "--compress" in text or re.search(r"--format=\w+:(text|npy)", text):
            return b""
        return self.out.read_bytes()

    def write(self, output: bytes) -> bool:
        """Whether that changed anything."""
        before = self.out.read_bytes()
        self.out.write_bytes(output)
        return before != output


# Each returns whether it did anything. The soak calls it in memory groups of 64 MiB, too: an object for each element is too much.
def wrong_byte(call: Call) -> bool:
    output = bytearray(call.output())
    if not output:
        return False
    output[random.randrange(len(output))] ^= random.randrange(1, 256)
    return call.write(output)


def lost_piece(call: Call) -> bool:
    output, size = call.output(), call.element_bytes()
    begin = size * random.randrange(len(output) // size + 1)
    return call.write(output[:begin] + output[begin + size * random.randint(1, 1000):]) if output else False


def pieces_exchanged(call: Call) -> bool:
    output, size = bytearray(call.output()), call.element_bytes()
    count = len(output) // size
    piece = min(1000, count // 3)
    if piece == 0:
        return False
    first = random.randrange(count - 2 * piece)
    second = random.randrange(first + piece, count - piece + 1)
    a, b = (slice(size * begin, size * (begin + piece)) for begin in (first, second))
    output[a], output[b] = output[b], output[a]
    return call.write(output)


def doubled_and_dropped(call: Call) -> bool:
    output, size = bytearray(call.output()), call.element_bytes()
    if len(output) < size:
        return False
    to, source = (size * random.randrange(len(output) // size) for _ in range(2))
    output[to:to + size] = output[source:source + size]
    return call.write(output)


def order_broken(call: Call) -> bool:
    output, size = bytearray(call.output()), call.element_bytes()
    count = len(output) // size
    begin = random.randrange(max(1, count))
    for at in (size * ((begin + i) % count) for i in range(count)):
        if at and output[at - size:at] != output[at:at + size]:
            output[at - size:at + size] = output[at:at + size] + output[at - size:at]
            return call.write(output)
    return False


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
