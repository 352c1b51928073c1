#!/usr/bin/env python3
"""Tests files that earlier versions of gsort left on disk, in former/: today's programs continue with them, or end with an error
that says why they do not.

The name of an archive ends with the version in the manifest (io/runs/manifest.hpp) or in the part records
(src/pipeline/share/part_record.hpp). The programs were those of 2026-11-28 and 2026-11-29. Each was started in the folder that is
packed; a few were killed:

  runs_2    gsort --resume=kept -S14M --parallel=1 LONG.u64 -o out   killed after its first run; the file of runs is cut there
  runs_4    gsort-mpi --resume=kept4 -S40M SHORT.u64 -o out          two processes, killed when one of them had a run
  shares_5  gsort --form=runs/I --share=I/2 SHORT.u64
  parts_N   gsort --take=I/2 --from=runs/0,runs/1 -o out
  own_N     gsort --take=I/2 --from=runs/0,runs/1 -u -o out-{}.txt
  joined_N  parts_N, and gsort --join=2 -o out

The test unpacks archives without rewriting them. A manifest identifies an input by its size, its elements and the time of its
last change, which this test sets. The hidden files get other inode numbers and times of change than their records say, as after
a backup was restored, so gsort reads them again."""

import argparse
import os
import struct
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

FORMER = Path(__file__).resolve().parent / "former"
CHANGED = 1_700_000_000  # seconds since 1970
SHORT, LONG = 10_000, 1_200_000


