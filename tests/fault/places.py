#!/usr/bin/env python3
"""Tests the remains of a sort, and its output, in unusual surroundings: an input that grows while the
output is synced, a file system like NFS, signals there, and outputs that are written into the file that is there.

Usage: places.py --bin DIR --shim FILE [CASE...]
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from preload import preloadable  # noqa: E402

CASES = {}
MOST_CALLS = 400


def case(function):
    CASES[function.__name__] = function
    return function


class Place:
    """A folder, and commands in it with the faults that are asked for."""

    def __init__(self, options):
        self.folder = Path(tempfile.mkdtemp(prefix="gsort-places-"))
        self.shim, self.problems = preloadable(options.shim), []
        self.environment = {"PATH": f"{options.bin.resolve()}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}

    def run(self, command: str, **faults: str) -> subprocess.CompletedProcess:
        """`exec` keeps the shell's name from hiding how gsort ends."""
        environment = {**self.environment, **({"LD_PRELOAD": str(self.shim), **faults} if faults else {})}
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env=environment, capture_output=True, text=True,
                              timeout=120)

    def names(self) -> list[str]:
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*"))

    def expect(self, holds: bool, what: str, done=None) -> None:
        if holds:
            return
        self.problems.append(what)
        print(f"    {what}: status {done.returncode}, {done.stderr.strip()}" if done else f"    {what}", self.names())


@case
def bytes_that_are_appended_while_the_output_is_synced_stay(place):
    for command, files in (("gsort a.u32 -o a.u32", "a"), ("gsort -u a.u32 b.u32 -o b.u32", "b"),
                           ("gsort --each a.u32", "a"), ("gsort --top=5 -o a.u32 a.u32", "a"),
                           ("gsort --replace=write a.u32 -o a.u32", "a")):
        place.run("gsort-gen -t u32 -n 1000 -o a.u32; gsort-gen -t u32 -n 999 -o b.u32")
        path = place.folder / f"{files}.u32"
        before = path.read_bytes()
        done = place.run(f"exec {command}", GSORT_FAULT="fsync:1:run", GSORT_FAULT_RUN=f"printf tail >> {files}.u32")
        place.expect(done.returncode == 2 and f"{files}.u32" in done.stderr, f"{command}: no error", done)
        place.expect(path.read_bytes() == before + b"tail", f"{command}: the tail is lost", done)
        place.expect(place.names() == ["a.u32", "b.u32"], f"{command}: something is left", done)


@case
def an_input_that_changes_while_a_redirected_output_is_synced_is_an_error(place):
    for command in ("gsort a.u32 > out", "gsort -t u32 < a.u32 > out", "gsort -m a.u32 b.u32 >> out", "gsort --top=5 b.u32 a.u32 -o - > out",
                    "gsort -m --intersect b.u32 a.u32 -o /dev/stdout 1<> out", "gsort -t u8 -u --count a.u32 -o /dev/fd/3 3> out"):
        for change in ("printf tail >> a.u32", "printf HEAD | dd of=a.u32 conv=notrunc status=none"):
            place.run("rm -f out; gsort-gen -d sorted -t u32 -n 1000 -o a.u32; cp a.u32 b.u32")
            done = place.run(f"exec {command}", GSORT_FAULT="fsync:1:run", GSORT_FAULT_RUN=change)
            place.expect(done.returncode == 2 and "while it was read" in done.stderr, f"{command}, {change}: no error", done)
    place.run("gsort-gen -t u32 -n 1000 -o a.u32; gsort a.u32 > want")
    done = place.run("exec gsort a.u32 > out", GSORT_FAULT="fsync:1:run", GSORT_FAULT_RUN="true")
    place.expect(done.returncode == 0 and place.run("cmp out want").returncode == 0, "a sort without changes failed", done)


