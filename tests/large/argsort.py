#!/usr/bin/env python3
"""Sorts 2^32 + 5 keys of one byte with --argsort and checks every position of the result, which has 64 bits.

The positions come through a pipe, so the result of 32 GiB takes no disk space. The input takes 4 GiB. Runs take up to 37 GiB:
of memory if gsort may use so much (-S), else of disk. The test is skipped, with the numbers, if the folder has too little
room. It removes all its files.

The keys at the positions never descend, and positions of equal keys ascend. So no position repeats; as there are as many as
elements, and none is too great, each occurs once.

Usage: argsort.py --bin DIR [--folder DIR] [--elements N] [GSORT_OPTION...]"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77  # of ctest
GIB = 1 << 30
DEBIANS_PYTHON = "/usr/bin/python3"
CHUNK = 4 << 20  # positions checked at once


def skip(reason: str) -> int:
    print(f"SKIPPED: {reason}")
    return SKIPPED


def missing_room(command: list, path: str, elements: int) -> str:
    """Why the folder of `path` is too small; "" if it is not. Makes `path` a file of holes."""
    os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), elements)
    planned = subprocess.run([*command, "--explain=json"], capture_output=True, text=True)
    if planned.returncode != 0:
        return " ".join(planned.stderr.split())
    needed = elements + json.loads(planned.stdout)["temporary_bytes"] + GIB
    free = shutil.disk_usage(os.path.dirname(path)).free
    if free >= needed:
        return ""
    return f"{os.path.dirname(path)}: {needed / GIB:.1f} GiB are needed, {free / GIB:.1f} GiB are free; --folder names another"


def check_positions(numpy, keys, pipe) -> None:
    """Raises AssertionError if the positions from the pipe are not those of a stable sort of the keys."""
    bits = numpy.uint64(40)  # of a position; its key stands above it
    stored = numpy.dtype(numpy.uint32 if keys.size <= 1 << 32 else numpy.uint64)
    last, count = -1, 0
    while chunk := pipe.read(stored.itemsize * CHUNK):
        positions = numpy.frombuffer(chunk, stored).astype(numpy.uint64)
        assert positions.max() < keys.size, f"a position after {count} is {positions.max()} of {keys.size}"
        words = keys[positions].astype(numpy.uint64) << bits | positions
        assert int(words[0]) > last and bool((words[1:] > words[:-1]).all()), f"wrong order after position {count}"
        last = int(words[-1])
        count += positions.size
    assert count == keys.size, f"{count} positions of {keys.size} elements"


def run(options, words: list, folder: str) -> int:
    import numpy
    path = os.path.join(folder, "in.u8")
    command = [os.path.join(options.bin, "gsort"), "--argsort", "--endian=little", "-T", folder, *words, path]
    reason = missing_room(command, path, options.elements)
    if reason:
        return skip(reason)
    subprocess.run([os.path.join(options.bin, "gsort-gen"), "-t", "u8", "-n", str(options.elements), "-o", path], check=True)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as sort:
        check_positions(numpy, numpy.memmap(path, numpy.uint8, "r"), sort.stdout)
    assert sort.returncode == 0, f"gsort ended with status {sort.returncode}"
    print(f"{options.elements:,} positions are right")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--folder", default=os.environ.get("TMPDIR", "/var/tmp"))
    parser.add_argument("--elements", type=int, default=(1 << 32) + 5)
    options, words = parser.parse_known_args()
    try:
        import numpy  # noqa: F401
    except ImportError:
        if sys.executable != DEBIANS_PYTHON:
            os.execv(DEBIANS_PYTHON, [DEBIANS_PYTHON, *sys.argv])
        return skip("no NumPy; Debian's package is python3-numpy")
    with tempfile.TemporaryDirectory(prefix="gsort-argsort-", dir=options.folder) as folder:
        return run(options, words, folder)


if __name__ == "__main__":
    sys.exit(main())
