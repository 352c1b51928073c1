"""Does -S hold? Runs every feature with several values of -S and compares the peak of resident memory with the promise:
SIZE, or the least that the help names, if that is more. A sort that does not fit must be refused before an input is read, and
the size in the message must then suffice."""

import argparse
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

MIB = 1 << 20
LEAST_MIB = 24  # as --help says
PROMISE = f"The peak of resident memory is at most SIZE, or {LEAST_MIB}M if SIZE is less."  # in the README and the manual page
SIZES = [16, 24, 32, 48, 64, 128, 512]
CODECS = {"gz": "gzip -1", "bz2": "bzip2 -1", "xz": "xz -0", "zst": "zstd -1"}
MANY_NAMES = 60_000
MANY_ARRAYS = 5_000

# The kernel counts the memory of the forking process as the child's peak, so a small Python forks.
PEAK_OF = """import resource, subprocess, sys
status = subprocess.run(["bash", "-o", "pipefail", "-c", sys.argv[1]]).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""

# The commands that make a feature's files, besides in.u64, and sort them; G is gsort with -S, I holds more than -S.
FEATURES = {
    "plain": "G I -o out",
    "u32": "G -t u32 I -o out",
    "u128": "G -t u128 I -o out",
    "f64 descending": "G -rt f64 I -o out",
    "u8": "G -t u8 I -o out",
    "u16": "G -t u16 I -o out",
    "several files": "G I in.few I -o out",
    "pipe in": "cat I | G -o out -t u64 -",
    "pipe out": "G I -o - | cat > /dev/null",
    "pipes": "cat I | G -t u64 - | cat > /dev/null",
    "null": "G I -o /dev/null",
    "direct": "G --direct-io=on I -o out",
    "page cache": "G --direct-io=off I -o out",
    "packed": "G --pack-runs=on I -o out",
    "not packed": "G --pack-runs=off I -o out",
    "equal keys": "G equal.u64 -o out",
    "unproven": "G --no-verify I -o out",
    "16 threads": "G --parallel=16 I -o out",
    "one thread": "G --parallel=1 I -o out",
    "few at once": "G --batch-size=2 I -o out",
    "text out": "G I --format=bin:text -o out",
    "text": "G -t u64 in.txt -o out.txt",
    "text in": "G in.txt -t u64 --format=text:bin -o out",
    **{f"{codec} in": f"G -t u64 in.{codec} -o out" for codec in CODECS},
    **{f"{codec} out": f"G I --compress={CODECS[codec].split()[0]} -o out" for codec in CODECS},
    "bzip2 level 9": "G in.few --compress=bzip2:9 -o out",
    "xz level 6": "G in.few --compress=xz:6 -o out",
    "zstd level 19": "G in.few --compress=zstd:19 -o out",
    "zstd text": "G in.few --format=bin:text --compress=zstd -o out",
    "unproven gzip": "G I --compress=gzip --no-verify -o out",
    "split": "G I --split-output=256 -o 'out-{}'",
    "split, direct": "G I --split-output=256 --direct-io=on -o 'out-{}'",
    "split, text": "G I --format=bin:text --split-output=16 -o 'out-{}'",
    "256 of text": "G I --format=bin:text --split-output=256 -o 'out-{}'",
    "256 of gzip": "G I --compress=gzip --split-output=256 -o 'out-{}'",
    "256 of zstd": "G I --compress=zstd --split-output=256 -o 'out-{}'",
    "records": "G --record=32 --key=0:u64 I -o out",
    "benchmark records": "G --record=100 --key=0:bytes10 in.100 -o out",
    "long records": "G --record=16K --key=0:u64 in.16K -o out",
    "records, distinct": "G --record=32 --key=0:u16 -u I -o out",
    "records, compressed": "G --record=32 --key=0:u64 in.few --compress=zstd -o out",
    "first few": "G --top=1000 I -o out",
    "first million": "G --top=1000000 I -o out",
    "distinct": "G -u I -o out",
    "counts": "G -u --count I -o out",
    "counts as text": "G -u --count I --format=bin:text -o out",
    "positions": "G --argsort I -o out",
    "shuffle": "G --shuffle I -o out",
    "array": "G in.npy -o out.npy",
    "counted file": "G -t u64 I --format=bin:sosd -o out",
    "merge": "G -m sorted sorted sorted sorted -t u64 -o out",
    "merge of 300": "G -m $(yes sorted.few | head -300) -t u64 -o out",
    "merge of gzip": "G -m $(yes sorted.few.gz | head -20) -t u64 -o out",
    "merge of counts": "G -m --count counts counts counts -t u64 -o out",
    "merge of counts to text": "G -m --count counts counts -t u64 --format=bin:text -o out",
    "merge to text": "G -m sorted sorted.few -t u64 --format=bin:text -o out",
    "intersect": "G -m --intersect sorted sorted sorted.few -t u64 -o out",
    "subtract": "G -m --subtract sorted sorted.few -t u64 -o out",
    "batch": "G --batch-elements=1000 I -o out",
    "batch of large": "G --batch-elements=5000000 I -o out",
    "check": "G -c sorted -t u64",
    "check of text": "G -t u64 -c sorted.few.txt",
    "fingerprint": "G --fingerprint I",
    "resume": "G --resume=resume I -o out",
    "form": "rm -rf form; G --form=form --share=0/2 I",
    "take": "G --take=0/1 --from=shares -o out",
    "take of text": "G --take=0/1 --from=shares --format=bin:text -o 'out-{}.txt'",
    "join": "G --join=1 -o joined",
    "many names": "G --files0-from=names -t u64 -o out",
    "many arrays of records": "G --files0-from=arrays --key=field000 -o out",
    "many folders": "G -T a -T b -T c I -o out",
    "explain": "G --explain I -o out",
    "trace and statistics": "G --stats=stats I -o out",
}


# The command that makes each file, from the files that it names. M: mebibytes of in.u64. Compressed files hold one member N
# times, because compression takes time.
FILES = {
    "in.u64": "gsort-gen -t u64 --size ${M}M -o in.u64",
    "in.few": "head -c $((M < 24 ? M : 24))M in.u64 > in.few",
    "equal.u64": "gsort-gen -t u64 -d equal --size ${M}M -o equal.u64",
    "in.100": "head -c $(((M << 20) / 100 * 100)) in.u64 > in.100",
    "in.16K": "ln -f in.u64 in.16K",
    "in.npy": "gsort in.u64 -o in.npy",
    "in.txt": "gsort in.u64 -o in.txt --format=bin:text",
    "sorted": "gsort in.u64 -o sorted",
    "sorted.few": "gsort in.few -t u64 -o sorted.few",
    "sorted.few.txt": "gsort in.few -t u64 -o sorted.few.txt --format=bin:text",
    "sorted.few.gz": "gsort in.few -t u64 -o sorted.few.gz",
    "counts": "gsort -u --count in.few -t u64 -o counts",
    "shares": "gsort -S 24M --form=shares --share=0/1 in.u64",
    "names": f"mkdir many; cd many; head -c $((8 * {MANY_NAMES})) ../in.u64 | split -a 5 -b 8; cd ..; find many -type f -print0 > names",
    "arrays": f"yes one.npy | head -{MANY_ARRAYS} | tr '\\n' '\\0' > arrays",
    **{f"in.{suffix}": f"head -c $(((M << 20) / N)) in.u64 | {command} > member; yes member | head -$N | xargs cat > in.{suffix}"
       for suffix, command in CODECS.items()},
}


def make_first(folder: Path):
    """Makes an array of one record, and the folders for --temporary-directory."""
    fields = [(f"field{number:03}", "<i4") for number in range(250)]
    header = f"{{'descr': {fields}, 'fortran_order': False, 'shape': (1,), }}\n".encode()
    (folder / "one.npy").write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + bytes(1000))
    for name in "abc":
        (folder / name).mkdir(exist_ok=True)


def make_files_of(command: str, folder: Path, environment: dict):
    """Makes the files that the command names and that do not exist yet."""
    for name in re.findall(r"[\w.]+", command):
        if name in FILES and not (folder / name).exists():
            make_files_of(FILES[name].replace(name, ""), folder, environment)
            subprocess.run(["bash", "-ec", FILES[name]], cwd=folder, env=environment, check=True)


class Promise:
    def __init__(self, folder: Path, mib: int, members: int):
        self.folder, self.environment = folder, {**os.environ, "M": str(mib), "N": str(members)}
        self.seconds_of_making = 0.0

    def peak_of(self, feature: str, size: int) -> tuple[int, float, str]:
        """The exit status, the peak in MiB, and what was said."""
        command = " ".join("in.u64" if word == "I" else word for word in FEATURES[feature].split(" "))
        begin = time.monotonic()
        make_files_of(f"shares {command}" if feature == "join" else command, self.folder, self.environment)
        self.seconds_of_making += time.monotonic() - begin
        if feature == "join":
            subprocess.run(["gsort", "--take=0/1", "--from=shares", "-o", "joined"], cwd=self.folder, check=True)
        words = [f"gsort -S {size}M" if word == "G" else word for word in command.split(" ")]
        done = subprocess.run([sys.executable, "-c", PEAK_OF, " ".join(words)], cwd=self.folder, capture_output=True, text=True)
        subprocess.run("rm -rf out out-* out.* resume form .out*", shell=True, cwd=self.folder, check=True)
        status, kib = done.stdout.split()[-2:]
        return int(status), int(kib) / 1024, done.stderr

    def problem(self, feature: str, size: int) -> str:
        """Why the promise does not hold; empty where it does."""
        status, peak, said = self.peak_of(feature, size)
        least = max(size, LEAST_MIB)
        print(f"{feature:22} -S {size:3}M: {peak:6.1f} MiB, {peak - least:+6.1f}{'' if status == 0 else ' status ' + str(status)}", flush=True)
        if peak > least:
            return f"{feature} with -S {size}M takes {peak:.1f} MiB"
        if status == 0:
            return ""
        named = re.search(r"-S (\d+)M or more|use at least (\d+)M", said)
        if status != 2 or not named:
            return f"{feature} with -S {size}M ends with status {status}: {said}"
        way_out = int(named[1] or named[2])
        if way_out <= size:
            return f"{feature} with -S {size}M names -S {way_out}M: {said}"
        status, peak, said = self.peak_of(feature, way_out)
        print(f"{'':22} -S {way_out:3}M: {peak:6.1f} MiB, as named")
        return "" if status == 0 and peak <= max(way_out, LEAST_MIB) else f"{feature} with -S {way_out}M, as named: status {status}, {peak:.1f} MiB: {said}"


def keep_cores_busy(stop: threading.Event):
    until_orphaned = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
    processes = [subprocess.Popen([sys.executable, "-c", until_orphaned]) for _ in range(2)]
    stop.wait()
    for process in processes:
        process.kill()
        process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, type=Path, help="folder of gsort and gsort-gen")
    parser.add_argument("--whole", action="store_true", help="all features with all sizes, also on busy cores")
    parser.add_argument("--seconds", type=float, default=60, help="for features and sizes at random (else); making files takes more")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--features", help="only these, separated by semicolons")
    parser.add_argument("--sizes", help="only these, in MiB, separated by commas")
    parser.add_argument("--input-mib", type=int, default=None)
    parser.add_argument("--folder", type=Path, help="with inputs of an earlier call")
    given = parser.parse_args()
    os.environ["PATH"] = f"{given.bin.resolve()}:{os.environ['PATH']}"
    sizes = [int(size) for size in given.sizes.split(",")] if given.sizes else SIZES if given.whole else SIZES[:5]
    features = list(FEATURES) if given.features in (None, "all") else given.features.split(";")
    mib = given.input_mib or (768 if given.whole else 48)
    print(f"--seed {given.seed}")
    cases = [(feature, size) for feature in features for size in sizes]
    random.Random(given.seed).shuffle(cases)
    if not given.whole and not given.features:
        cases.insert(0, (("many names", 64), ("many arrays of records", 32))[given.seed // 2 % 2])  # leave little for buffers
    pages = [(Path(__file__).resolve().parents[2] / "README.md").read_text(),
             subprocess.run(["gsort", "--generate=man"], check=True, capture_output=True, text=True).stdout]
    problems = ["a page has another sentence"] * any(PROMISE not in " ".join(page.split()) for page in pages)
    with tempfile.TemporaryDirectory(dir=given.folder) as made:
        folder = given.folder or Path(made)
        make_first(folder)
        promise = Promise(folder, mib, 1 if given.whole else 8)
        begin = time.monotonic()
        for busy in (False, True) if given.whole else (given.seed % 2 == 1,):
            stop = threading.Event()
            load = threading.Thread(target=keep_cores_busy, args=(stop,))
            if busy:
                load.start()
            for feature, size in cases:
                if not given.whole and not given.features and time.monotonic() - begin - promise.seconds_of_making > given.seconds:
                    break
                problem = promise.problem(feature, size)
                if problem:
                    problems.append(problem + (" on busy cores" if busy else ""))
            stop.set()
            if busy:
                load.join()
    for problem in problems:
        print("the promise does not hold:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