@case
def bytes_that_are_appended_while_the_output_is_written_into_stay(place):
    # In the order of the calls: the copy is synced and gets its name, its folder is synced; then the file is written and synced.
    for option, fault, is_old in (("", "fsync:2", True), ("", "pwrite:2", False), ("-u", "fsync:2", True),
                                  ("-u", "pwrite:2", False)):
        place.run("rm -f *; gsort-gen -t u32 -n 1000 -o in; cat in in > a.u32")
        path = place.folder / "a.u32"
        before = path.read_bytes()
        done = place.run(f"exec gsort --replace=write --parallel=1 {option} a.u32 -o a.u32", GSORT_FAULT=f"{fault}:run",
                         GSORT_FAULT_RUN="printf tail >> a.u32")
        what = f"{option} {fault}"
        place.expect(done.returncode == 2 and "a.u32" in done.stderr, f"{what}: no error", done)
        place.expect(path.read_bytes().endswith(b"tail"), f"{what}: the tail is lost", done)
        if is_old:
            place.expect(path.read_bytes() == before + b"tail", f"{what}: the file has changed", done)
        place.expect(len(place.names()) == (2 if is_old else 3), f"{what}: another copy", done)


@case
def on_nfs_a_finished_sort_leaves_nothing(place):
    place.run("gsort-gen -t u64 --size 24M -o in.u64; gsort in.u64 -o want")
    for command in ("gsort -S 16M --resume=dir in.u64 -o out", "gsort -S 16M --resume=dir -u in.u64 -o out"):
        done = place.run(f"exec {command}", GSORT_LIKE_NFS="1")
        place.expect(done.returncode == 0, f"{command}: failed", done)
        place.expect(place.names() == ["in.u64", "out", "want"], f"{command}: something is left", done)
        same = place.run("cmp out want")
        place.expect(same.returncode == 0, f"{command}: wrong", same)


@case
def on_nfs_a_repeated_join_sees_what_another_host_wrote(place):
    place.run("gsort-gen -t u64 -n 1000 -o in.u64; gsort --form=runs --share=0/1 in.u64")
    states = {"GSORT_OLD_STATES": str(place.folder / "states")}
    for command in ("gsort --take=0/1 --from=runs -o out", "gsort --join=1 -o out", "gsort --join=1 -o out"):
        done = place.run(f"exec {command}", **states)
        place.expect(done.returncode == 0, f"{command}: failed", done)
    place.run("head -c 8000 /dev/zero > out")
    done = place.run("exec gsort --join=1 -o out", **states)
    place.expect(done.returncode == 2 and "out" in done.stderr, "the output of another host is taken for the joined one", done)


@case
def files_are_own_where_the_file_system_maps_owners(place):
    place.run("gsort-gen -t u64 --size 24M -o in.u64; gsort in.u64 -o want")
    resume = "gsort -S 16M --resume=dir in.u64 -o out"
    for kind in ("USUAL", "GSORT_LIKE_NFS"):
        mapped = {kind: "1", "GSORT_MAPPED_OWNERS": "1"}
        done = place.run(f"exec {resume}", **mapped, GSORT_FAULT="rename:3:kill-after")
        place.expect(done.returncode == -9, f"{resume}: not killed", done)
        for command in (resume, "gsort --form=runs --share=0/1 in.u64", "gsort --take=0/1 --from=runs -o joined",
                        "gsort --join=1 -o joined"):
            done = place.run(f"exec {command}", **mapped)
            place.expect(done.returncode == 0, f"{command}: failed", done)
        same = place.run("cmp out want && cmp joined want; rm -r runs")
        place.expect(same.returncode == 0, "wrong", same)


@case
def a_signal_leaves_no_hidden_files(place):
    place.run("gsort-gen -t u64 --size 2M -o in.u64; printf old > out")
    hits = 0
    for command, kind in (("gsort in.u64 -o out", "GSORT_LIKE_NFS"), ("gsort --split-output=3 in.u64 -o p{}", "GSORT_LIKE_NFS"),
                          ("gsort -t u64 --form=runs --share=0/1 in.u64", "USUAL"),
                          ("gsort -t u64 --form=runs --share=0/1 in.u64", "GSORT_LIKE_NFS")):
        for signal, status in (("term", 143), ("int", 130), ("hup", 129)):
            for call in ("pwrite:1", "pwrite:2", "fsync:1", "fsync:2", "rename:1", "link:1"):
                for when in ("before", "after"):
                    done = place.run(f"exec {command}", **{kind: "1", "GSORT_FAULT": f"{call}:{signal}-{when}"})
                    hits += done.returncode == 128 - status
                    hidden = [name for name in place.names() if "gsort-" in name]  # .nfs goes with the process
                    place.expect(not hidden, f"{command}, {call}:{signal}-{when}: {hidden}", done)
                    place.expect(done.returncode in (0, -(status - 128)), f"{command}, {call}:{signal}-{when}: another status", done)
                    for name in place.names():  # in place by then, or not
                        if name not in ("in.u64", "out") and (place.folder / name).exists():
                            shutil.rmtree(place.folder / name) if (place.folder / name).is_dir() else (place.folder / name).unlink()
                    (place.folder / "out").write_bytes(b"old")
    place.expect(hits > 40, f"only {hits} signals came while there was something to remove")


