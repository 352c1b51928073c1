#!/usr/bin/env python3
"""Random command lines against a reference: what comes out of every combination of options is what a few lines of
Python, which share nothing with gsort, make of the same elements.

A job is elements (keys of any type, or records), inputs (files, stdin, text, arrays, compressed), a result (-u, --top,
--argsort, --each, -m, -m --count, --intersect, --subtract, --batch-elements, -c, -C, --fingerprint) and a way out; each is drawn by a seed of its own, so that one job can be
run again.

With --large, every 97th job is larger than memory; Python needs a minute for such a one.

Usage: random_jobs.py --gsort FILE [--seconds S] [--large] [--seed N [--jobs 1]]
"""

import argparse
import bz2
import gzip
import lzma
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import forms  # noqa: E402  found by the line above

UNPACKERS = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@dataclass
class Key:
    """A key of a record, or the whole of an element."""
    offset: int
    type: str  # of forms.TYPES, or "bytesN"
    big: bool
    reverse: bool

    def width(self) -> int:
        return forms.bytes_of(self.type)

    def ordered(self, element: bytes, by_bits: bool = False) -> bytes:
        """Bytes that compare as the key is to be ordered."""
        raw = forms.ordered(element[self.offset:self.offset + self.width()], self.type, self.big, by_bits)
        return bytes(255 - byte for byte in raw) if self.reverse else raw


@dataclass
class Job:
    size: int  # of an element
    keys: list[Key]
    inputs: list[list[bytes]]
    options: list[str] = field(default_factory=list)
    columns: int = 0  # of arrays whose rows are the elements
    unique: bool = False
    top: int | None = None
    merge: bool = False
    compare: str = ""  # with merge: "intersect" or "subtract"
    array: int | None = None
    argsort: bool = False
    shuffle: int | None = None
    check: str = ""
    around: tuple[bytes, bytes] = (b"", b"")  # the bytes before and behind the elements of each input
    places: list[str] = field(default_factory=list)  # the options for them

    def is_of_records(self) -> bool:
        return self.columns > 0 or any("--record" in option for option in self.options)

    def options_of_raw(self) -> list[str]:
        """The options for the same elements in files of raw elements."""
        if not self.columns:
            return self.options
        key = self.keys[0]
        words = [f"{key.offset}:{key.type}{'r' if key.reverse else ''}" for key in self.keys]
        return ["--endian=big"] * key.big + [f"--record={self.size}", "--key=" + ",".join(words)]

    def key(self, element: bytes) -> bytes:
        return b"".join(key.ordered(element) for key in self.keys)

    def place(self, element: bytes) -> bytes:
        """The key; for a key alone, also what orders equal ones."""
        return self.key(element) if self.is_of_records() else self.keys[0].ordered(element, by_bits=True)

    def all(self) -> list[bytes]:
        return [element for elements in self.inputs for element in elements]

    def wanted(self) -> bytes:
        """The expected result of a sort."""
        elements, step = self.all(), self.array or sys.maxsize
        if self.argsort:
            return self.positions(elements)
        if self.shuffle is not None:
            return b"".join([elements[at] for at in forms.shuffled_order(self.shuffle, len(elements))][:self.top])
        if self.compare:
            first, *others = [{self.key(element): element for element in reversed(some)} for some in self.inputs]
            chosen = all if self.compare == "intersect" else lambda members: not any(members)
            return b"".join([first[key] for key in sorted(first) if chosen(key in other for other in others)][:self.top])
        result = []
        for begin in range(0, len(elements), step):
            result += sorted(elements[begin:begin + step], key=self.place)
        if self.unique:
            keys = list(map(self.key, result))
            result = [element for i, element in enumerate(result) if i == 0 or keys[i] != keys[i - 1]]
        return b"".join(result[:self.top])

    def alike(self, raw: bytes) -> bytes | list[bytes]:
        """The values of keys alone; else the bytes."""
        if self.is_of_records() or len(raw) % self.size:
            return raw
        return [self.key(raw[at:at + self.size]) for at in range(0, len(raw), self.size)]

    def positions(self, elements: list[bytes]) -> bytes:
        keys = list(map(self.key, elements))
        result = sorted(range(len(keys)), key=keys.__getitem__)
        if self.unique:
            result = [at for i, at in enumerate(result) if i == 0 or keys[at] != keys[result[i - 1]]]
        return b"".join(at.to_bytes(4, "big" if self.keys[0].big else "little") for at in result[:self.top])

    def first_disorder(self, elements: list[bytes]) -> int | None:
        for i in range(1, len(elements)):
            before, here = self.key(elements[i - 1]), self.key(elements[i])
            starts_array = self.array is not None and i % self.array == 0
            if not starts_array and (here < before or (self.unique and self.check and here == before)):
                return i
        return None


