#!/usr/bin/env python3
"""Sorts by gsort-mpi with several processes on this machine: the output must have the bytes of gsort's, bad commands
must end with one message before anything is read, and a process that is killed must leave the old output, and nothing
else that the next sort does not remove. Skips with status 77 where there is no mpirun."""

import argparse
import bz2
import contextlib
import fcntl
import gzip
import json
import lzma
import os
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

from bed import KINDS, Bed, descendants, keys, npy, sends_much
from inputs_here import check_inputs_here, read_inputs_here
from network import launcher_of
from preload import preloadable
from refused import differ, refuse
from resume import resume

SKIPPED = 77
TYPES = {"u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f32": "f", "f64": "d"}


def sort_keys(bed: Bed) -> None:
    rng = random.Random(1)
    for number, (name, code) in enumerate(TYPES.items()):
        for kind in bed.some(KINDS[number % 6::6], 1):
            processes, count = rng.randrange(2, 5), rng.randrange(50_000, 100_000)
            data = bed.write(f"in.{name}", keys(kind, code, count, rng))
            bed.expect_same(processes, f"{kind} {name}", [data], "-S", rng.choice(["40M", "64M"]), "--stats=stats.json")
            ranks = json.loads((bed.folder / "stats.json").read_text())["ranks"]
            if sends_much(ranks, struct.calcsize(code)):
                bed.fail(f"{kind} {name}, {processes} processes: {[rank['sent_bytes'] for rank in ranks]} bytes were sent")
    for count in bed.some((0, 1, 2, 5, 1000), 2):
        bed.expect_same(rng.choice([3, 4]), f"{count} elements", [bed.write("in.u64", keys("random", "Q", count, rng))])
    for name, more in bed.some((("u128", "-S40M"), ("i128", "-r"), ("f16", "-S40M"), ("bf16", "-r")), 2):
        bed.expect_same(3, name, [bed.write(f"in.{name}", rng.randbytes(3_000_000 // 16 * 16))], more)
    bed.write("a.u32", keys("random", "I", 70_001, rng))
    bed.write("b.u32", keys("few", "I", 30_003, rng))
    bed.expect_same(3, "two inputs, descending", ["a.u32", "b.u32"], "-r")
    bed.expect_same(2, "big endian, not packed", ["a.u32"], "--endian=big", "--pack-runs=off", "-t", "i32")
    bed.expect_same(3, "an input that is the output", ["a.u32", "b.u32"], output="c.u32")
    bed.write("large.u64", keys("random", "Q", 3_000_000, rng))
    bed.expect_same(4, "several runs of every process", ["large.u64"], "-S", "40M", "--parallel=1")
    bed.expect_same(2, "not verified", ["large.u64"], "-S", "40M", "--no-verify")


def sort_alone(bed: Bed) -> None:
    """Without a launcher. MPI is not started: with this setting, Open MPI's could not be."""
    bed.write("in.u32", keys("random", "I", 100_000, random.Random(16)))
    bed.run([str(bed.gsort), "in.u32", "-o", "expected.u32"]).check_returncode()
    done = bed.run(["env", "OMPI_MCA_pml=none", str(bed.gsort_mpi), "in.u32", "-o", "out.u32"])
    if done.returncode != 0 or (bed.folder / "out.u32").read_bytes() != (bed.folder / "expected.u32").read_bytes():
        bed.fail("one process without a launcher", done)
    bed.write("large.u64", keys("random", "Q", 3_000_000, random.Random(17)))
    for words in ([], ["-S", "24M", "--parallel=1"], ["-S", "24M", "--parallel=1", "-u"]):
        bed.expect_moves(["large.u64", *words])


def sort_on_many(bed: Bed) -> None:
    """More processes than most tests have."""
    rng = random.Random(16)
    for processes, kind, (name, code) in ((7, "few", ("u32", "I")), (8, "random", ("u64", "Q")), (8, "by_rank", ("f64", "d"))):
        data = bed.write(f"in.{name}", keys(kind, code, rng.randrange(50_000, 100_000), rng))
        bed.expect_same(processes, f"{kind} {name}", [data], "-S", "40M")
    bed.expect_same(7, "5 elements", [bed.write("in.u64", keys("random", "Q", 5, rng))])


def sort_narrow_keys(bed: Bed) -> None:
    """Keys of 8 and 16 bits, which are counted."""
    rng = random.Random(7)
    for kind in bed.some(("u8", "i8", "u16", "i16", "f16", "bf16"), 2):
        for count in (rng.randrange(4), rng.randrange(50_000, 300_000)):
            data = bed.write(f"in.{kind}", rng.randbytes(count * (1 if kind.endswith("8") else 2)))
            order = rng.choice([["-r"], []])
            bed.expect_same(rng.randrange(1, 5), f"{count} {kind}", [data], *order)
    bed.write("in.npy", npy(">i2", 70_001, rng.randbytes(140_002)))
    bed.expect_same(3, "a NumPy array of 16 bits", ["in.npy"], output="out.npy")
    # So long that the borders of processes lie at multiples of 4 MiB of the file.
    bed.write("long.u8", rng.randbytes(150_000_001))
    bed.expect_same(2, "many keys of 8 bits", ["long.u8"], "-S", "8M")


def write_parts(bed: Bed) -> None:
    """A file of each process, in folders that are the same for all, or not."""
    rng = random.Random(9)
    for processes in bed.some((1, 2, 3, 4), 1):
        data = bed.write("in.u64", keys(rng.choice(["random", "few", "sorted"]), "Q", rng.randrange(50_000, 100_000), rng))
        bed.expect_same_parts(processes, "u64", [data], rng.choice(["-r", "-S40M"]))
    bed.expect_same_parts(3, "a header that is kept", [bed.write("head.bin", b"\x01" * 24 + keys("random", "Q", 9_000, rng))],
                          "--skip=24", "--elements=8999", "-t", "u64", suffix="bin")
    bed.expect_same_parts(4, "narrow keys", [bed.write("in.u8", rng.randbytes(70_001))], suffix="u8")
    bed.expect_same_parts(4, "two elements", [bed.write("in.u16", rng.randbytes(4))], suffix="u16")
    records = b"".join(rng.choice([b"a", b"b"]) + rng.randbytes(11) for _ in range(20_001))
    bed.expect_same_parts(3, "records", [bed.write("in.dat", records)], "--record=12", "--key=0:bytes1", suffix="dat")
    bed.write("large.u64", keys("random", "Q", 6_000_000, rng))
    bed.expect_same_parts(2, "several runs, around the page cache", ["large.u64"], "-S", "64M", "--direct-io=on")
    # Each array is complete by itself.
    bed.write("in.npy", npy("<f8", 1_001, keys("random", "d", 1_001, rng)))
    bed.run(bed.mpi(2, "--parts", "in.npy", "-o", "part-{rank}.npy")).check_returncode()
    bed.run([str(bed.gsort), "in.npy", "-o", "expected.npy"]).check_returncode()
    whole = (bed.folder / "expected.npy").read_bytes()[-8008:]
    for rank, part in enumerate((whole[:4000], whole[4000:])):
        if (bed.folder / f"part-{rank}.npy").read_bytes() != npy("<f8", len(part) // 8, part):
            bed.fail(f"part {rank} of an array")
        (bed.folder / f"part-{rank}.npy").unlink()
    parts_on_hosts(bed)


def write_encoded_parts(bed: Bed) -> None:
    """Text and compressed files of each process: what they hold, one behind the other, is what one file of gsort holds."""
    rng = random.Random(13)
    for processes in bed.some((1, 2, 3, 4), 1):
        for kind, count in bed.some((("random", 70_001), ("few", 5_000), ("sorted", 3), ("equal", 0)), 1):
            data = bed.write("in.i32", keys(kind, "i", count, rng))
            options = rng.choice([[], ["-u"], ["-r"], [f"--top={count // 2 + 1}"], ["--verify-encoding"]])
            bed.expect_same_parts(processes, f"{kind} text", [data], "--format=bin:text", "-t", "i32", *options, suffix="txt")
            bed.expect_same_parts(processes, f"{kind} text, gzip", [data], *options, suffix="txt.gz", read=gzip.decompress)
            bed.expect_same_parts(processes, f"{kind} xz", [data], "--format=bin", *options, suffix="i32.xz",
                                  read=lzma.decompress)
        narrow = bed.write("in.u8", rng.randbytes(9_001))
        bed.expect_same_parts(processes, "narrow keys as text", [narrow], rng.choice(["-u", "-r"]), suffix="txt")
        records = bed.write("in.dat", b"".join(rng.choice([b"a", b"b"]) + rng.randbytes(11) for _ in range(5_001)))
        bed.expect_same_parts(processes, "compressed records", [records], "--record=12", "--key=0:bytes1", "--compress=bzip2:3",
                              suffix="dat", read=bz2.decompress)
    data = bed.write("large.u64", keys("random", "Q", 3_000_000, rng))
    bed.expect_same_parts(3, "text of several runs", [data], "-S", "40M", "--parallel=1", suffix="txt")
    head = bed.write("head.bin", b"a header of 24 bytes....." [:24] + keys("few", "Q", 9_000, rng))
    bed.expect_same_parts(3, "compressed, behind a header", [head], "--skip=24", "-t", "u64", suffix="bin.gz", read=gzip.decompress)
    nans = bed.write("in.f64", struct.pack("<4Q", 0x7FF8000000000001, 0x7FF0000000000002, 0xFFF8000000000003, 5))
    bed.expect_same_parts(2, "NaN as text", [nans], suffix="txt")
    done = bed.run(bed.mpi(2, "-v", "--parts", nans, "-o", "part-{rank}.txt"))
    if done.returncode != 0 or "gsort-mpi: 3 NaN written without their payloads" not in done.stderr:
        bed.fail("NaN payloads that text does not hold", done)
    done = bed.run(bed.mpi(2, "-u", "--parts", "in.i32", "-o", "array-{rank}.npy.gz"))
    if done.returncode == 0 or "writing an array of distinct keys" not in done.stderr:
        bed.fail("a compressed array of distinct keys", done)
    for part in bed.folder.glob("part-*"):
        part.unlink()


def parts_on_hosts(bed: Bed) -> None:
    """The folder of the output is another one on each host; one host has a part already."""
    command = [bed.mpirun, "-n", "3", "sh", "-c", 'cd "$FOLDERS/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && exec "$@"', "sh",
               str(bed.gsort_mpi), "--parts", "--stats=stats.json", str(bed.folder / "in.u64"), "-o", "out-{rank}.u64"]
    folders = [bed.folder / "hosts" / str(rank) for rank in range(3)]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    (folders[1] / "out-1.u64").write_bytes(b"the old output")
    done = bed.run(command)
    if done.returncode == 0 or "out-1.u64: it exists already" not in done.stderr:
        bed.fail("a part that exists already", done)
    if (folders[1] / "out-1.u64").read_bytes() != b"the old output" or (folders[0] / "out-0.u64").exists():
        bed.fail("a part that exists already: changed or left something", done)
    (folders[1] / "out-1.u64").unlink()
    bed.run(command).check_returncode()
    bed.run([str(bed.gsort), "in.u64", "-o", "expected"]).check_returncode()
    found = b"".join((folder / f"out-{rank}.u64").read_bytes() for rank, folder in enumerate(folders))
    if found != (bed.folder / "expected").read_bytes():
        bed.fail("parts in folders of each host")


def write_one_of_each(bed: Bed) -> None:
    """-u --parts: equal elements may lie on both sides of a border, or fill whole parts."""
    rng = random.Random(11)
    for processes in bed.some((1, 2, 3, 4), 1):
        for kind in bed.some(("few", "equal", "by_rank", "random"), 1):
            data = bed.write("in.u64", keys(kind, "Q", rng.randrange(50_000), rng))
            bed.expect_same_parts(processes, f"distinct {kind}", [data], "-u", rng.choice(["-r", "-S40M", "--endian=big"]))
        bed.write("in.f64", struct.pack("<20000d", *(rng.choice([-1.5, 0.0, -0.0, 2.5, rng.random()]) for _ in range(20_000))))
        bed.expect_same_parts(processes, "distinct f64", ["in.f64"], "-u", suffix="f64")
        bed.expect_same_parts(processes, "distinct narrow keys", [bed.write("in.i8", rng.randbytes(5_000))], "-u", suffix="i8")
        records = b"".join(rng.choice([b"a", b"b", b"c"]) + rng.randbytes(11) for _ in range(5_001))
        bed.expect_same_parts(processes, "distinct records", [bed.write("in.dat", records)], "-u", "--record=12",
                              rng.choice(["--key=0:bytes1", "--key=1:u8"]), suffix="dat")
    data = bed.write("large.u64", struct.pack("<3000000Q", *(rng.randrange(1_000_000) for _ in range(3_000_000))))
    bed.expect_same_parts(4, "distinct keys of several runs", [data], "-u", "-S", "40M", "--parallel=1")
    bed.expect_same_parts(2, "distinct keys, not verified", [data], "-u", "--no-verify")
    pairs = bed.write("in.dat", keys("few", "Q", 40_000, rng))
    bed.expect_same_parts(3, "distinct keys of 16 bytes", [pairs], "-u", "--record=16", "--key=0:u64,8:i64r", suffix="dat")
    bed.write("in.npy", npy("<i4", 10_000, keys("few", "i", 10_000, rng)))
    bed.run(bed.mpi(2, "--parts", "-u", "in.npy", "-o", "part-{rank}.npy")).check_returncode()
    if (bed.folder / "part-0.npy").read_bytes() != npy("<i4", 2, struct.pack("<2i", 0, 1)):
        bed.fail("distinct keys of an array")
    for part in bed.folder.glob("part-*"):
        part.unlink()


def write_one_of_each_together(bed: Bed) -> None:
    """-u into one file, and -u --top: what is left of each process's share is exchanged again."""
    rng = random.Random(14)
    for processes in bed.some((1, 2, 3, 4), 1):
        for kind in bed.some(("few", "equal", "by_rank", "random"), 1):
            data = bed.write("in.u64", keys(kind, "Q", rng.randrange(50_000), rng))
            options = ["-u", rng.choice(["-r", "-S40M", "--endian=big"])]
            bed.expect_same(processes, f"distinct {kind}", [data], *options)
            top = f"--top={rng.choice([0, 1, 2, 700, 1_000_000])}"
            bed.expect_same(processes, f"the first distinct {kind}", [data], *options, top)
            bed.expect_same_parts(processes, f"the first distinct {kind}", [data], *options, top)
        bed.write("in.f64", struct.pack("<20000d", *(rng.choice([-1.5, 0.0, -0.0, 2.5, rng.random()]) for _ in range(20_000))))
        bed.expect_same(processes, "distinct f64", ["in.f64"], "-u")
        narrow = bed.write("in.i16", rng.randbytes(50_000))
        bed.expect_same(processes, "distinct narrow keys", [narrow], "-u", "-r")
        bed.expect_same_parts(processes, "the first distinct narrow keys", [narrow], "-u", "--top=7000", suffix="i16")
        records = b"".join(rng.choice([b"a", b"b", b"c"]) + rng.randbytes(11) for _ in range(5_001))
        bed.expect_same(processes, "distinct records", [bed.write("in.dat", records)], "-u", "--record=12",
                        rng.choice(["--key=0:bytes1", "--key=1:u8"]), rng.choice(["--top=2", "--pack-runs=off"]))
    data = bed.write("large.u64", struct.pack("<3000000Q", *(rng.randrange(1_000_000) for _ in range(3_000_000))))
    bed.expect_same(4, "distinct keys of several runs", [data], "-u", "-S", "40M", "--parallel=1")
    bed.expect_same(2, "distinct keys, not verified", [data], "-u", "--no-verify", "--top=12345")
    # So long that the borders of processes lie at multiples of 4 MiB of the file.
    long = bed.write("long.u64", keys("random", "Q", 18_000_000, rng))
    bed.expect_same(2, "many distinct keys", [long], "-u", "-S", "256M")
    pairs = bed.write("in.dat", keys("few", "Q", 40_000, rng))
    bed.expect_same(3, "distinct keys of 16 bytes", [pairs], "-u", "--record=16", "--key=0:u64,8:i64r")
    bed.write("in.npy", npy("<i4", 10_000, keys("few", "i", 10_000, rng)))
    bed.expect_same(3, "distinct keys of an array", ["in.npy"], "-u", output="out.npy")
    bed.expect_same_parts(2, "the first distinct keys as text", [data], "-u", "--top=5000", suffix="txt.gz", read=gzip.decompress)


def write_the_first(bed: Bed) -> None:
    """--top: elements that are not among the first ones stay where they are."""
    rng = random.Random(10)
    for processes in bed.some((1, 2, 3, 4), 1):
        data = bed.write("in.u64", keys(rng.choice(["random", "few", "equal"]), "Q", 100_000, rng))
        for top in bed.some((0, 1, rng.randrange(100_000), 100_000, 1_000_000), 1):
            bed.expect_same(processes, f"the first {top}", [data], f"--top={top}", rng.choice(["-r", "-S40M"]))
        bed.expect_same_parts(processes, "the first", [data], f"--top={rng.randrange(100_000)}")
    bed.expect_same(3, "the first of narrow keys", [bed.write("in.u8", rng.randbytes(200_003))], "--top=70001")
    bed.expect_same(2, "the first, not verified", ["in.u64"], "--top=12345", "--no-verify")
    bed.expect_same(3, "the first of narrow keys, not verified", ["in.u8"], "--top=70001", "--no-verify")
    records = b"".join(rng.choice([b"a", b"b", b"c"]) + rng.randbytes(11) for _ in range(20_001))
    bed.expect_same(3, "the first records", [bed.write("in.dat", records)], "--record=12", "--key=0:bytes1", "--top=9000")
    bed.write("in.npy", npy("<f8", 5_001, keys("random", "d", 5_001, rng)))
    bed.expect_same(3, "the first of an array", ["in.npy"], "--top=777", output="out.npy")
    data = bed.write("large.u64", keys("random", "Q", 3_000_000, rng))
    bed.expect_same(4, "the first of several runs", [data], "-S", "40M", "--parallel=1", "--top=1000")
    done = bed.run(bed.mpi(4, "-S", "40M", "--top=1000", "--stats=stats.json", data, "-o", "out"))
    sent = sum(rank["sent_bytes"] for rank in json.loads((bed.folder / "stats.json").read_text())["ranks"])
    if not 0 < sent <= 8000:
        bed.fail(f"the first 1000 elements: {sent} bytes sent", done)


def shuffle(bed: Bed) -> None:
    """--shuffle: elements are sorted, and sent, with a number behind each, and written without."""
    rng = random.Random(22)
    data = bed.write("in.u64", keys("few", "Q", 1_000_003, rng))
    seed = f"--shuffle={rng.getrandbits(64)}"
    bed.expect_same(4, "a shuffle of several runs", [data], seed, "-S", "40M", "--parallel=1")
    for processes in bed.some((1, 2, 3, 7), 1):
        bed.expect_same(processes, "shuffled u8", [bed.write("in.u8", rng.randbytes(9_001))], seed, "--top=7000")
        bed.expect_same(processes, "shuffled records", [bed.write("in.dat", rng.randbytes(12 * 20_001))], seed, "--record=12")
        bed.write("in.npy", npy("<f4", 50_001, rng.randbytes(200_004)))
        bed.expect_same(processes, "a shuffled array", ["in.npy"], seed, output="out.npy")
        bed.expect_same_parts(processes, "shuffled text", ["in.npy"], seed, suffix="txt.gz", read=gzip.decompress)
        bed.expect_same(processes, "a shuffle that could resume", [data], seed, "-S", "40M", "--resume=kept")


def sort_in_place(bed: Bed) -> None:
    rng = random.Random(4)
    bed.write("same.u64", keys("random", "Q", 40_000, rng))
    bed.run([str(bed.gsort), "same.u64", "-o", "wanted"]).check_returncode()
    os.chmod(bed.folder / "same.u64", 0o640)
    done = bed.run(bed.mpi(3, "same.u64", "-o", "same.u64"))
    if done.returncode != 0 or (bed.folder / "same.u64").read_bytes() != (bed.folder / "wanted").read_bytes():
        bed.fail("a sort in place", done)
    if (bed.folder / "same.u64").stat().st_mode & 0o777 != 0o640:
        bed.fail("a sort in place changed the mode")


def sort_records(bed: Bed) -> None:
    rng = random.Random(2)
    for key in bed.some(("0:bytes2", "4:u32", "1:bytes12r", "2:i16,8:f64"), 2):
        keys_of_it = [f"--key={one}" for one in key.split(",")]
        records = b"".join(bytes([rng.randrange(2)]) * 12 + rng.randbytes(8) for _ in range(20_000))
        data = bed.write("in.dat", records)
        bed.expect_same(rng.randrange(2, 5), f"records by {key}", [data], "--record=20", *keys_of_it)
    # Nothing but keys: numbers of 64 and of 128 bits.
    for size, key in bed.some(((8, "0:u32,4:u32"), (8, "4:i32r,0:bytes4"), (16, "0:u64,8:u64"), (16, "0:bytes16r")), 2):
        kind = rng.choice(["random", "few"])
        data = bed.write("in.dat", keys(kind, "Q", 100_000, rng))
        bed.expect_same(rng.randrange(2, 5), f"{kind} records of nothing but {key}", [data], f"--record={size}",
                        f"--key={key}", "-S", "40M")


def sort_arrays(bed: Bed) -> None:
    rng = random.Random(3)
    bed.write("in.npy", npy("<f8", 60_001, keys("few", "d", 60_001, rng)))
    bed.expect_same(3, "a NumPy array", ["in.npy"], output="out.npy")
    bed.write("empty.npy", npy("<i4", 0, b""))
    bed.expect_same(2, "an empty NumPy array", ["empty.npy"], output="empty-out.npy")
    bed.write("ends.bin", b"\x01" * 24 + keys("random", "Q", 9_000, rng) + b"the end")
    bed.expect_same(3, "a header and an end that are kept", ["ends.bin"], "--skip=24", "--skip-end=7", "-t", "u64")
    bed.write("table.npy", npy("<f8", 60_000, keys("few", "d", 60_000, rng)).replace(b"(60000,), }   ", b"(15000, 4), } "))
    bed.expect_same(3, "rows by columns", ["table.npy"], "--key=1,3r", output="table-out.npy")
    # So long that the borders of processes lie at multiples of 4 MiB of the file.
    bed.write("long.npy", npy("<u8", 18_000_000, keys("random", "Q", 18_000_000, rng)))
    bed.expect_same(2, "a long NumPy array", ["long.npy"], "-S", "256M", output="long-out.npy")


def progress(bed: Bed) -> None:
    """Rank 0 shows it for all, if standard error is a terminal."""
    data = bed.write("in.u64", keys("random", "Q", 3_000_000, random.Random(8)))
    sort = ["env", "OMPI_MCA_btl=^tcp", *bed.mpi(3, "-S", "40M", data, "-o", "out")]  # without a network, TCP prints lines
    done = bed.run([*sort, "--progress=json"])
    shown = [json.loads(line) for line in done.stderr.splitlines()]
    if [one["phase"] for one in shown].count("done") != 1 or shown[-1]["bytes"] != 24_000_000:
        bed.fail("--progress=json", done)
    if not all("(rank " in one["slowest"]["process"] for one in shown if one["phase"] in ("read", "merge")):
        bed.fail("--progress=json does not name the slowest process", done)
    if (done := bed.run(sort)).returncode != 0 or done.stderr:
        bed.fail("progress without a terminal", done)


def check(bed: Bed) -> None:
    """gsort-mpi says of a file what gsort says."""
    rng = random.Random(8)
    bed.write("random.u64", keys("random", "Q", 100_000, rng))
    bed.write("sorted.u64", b"".join(struct.pack("<Q", n // 3) for n in range(400_000)))
    bed.write("late.u64", b"".join(struct.pack("<Q", n % 300_000) for n in range(400_000)))
    for words in bed.some((["-c", "sorted.u64"], ["-c", "late.u64"], ["-c", "-u", "sorted.u64"], ["-C", "late.u64"],
                           ["-c", "-r", "random.u64"], ["--fingerprint", "random.u64", "late.u64"],
                           ["--fingerprint", "random.u64", "--expect", "1:" + "0" * 16 + ":" + "0" * 16]), 3):
        wanted = bed.run([str(bed.gsort), *words])
        done = bed.run(bed.mpi(3, *words))
        told = [line for line in done.stderr.splitlines(keepends=True) if line.startswith("gsort: ")]
        if (done.returncode, done.stdout, "".join(told)) != (wanted.returncode, wanted.stdout, wanted.stderr):
            bed.fail(f"{' '.join(words)}: not what gsort says, {wanted}", done)


def explain_lustre(bed: Bed) -> None:
    """A file there is on one storage target by default; files of each process are on several."""
    bed.write("in.u32", keys("random", "I", 1000, random.Random(18)))
    lustre = ["env", "ON_LUSTRE=1", f"LD_PRELOAD={preloadable(bed.gsort_mpi.parents[1] / 'tests/libon_network.so')}"]
    for before, more, is_told in ((lustre, ["-o", "out.u32"], True), ([], ["-o", "out.u32"], False),
                                  (lustre, ["--parts", "-o", "out-{rank}.u32"], False)):
        done = bed.run([bed.mpirun, "-n", "2", *before, str(bed.gsort_mpi), "--explain", "in.u32", *more])
        if done.returncode != 0 or ("lfs setstripe -c -1 " in done.stdout) != is_told:
            bed.fail("--explain on Lustre", done)


def kill(bed: Bed) -> None:
    """A process is killed at some time of the sort: while it starts, forms runs, exchanges, syncs."""
    rng = random.Random(6)
    data = bed.write("large.u64", keys("random", "Q", 16_000_000, rng))
    command = bed.mpi(3, "-S", "40M", "--parallel=1", data, "-o", "old")
    begin = time.monotonic()
    done = bed.run(command)
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        bed.fail("the sort that is to be killed", done)
        return
    killed = 0
    for part in range(20):
        if part >= 5 and killed >= 3:  # more where the machine was busy with other work during one of these sorts
            break
        bed.write("old", b"the old output")
        running = subprocess.Popen(command, cwd=bed.folder, env=bed.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(seconds * (0.15 + 0.1 * (part % 5)))
        found = subprocess.run(["pgrep", "-x", "gsort-mpi", "-P", ",".join(descendants(running.pid))],
                               capture_output=True, text=True, check=False).stdout.split()
        for victim in found[part % 3:part % 3 + 1]:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(int(victim), signal.SIGKILL)
                killed += 1
        status = bed.status_of(running)
        output = (bed.folder / "old").read_bytes()
        if output != b"the old output" and len(output) != 128_000_000:
            bed.fail(f"a killed process, try {part}: the output is neither old nor new")
        if output == b"the old output" and status == 0:
            bed.fail(f"a killed process, try {part}: status 0 without an output")
        end = time.monotonic() + 60
        while bed.processes() and time.monotonic() < end:
            time.sleep(0.01)
        if bed.processes():
            bed.fail(f"a killed process, try {part}: processes are left")
    if killed < 3:
        bed.fail(f"only {killed} processes were killed")
    bed.expect_same(3, "the sort after killed ones", [data], output="old")
    if bed.left_names():
        bed.fail(f"names are left: {bed.left_names()}")


def trace_slowly(bed: Bed) -> None:
    """Rank 0 takes 5 s to write the trace of all, longer than processes wait for each other at the end."""
    data = bed.write("in.u64", keys("random", "Q", 2_000_000, random.Random(21)))
    os.mkfifo(bed.folder / "trace")
    both_ends = os.open(bed.folder / "trace", os.O_RDWR)  # does not wait for a reader
    fcntl.fcntl(both_ends, fcntl.F_SETPIPE_SZ, 4096)
    running = subprocess.Popen(bed.mpi(3, "-S", "40M", "--peer-timeout=4", data, "-o", "out", "--trace=trace"), cwd=bed.folder,
                               env=bed.environment, stderr=subprocess.PIPE, text=True)
    with open(bed.folder / "trace", "rb", buffering=0) as pipe:
        while fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ) == 4096 and running.poll() is None:  # gsort-mpi enlarges it
            time.sleep(0.001)
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
        select.select([pipe], [], [], 60)
        os.close(both_ends)  # gsort-mpi has opened it
        text = b""
        while b'"pid":3' not in text and (piece := pipe.read(4096)):
            text += piece
        time.sleep(5)
        text += pipe.read() or b""
    message = running.communicate(timeout=60)[1]
    (bed.folder / "trace").unlink()
    if running.returncode != 0 or not text.endswith(b"]}\n") or len(json.loads(text)["traceEvents"]) < 3:
        bed.fail(f"a trace written slowly: status {running.returncode}, {len(text)} bytes, {message}")


CASES = {case.__name__: case for case in (
    sort_keys, sort_alone, sort_on_many, sort_narrow_keys, write_parts, write_encoded_parts, write_one_of_each,
    write_one_of_each_together,
    read_inputs_here, check_inputs_here, write_the_first, shuffle, sort_in_place, sort_records,
    sort_arrays, check, progress, trace_slowly, refuse, explain_lustre, differ, kill, resume)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of the programs")
    parser.add_argument("--whole", action="store_true", help="all keys with all numbers of processes, not what the seed chooses")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], help="all, if none is named")
    arguments = parser.parse_args()
    if launcher_of(arguments.bin / "gsort-mpi") is None:
        print("skipped: no mpirun, or gsort-mpi was not built; tools/setup installs Open MPI")
        return SKIPPED
    if not arguments.whole:
        print(f"--seed {arguments.seed}")
    bed = Bed(arguments.bin.resolve(), None if arguments.whole else arguments.seed)
    try:
        for name in arguments.cases or CASES:
            begin = time.monotonic()
            CASES[name](bed)
            print(f"{name}: {time.monotonic() - begin:.1f} s")
    finally:
        shutil.rmtree(bed.folder, ignore_errors=True)
    print(f"{bed.sorts} sorts compared with gsort, {bed.failures} failures")
    return 1 if bed.failures else 0


if __name__ == "__main__":
    sys.exit(main())