@case
def a_signal_does_not_wait_for_a_server(place):
    place.run("gsort-gen -t u64 --size 2M -o in.u64")
    done = place.run("exec timeout -s KILL 20 gsort -t u64 --form=runs --share=0/1 in.u64", GSORT_DEAD_SERVER="1",
                     GSORT_FAULT="pwrite:2:term-before")  # of the runs: around other calls, signals wait
    place.expect(done.returncode == -15, "it does not end by the signal", done)
    place.expect(place.names() == ["in.u64"], "something is left", done)


@case
def a_killed_write_into_the_output_leaves_all_of_it_in_the_copy(place):
    place.run("gsort-gen -t u32 --size 3M -o in.u32; gsort in.u32 -o want; head -c 1000000 in.u32 > old")
    want, old = (place.folder / "want").read_bytes(), (place.folder / "old").read_bytes()
    partial = whole = 0
    for number in range(1, MOST_CALLS):
        (place.folder / "out.u32").write_bytes(old)
        done = place.run("exec gsort --parallel=1 --replace=write in.u32 -o out.u32", GSORT_FAULT=f"pwrite:{number}:kill-before")
        found = (place.folder / "out.u32").read_bytes()
        copies = list(place.folder.glob("out.u32.gsort-*"))
        if done.returncode == 0 and (partial or number > 200):  # threads of the sort make it more or fewer calls
            break
        if done.returncode == 0:
            continue
        partial += found not in (old, want)
        whole += bool(copies)
        place.expect(found in (old, want) or [copy.read_bytes() for copy in copies] == [want],
                     f"pwrite {number}: neither the output nor a copy is whole", done)
        for copy in copies:
            copy.unlink()
    place.expect(done.returncode == 0 and found == want and not copies, "a sort that nobody killed", done)
    place.expect(partial > 0 and whole >= partial, f"{partial} partial outputs, {whole} copies")


@case
def a_failed_write_into_the_output_names_the_copy(place):
    place.run("gsort-gen -t u32 --size 3M -o in.u32; gsort in.u32 -o want; head -c 1000000 in.u32 > old")
    want, old = (place.folder / "want").read_bytes(), (place.folder / "old").read_bytes()
    named = 0
    for number in range(1, MOST_CALLS):
        (place.folder / "out.u32").write_bytes(old)
        done = place.run("exec gsort --parallel=1 --replace=write in.u32 -o out.u32", GSORT_FAULT=f"pwrite:{number}:5")
        copies = list(place.folder.glob("out.u32.gsort-*"))
        if done.returncode == 0 and (named or number > 200):  # threads of the sort make it more or fewer calls
            break
        if done.returncode == 0:
            continue
        place.expect(done.returncode == 2, f"pwrite {number}: another status", done)
        if copies:
            named += 1
            place.expect(copies[0].name in done.stderr and copies[0].read_bytes() == want, f"pwrite {number}: the copy", done)
            copies[0].unlink()
        else:
            place.expect((place.folder / "out.u32").read_bytes() == old, f"pwrite {number}: the old output is lost", done)
    place.expect(done.returncode == 0 and named > 0, f"{named} copies were named", done)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=Path, required=True, help="the folder of gsort and gsort-gen")
    parser.add_argument("--shim", type=Path, required=True, help="the library that shim.cpp makes")
    parser.add_argument("cases", nargs="*", help="all")
    options = parser.parse_args()
    failed = 0
    for name in options.cases or CASES:
        place = Place(options)
        try:
            CASES[name](place)
        finally:
            shutil.rmtree(place.folder, ignore_errors=True)
        failed += bool(place.problems)
        print(f"{'FAILED' if place.problems else 'ok'}: {name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