def random_keys(rng: random.Random) -> tuple[int, list[Key], list[str]]:
    """Size and keys of the elements, and the options that say so."""
    big, reverse = rng.random() < 0.2, rng.random() < 0.3
    options = ["--endian=big"] * big + ["-r"] * reverse
    if rng.random() < 0.5:
        name = rng.choice([*forms.TYPES, "bytes3", "bytes4", "bytes16", "bytes20", "bytes32"])
        key = Key(0, name, big, reverse)
        return key.width(), [key], options + ["-t", name]
    names = rng.choices([*forms.TYPES, "bytes1", "bytes3", "bytes9", "bytes20"], k=rng.randint(1, 3))
    keys, at = [], 0
    for name in names:
        at += rng.choice([0, 0, 1, 5])
        keys.append(Key(at, name, big, reverse != (rng.random() < 0.3)))
        at += keys[-1].width()
    rng.shuffle(keys)
    size = at + rng.choice([0, 0, 1, 8, 100])
    words = [f"{key.offset}:{key.type}{'r' if key.reverse != reverse else ''}" for key in keys]
    return size, keys, options + [f"--record={size}", "--key=" + ",".join(words)]


def random_columns(rng: random.Random) -> tuple[int, int, list[Key], list[str]]:
    """Draws a table: the number of its columns, then what random_keys() returns."""
    big, reverse = rng.random() < 0.2, rng.random() < 0.3
    name = rng.choice([name for name in forms.TYPES if forms.has_dtype(name)])
    count, size = rng.choice([1, 2, 3, 7]), forms.bytes_of(name)
    picked = [(column, rng.random() < 0.3) for column in rng.sample(range(count), rng.randint(1, min(3, count)))]
    keys = [Key(column * size, name, big, reverse != flipped) for column, flipped in picked]
    words = [f"{column}{'r' if flipped else ''}" for column, flipped in picked]
    return count, size * count, keys, ["-r"] * reverse + ["--key=" + ",".join(words)]


