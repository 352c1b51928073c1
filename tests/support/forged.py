"""Changes fields of files that gsort reads back, and makes the checksums right, as a person who knows the formats could:
manifests and indexes of runs (io/runs/manifest.hpp), and records of parts (src/pipeline/share/part_record.hpp)."""

import ctypes
import os
import struct
from pathlib import Path
from random import Random

# The header of a manifest: place and bytes of each number except the magic and the version.
HEADER = [(6, 2), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 4), (52, 4), (56, 8)]
HEADER_BYTES, INPUT_BYTES, RUN_BYTES, PLACE_BYTES, ENTRY_BYTES = 64, 20, 56, 8, 32
xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
xxh3.restype, xxh3.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]


def odd_number(pick: Random, old: int, width: int) -> bytes:
    bits = 8 * width
    numbers = [0, 1, 2, old + 1, old - 1, 2 * old, old ^ 1 << pick.randrange(bits), pick.getrandbits(bits), 1 << bits - 1, -1]
    return (pick.choice(numbers) % (1 << bits)).to_bytes(width, "little")


def put(data: bytearray, at: int, number: bytes):
    data[at:at + len(number)] = number


def number_at(data: bytearray, at: int, width: int) -> int:
    return int.from_bytes(data[at:at + width], "little")


def runs_of(data: bytearray) -> list[int]:
    """The place of each run in a manifest."""
    version, = struct.unpack_from("<H", data, 4)
    job, inputs, runs = struct.unpack_from("<III", data, 44)
    at = HEADER_BYTES + job
    for _ in range(inputs):
        at += INPUT_BYTES + number_at(data, at + 16, 4)
    return [at + run * (RUN_BYTES + (PLACE_BYTES if version == 4 else 0)) for run in range(runs)]


def forge_index(folder: Path, data: bytearray, pick: Random):
    """Changes a block of a run's index, or the number of blocks, and extends the file of the runs to match."""
    run = pick.choice(runs_of(data))
    index, blocks = number_at(data, run + 32, 8), number_at(data, run + 40, 8)
    runs = folder / "gsort.runs"
    if pick.random() < 0.3:
        blocks = pick.choice([blocks + 1, 2 * blocks, 1 << 20, 1 << 28, 1 << 33])
        put(data, run + 40, blocks.to_bytes(8, "little"))
        put(data, run + 8, max(blocks, number_at(data, run + 8, 8)).to_bytes(8, "little"))  # elements
        os.truncate(runs, max(runs.stat().st_size, index + ENTRY_BYTES * blocks + 4095 & ~4095))
        return
    with runs.open("r+b") as file:
        file.seek(index)
        entries = bytearray(file.read(ENTRY_BYTES * blocks))
        at, width = pick.choice([(0, 8), (8, 8), (16, 8), (24, 4), (28, 4)])
        at += ENTRY_BYTES * pick.randrange(blocks)
        put(entries, at, odd_number(pick, number_at(entries, at, width), width))
        file.seek(index)
        file.write(entries)
    put(data, run + 48, xxh3(bytes(entries), len(entries)).to_bytes(8, "little"))


def forge_manifest(folder: Path, pick: Random) -> bool:
    """Returns whether the manifest may describe another sort now."""
    path = folder / "gsort.manifest"
    data = bytearray(path.read_bytes())
    runs, says_more = runs_of(data), False
    what = pick.random()
    if what < 0.3:
        at, width = pick.choice(HEADER)
        put(data, at, odd_number(pick, number_at(data, at, width), width))
    elif what < 0.6 and runs:
        at = pick.choice(runs) + 8 * pick.randrange(7)
        put(data, at, odd_number(pick, number_at(data, at, 8), 8))
    elif what < 0.9 and runs:
        forge_index(folder, data, pick)
    elif what < 0.97:
        at, says_more = pick.randrange(HEADER_BYTES, len(data) - 8), True
        data[at] = pick.randrange(256)
    else:
        return os.truncate(path, pick.choice([0, 63, len(data) - 1, len(data) + 1, 900 << 20])) or False
    path.write_bytes(data[:-8] + xxh3(bytes(data[:-8]), len(data) - 8).to_bytes(8, "little"))
    return says_more


def forge_record(path: Path, pick: Random):
    words = path.read_text().split(" ")[:-1]
    at = pick.randrange(1, len(words))
    if words[at].startswith("."):
        words[at] = pick.choice([".", words[at] + "00", words[at][:-2], f".{pick.getrandbits(64):016x}"])
    else:
        words[at] = str(int.from_bytes(odd_number(pick, int(words[at]) % (1 << 64), 8), "little"))
    covered = " ".join(words) + " "
    path.write_text(f"{covered}{xxh3(covered.encode(), len(covered))}\n")