class Place:
    """A folder with the files that one version left, and both inputs."""

    def __init__(self, folder: Path, programs: Path):
        self.folder, self.programs, self.failures = folder, programs, []
        for name, count in (("SHORT.u64", SHORT), ("LONG.u64", LONG)):
            (folder / name).write_bytes(struct.pack(f"<{count}Q", *(i * 7919 % 251 for i in range(count))))
            os.utime(folder / name, (CHANGED, CHANGED))

    def unpack(self, *names: str) -> None:
        for name in names:
            with tarfile.open(FORMER / f"{name}.tar.xz") as archive:
                archive.extractall(self.folder)

    def run(self, *words: str, program: str = "gsort") -> tuple[int, str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GSORT_")}
        done = subprocess.run([self.programs / program, *words], cwd=self.folder, capture_output=True, text=True, check=False,
                              env=environment | {"GSORT_CACHE": "off"}, timeout=300)
        return done.returncode, done.stderr

    def expect(self, words: str, status: int = 0, says: str = "", program: str = "gsort") -> None:
        found, stderr = self.run(*words.split(), program=program)
        if found != status or says not in stderr:
            self.failures.append(f"{program} {words}: status {found}, {stderr!r}")

    def expect_bytes(self, what: str, holds: bool) -> None:
        if not holds:
            self.failures.append(f"other bytes: {what}")

    def read(self, pattern: str) -> bytes:
        return b"".join(path.read_bytes() for path in sorted(self.folder.glob(pattern)))

    def clear(self) -> None:
        for pattern in (".out*", "out*"):
            for path in self.folder.glob(pattern):
                path.unlink()

    def hidden(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if ".gsort-" in path.name)


def sorted_keys(count: int) -> bytes:
    return struct.pack(f"<{count}Q", *sorted(i * 7919 % 251 for i in range(count)))


TEXT = "".join(f"{key}\n" for key in range(251)).encode()
PARTS = {"parts": "-o out", "own": "-u -o out-{}.txt"}


def take(place: Place, kind: str, part: int, says: str = "") -> None:
    place.expect(f"--take={part}/2 --from=runs/0,runs/1 {PARTS[kind]} -v", says=says)


def expect_joined(place: Place, kind: str) -> None:
    place.expect(f"--join=2 {PARTS[kind].replace('-u ', '')}")
    if kind == "own":
        place.expect_bytes("own files", place.read("out-*.txt") == TEXT)
    else:
        place.expect_bytes("shared file", place.read("out") == sorted_keys(SHORT))
    outputs = ["out-0.txt", "out-1.txt"] if kind == "own" else ["out"]
    if place.hidden() != [f".{name}.gsort-joined" for name in outputs]:
        place.failures.append(f"hidden files stay: {place.hidden()}")


def runs_are_resumed(place: Place) -> None:
    place.unpack("runs_2")
    place.expect("-v --resume=kept -S14M --parallel=1 --engine=cpu LONG.u64 -o out", says="(1 resumed")
    place.expect_bytes("of resumed runs", place.read("out") == sorted_keys(LONG))
    if (place.folder / "kept").exists():
        place.failures.append("the folder of runs stays")


def runs_of_gsort_mpi_are_resumed(place: Place) -> None:
    if not (place.programs / "gsort-mpi").exists():
        return
    place.unpack("runs_4")
    resume = "--resume=kept4 -S40M --parallel=1 SHORT.u64 -o out"
    place.expect(f"{resume} --stats=stats", program="gsort-mpi")
    place.expect_bytes("of resumed runs", place.read("out") == sorted_keys(SHORT))
    if b'"resumed_elements": 5000,' not in place.read("stats"):
        place.failures.append(f"resumed otherwise: {place.read('stats')!r}")


def shares_are_taken(place: Place) -> None:
    place.unpack("shares_5")
    before = place.read("runs/*/*")
    place.expect("--form=runs/1 --share=1/2 SHORT.u64")
    place.expect_bytes("of a share that is there", place.read("runs/*/*") == before)
    for part in range(3):
        place.expect(f"--take={part}/3 --from=runs/1,runs/0 -o out")
    place.expect("--join=3 -o out")
    place.expect_bytes("of shares", place.read("out") == sorted_keys(SHORT))


def other_versions_are_refused(place: Place) -> None:
    for version, reason in ((1, "it has an unknown version"), (3, "an older version of gsort made it"),
                            (6, "it has an unknown version"), (0xffff, "it has an unknown version")):
        place.unpack("shares_5", "runs_2")
        for folder in ("runs/0", "kept"):
            path = place.folder / folder / "gsort.manifest"
            manifest = path.read_bytes()
            path.write_bytes(manifest[:4] + struct.pack("<H", version) + manifest[6:])
        before = place.read("runs/*/*") + place.read("kept/*")
        for words in ("--take=0/2 --from=runs/0,runs/1 -o out", "--form=runs/0 --share=0/2 SHORT.u64",
                      "--resume=kept -S14M LONG.u64 -o out"):
            place.expect(words, 2, reason)
        place.expect_bytes("of refused folders", before == place.read("runs/*/*") + place.read("kept/*"))
        if (place.folder / "out").exists():
            place.failures.append(f"version {version}: there is an output")


def records_are_read(place: Place) -> None:
    """If all parts are complete, --take does nothing and --join finishes."""
    for kind in PARTS:
        place.unpack("shares_5", f"{kind}_5")
        before = place.hidden()
        take(place, kind, 0, says="the part is complete already")
        if place.hidden() != before:
            place.failures.append(f"a complete part is taken again: {before}, {place.hidden()}")
        expect_joined(place, kind)
        expect_joined(place, kind)  # it is joined already
        place.clear()


def a_joined_output_is_known(place: Place) -> None:
    place.unpack("shares_5", "joined_5")
    take(place, "parts", 0, says="the part is complete already")
    expect_joined(place, "parts")


def former_records_are_ignored(place: Place, version: int) -> None:
    for kind in PARTS:
        place.unpack("shares_5", f"{kind}_{version}")
        place.expect(f"--join=2 {PARTS[kind].replace('-u ', '')}", 2, "0 of 2 parts exist")
        for part in range(2):
            take(place, kind, part)
        expect_joined(place, kind)
        place.clear()
    place.unpack(f"joined_{version}")
    place.expect("--join=2 -o out", 2, "0 of 2 parts exist")
    place.expect_bytes("of an output that was joined", place.read("out") == sorted_keys(SHORT))
    for part in range(2):
        take(place, "parts", part)
    expect_joined(place, "parts")


CASES = {
    "runs": runs_are_resumed,
    "runs of gsort-mpi": runs_of_gsort_mpi_are_resumed,
    "shares": shares_are_taken,
    "other versions": other_versions_are_refused,
    "records": records_are_read,
    "a joined output": a_joined_output_is_known,
    "records of version 3": lambda place: former_records_are_ignored(place, 3),
    "records of version 4": lambda place: former_records_are_ignored(place, 4),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True)
    programs = parser.parse_args().bin.resolve()
    failures = 0
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory(prefix="gsort-former-") as folder:
            place = Place(Path(folder), programs)
            case(place)
        for failure in place.failures:
            print(f"FAILED: {name}: {failure}")
        failures += len(place.failures)
    print(f"{len(CASES)} cases, {failures} failures")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