def random_elements(rng: random.Random, size: int, count: int) -> list[bytes]:
    """Random bytes with many values, or so few that most are equal; prefixes may agree in both."""
    values = rng.choice([1, 2, 3, 256])
    alike = rng.choice([0, 0, size // 2])
    if values == 256 and not alike:
        raw = rng.randbytes(size * count)
    else:
        raw = bytes(0 if i % size < alike else byte % values for i, byte in enumerate(rng.randbytes(size * count)))
    return [raw[at:at + size] for at in range(0, len(raw), size)]


def random_job(rng: random.Random, large: bool, of_table: bool) -> Job:
    columns, size, keys, options = random_columns(rng) if of_table else (0, *random_keys(rng))
    most = 9_000_000 // size if large else rng.choice([0, 1, 2, 10, 3000])
    inputs = [random_elements(rng, size, rng.randint(most // 2, most)) for _ in range(rng.choice([1, 1, 1, 2, 4]))]
    job = Job(size, keys, inputs, options, columns)
    mode = rng.choice(["sort", "sort", "merge", "arrays", "check"])
    if mode == "check":
        job.check = rng.choice(["-c", "-C"])
        job.inputs = job.inputs[:1]
    if mode in ("arrays", "check") and (mode == "arrays" or rng.random() < 0.3):
        job.array = rng.choice([1, 2, 7, 1000, 10_000, 10**9])
    if mode != "arrays":
        job.unique = rng.random() < 0.3
    if mode in ("sort", "merge") and rng.random() < 0.4:
        job.top = rng.choice([0, 1, 2, 5, 100, 10**6])
    job.merge = mode == "merge"
    if job.merge or (job.check and rng.random() < 0.7):
        prepare_sorted(rng, job)
    return job


def prepare_sorted(rng: random.Random, job: Job) -> None:
    """Puts the inputs in order, but for a few that shall be refused."""
    for elements in job.inputs:
        step = job.array or sys.maxsize
        for begin in range(0, len(elements), step):
            elements[begin:begin + step] = sorted(elements[begin:begin + step], key=job.key)
        if job.check and job.unique and rng.random() < 0.7:
            elements[:] = list({job.key(element): element for element in elements}.values())
        if len(elements) > 1 and rng.random() < 0.2:
            i, j = sorted(rng.sample(range(len(elements)), 2))
            elements[i], elements[j] = elements[j], elements[i]


def is_text_safe(job: Job) -> bool:
    """Text is of keys, and knows one NaN only."""
    return not forms.is_float(job.keys[0].type) and not job.is_of_records()


def type_of(job: Job) -> str:
    """The type that forms.py gives the elements: that of the keys, a table, or bytesN for records."""
    if job.columns:
        return f"{job.keys[0].type}x{job.columns}"
    return f"bytes{job.size}" if job.is_of_records() else job.keys[0].type


def content_of(job: Job, elements: list[bytes], form: str) -> bytes:
    return forms.TO_FORM[form](b"".join(elements), type_of(job), job.keys[0].big)


def places_of(job: Job, rng: random.Random) -> list[str]:
    """Options that say where the elements are: their number, if all inputs have the same, the bytes behind them, or both."""
    elements = [f"--elements={len(job.inputs[0])}"] * (len(set(map(len, job.inputs))) == 1)
    end = [f"--skip-end={len(job.around[1])}"]
    return [f"--skip={len(job.around[0])}"] + rng.choice([end, elements or end, end + elements])


class Runner:
    def __init__(self, gsort: str, folder: Path):
        self.gsort, self.folder = gsort, folder

    def write_inputs(self, rng: random.Random, job: Job, around: random.Random) -> tuple[list[str], bytes | None]:
        """The operands, and what goes to stdin."""
        names, stdin = [], None
        array = rng.random() < 0.15 and forms.has_dtype(type_of(job)) or job.columns > 0
        if not array and around.random() < 0.2:
            job.around = (b"header"[:around.randint(0, 6)], around.randbytes(around.choice([1, 3, 70_000])))
            job.places = places_of(job, around)
        for number, elements in enumerate(job.inputs):
            text = not array and is_text_safe(job) and rng.random() < 0.15 and job.around == (b"", b"")
            packer = rng.choice(["", "", "", *PACKERS])
            content = content_of(job, elements, "npy" if array else "text" if text else "bin")
            content = job.around[0] + content + job.around[1]
            if not array and not text and not packer and stdin is None and rng.random() < 0.2:
                names.append("-")
                stdin = content
                continue
            name = f"in{number}" + (".npy" if array else ".txt" if text else ".bin") + packer
            (self.folder / name).write_bytes(PACKERS[packer](content))
            names.append(name)
        return names, stdin

    def run(self, seed: int, large: bool) -> str | None:
        """The fault of the job of this seed."""
        rng = random.Random(seed)
        job = random_job(rng, large, random.Random(-seed - 6).random() < 0.1)  # so that other jobs stay as they are
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        names, stdin = self.write_inputs(rng, job, random.Random(-seed - 5))
        drawing = random.Random(-seed - 7)  # as below
        if not (job.merge or job.check or job.unique or job.array) and drawing.random() < 0.15:
            job.shuffle = drawing.choice([0, 1, 2**64 - 1, drawing.getrandbits(64)])
            job.options = [f"--shuffle={job.shuffle}"] + [word for word in job.options if word != "-r" and not word.startswith("--key")]
        options = [*job.options, *job.places, "-S", "40M" if large else rng.choice(["64M", "128M"])]
        options += ["--parallel=%d" % rng.choice([1, 2, 3])] + ["--decompress=auto"] * rng.choice([0, 1])
        comparing = random.Random(-seed - 8)  # as below
        if job.merge and len(job.inputs) > 1 and comparing.random() < 0.4:
            job.compare = comparing.choice(["intersect", "subtract"])
            options.append(f"--{job.compare}")
        options += ["-u"] * job.unique + ["-m"] * job.merge
        options += [] if job.top is None else [f"--top={job.top}"]
        options += [] if job.array is None else [f"--batch-elements={job.array}"]
        is_plain = not job.merge and not job.check and job.array is None and job.shuffle is None
        job.argsort = is_plain and random.Random(-seed - 2).random() < 0.2  # as below
        counting = random.Random(-seed - 4)  # as below
        has_counts = job.merge and not job.compare and not large and not job.is_of_records()
        if has_counts and counting.random() < 0.4:
            return self.add_counts(job, [*job.options, "-S", "64M"] + ["--batch-size=2"] * counting.randint(0, 1), counting)
        if job.merge and rng.random() < 0.3:
            options.append("--batch-size=2")
        expecting = random.Random(-seed - 1)  # as above
        if job.check:
            return self.check(job, [*options, job.check], names, stdin, expecting)
        if expecting.random() < 0.1 and job.shuffle is None:
            return self.fingerprint(job, [*options, "--fingerprint"], names, stdin, expecting)
        options += ["--argsort"] * job.argsort
        if self.may_be_each(job, names) and random.Random(-seed - 3).random() < 0.2:
            return self.sort_each(job, options, names)
        options += ["--pack-runs=" + rng.choice(["auto", "on", "off"])] + ["--no-verify"] * (rng.random() < 0.2)
        out = rng.choice(["out.bin", "out.bin", "out.bin.gz", "-"])
        options += ["--format=" + ("npy:bin" if names[0].split(".")[1:2] == ["npy"] else "bin")] if out == "-" and all(
            name == "-" or ".txt" not in name for name in names) and all(
            (".npy" in name) == (".npy" in names[0]) for name in names) else []
        if out == "-" and not options[-1].startswith("--format"):
            out = "out.bin"
        return self.sort(job, [*options, "-o", out], names, stdin, out)

    def execute(self, options, names, stdin):
        command = [self.gsort, *options, *names]
        self.command = shlex.join(["gsort", *options, *names])
        environment = {"PATH": "/usr/bin:/bin", "TMPDIR": str(self.folder), "LC_ALL": "C.UTF-8",
                       **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}}
        return subprocess.run(command, cwd=self.folder, input=stdin if stdin is not None else b"", env=environment,
                              capture_output=True, timeout=120)

    def add_counts(self, job: Job, options, rng: random.Random) -> str | None:
        """-m --count: the inputs become their distinct keys with random counts, raw or as text, one also the output."""
        key, order = job.keys[0], "big" if job.keys[0].big else "little"
        most, sums, names = rng.choice([1, 3, 2**60]), {}, []
        is_text = is_text_safe(job) and rng.random() < 0.3
        for number, elements in enumerate(job.inputs):
            counted = {job.key(element): (element, rng.randint(1, most)) for element in elements}
            content = b""
            for place, (element, count) in sorted(counted.items()):
                sums[place] = sums.get(place, 0) + count
                content += (b"%d\t" % count + content_of(job, [element], "text") if is_text
                            else element + count.to_bytes(8, order))
            packer = rng.choice(["", "", *PACKERS])
            names.append(f"in{number}.{'txt' if is_text else 'counts'}{packer}")
            (self.folder / names[-1]).write_bytes(PACKERS[packer](content))
        least = rng.choice([1, 1, 2, most])
        out = names[-1] if names[-1].endswith(".counts") else "out"
        form = "text:bin" if is_text else "bin"
        done = self.execute([*options, "-m", "--count", f"--min-count={least}", f"--format={form}", "-o", out], names, None)
        if done.returncode != 0:
            return f"status {done.returncode}: {done.stderr.decode()}"
        result, size = (self.folder / out).read_bytes(), key.width() + 8
        found = [(job.key(result[at:at + key.width()]), int.from_bytes(result[at + key.width():at + size], order))
                 for at in range(0, len(result), size)]
        wanted = [pair for pair in sorted(sums.items()) if pair[1] >= least]
        return None if found == wanted else f"{len(found)} counts came out, {len(wanted)} others are right"

    def sort(self, job: Job, options, names, stdin, out) -> str | None:
        done = self.execute(options, names, stdin)
        disorders = [job.first_disorder(elements) for elements in job.inputs] if job.merge else []
        if any(disorder is not None for disorder in disorders):
            return self.refused(done, names, disorders, out)
        if done.returncode != 0:
            return f"status {done.returncode}: {done.stderr.decode()}"
        result = done.stdout if out == "-" else (self.folder / out).read_bytes()
        if out.endswith(".gz"):
            result = gzip.decompress(result)
        wanted = job.wanted()
        if not job.argsort:
            wanted = job.around[0] + wanted + job.around[1]
        if job.merge:  # inputs have equal floats in any order
            if not (result.startswith(job.around[0]) and result.endswith(job.around[1])):
                return "the bytes around the elements were not copied"
            inside = slice(len(job.around[0]), len(result) - len(job.around[1]))
            result, wanted = job.alike(result[inside]), job.alike(job.wanted())
        return None if result == wanted else f"{len(result)} bytes came out, {len(wanted)} others are right"

    def may_be_each(self, job: Job, names: list[str]) -> bool:
        """No header must be written before it is known what it says."""
        if job.around != (b"", b""):
            return False
        late = (job.unique or job.array is not None) and any(".npy." in name for name in names)
        return not job.merge and not late and "-" not in names

    def sort_each(self, job: Job, options, names) -> str | None:
        """Outputs have the names and the forms of the inputs."""
        (self.folder / "outs").mkdir()
        done = self.execute([*options, "--each", "-o", "outs"], names, None)
        if done.returncode != 0:
            return f"status {done.returncode}: {done.stderr.decode()}"
        kind, big = "u32" if job.argsort else type_of(job), job.keys[0].big
        for name, elements in zip(names, job.inputs):
            content = (self.folder / "outs" / name).read_bytes()
            for suffix, unpack in UNPACKERS.items():
                content = unpack(content) if name.endswith(suffix) else content
            form = "npy" if ".npy" in name else "text" if ".txt" in name else "bin"
            if forms.FROM_FORM[form](content, kind, big) != replace(job, inputs=[elements]).wanted():
                return f"the output of {name} is wrong"
        return None

    def refused(self, done, names, disorders, out) -> str | None:
        """A merge of what is not sorted: the message names one of the inputs and its first disorder."""
        places = [f"{'standard input' if name == '-' else name}: element {disorder:,} is out of order"
                  for name, disorder in zip(names, disorders) if disorder is not None]
        text = done.stderr.decode()
        if done.returncode != 2 or not any(place in text for place in places):
            return f"status {done.returncode}: {text} instead of one of {places}"
        return "there is an output" if (self.folder / out).exists() else None

    def expected(self, job: Job, rng: random.Random) -> tuple[str, bool]:
        """The fingerprint of the same elements, raw and in another order; or of others, so that the answer is False."""
        elements = rng.sample(job.all(), len(job.all()))
        is_same = not elements or rng.random() < 0.6
        if not is_same:
            changed = bytearray(elements[0])
            changed[rng.randrange(job.size)] ^= 1 << rng.randrange(8)
            elements[0] = bytes(changed)
        (self.folder / "expected").write_bytes(b"".join(elements))
        options = [*job.options_of_raw(), "--fingerprint", "--format=bin", "--decompress=none"]
        done = self.execute(options, ["expected"], None)
        return done.stdout.decode().strip(), is_same

    def fingerprint(self, job: Job, options, names, stdin, rng: random.Random) -> str | None:
        options = [option for option in options if option not in ("-u", "-m", "--intersect", "--subtract") and
                   not option.startswith("--top")]
        expected, is_same = self.expected(job, rng)
        done = self.execute([*options, f"--expect={expected}"], names, stdin)
        said = done.stdout.decode() if is_same else done.stderr.decode()
        right = said == f"{expected}\n" if is_same else f"expected {len(job.all()):,} with {expected}\n" in said
        return None if right and done.returncode == (0 if is_same else 1) else f"status {done.returncode}: {said}"

    def check(self, job: Job, options, names, stdin, rng: random.Random) -> str | None:
        expected, is_same = self.expected(job, rng) if rng.random() < 0.5 else ("", True)
        done = self.execute([*options, f"--expect={expected}"] if expected else options, names, stdin)
        text = done.stdout.decode() + done.stderr.decode()
        disorder = job.first_disorder(job.inputs[0])
        if done.returncode != (0 if disorder is None and is_same else 1):
            return f"status {done.returncode}: {text}; the first disorder is {disorder}"
        if job.check == "-C":
            return f"said {text}" if text else None
        count = len(job.inputs[0])
        wanted = f"{count:,} element{'' if count == 1 else 's'}, "
        if disorder is not None:
            wanted = f"element {disorder:,} is out of order"
        elif not is_same:
            wanted = f"expected {count:,} with {expected}\n"
        return None if wanted in text else f"said {text} instead of {wanted}"


def types_of(gsort: str) -> list[str]:
    done = subprocess.run([gsort, "-t", "?"], capture_output=True, text=True)
    return done.stderr.partition("the types are ")[2].partition(";")[0].split()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gsort", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    if (types := types_of(options.gsort)) != list(forms.TYPES):
        print(f"gsort has the types {types}, forms.py the types {list(forms.TYPES)}")
        return 1
    begin, failed, count = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="gsort-jobs-") as folder:
        runner = Runner(os.path.abspath(options.gsort), Path(folder))
        for seed in range(options.seed, options.seed + options.jobs):
            if time.monotonic() - begin > options.seconds:
                break
            problem = runner.run(seed, options.large and seed % 97 == 0)
            count += 1
            if problem:
                failed += 1
                print(f"seed {seed}: {runner.command}\n    {problem.strip()}", flush=True)
    print(f"{count} jobs, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
