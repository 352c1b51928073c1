"""Draws inputs, an order and a result for tools/soak, and says what must come out: by reference-sort, which shares
nothing with gsort, of the raw elements; files in another form are made of these, and read back, without gsort."""

import subprocess
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import forms

DISTRIBUTIONS = ["uniform", "sorted", "reversed", "nearly-sorted", "equal", "few-distinct", "zipf", "sawtooth",
                 "organ-pipe", "all-maximum"]
MOST_TEXT = 1 << 15  # elements: Python reads and writes them


@dataclass
class Input:
    """An input, and how it is sorted. `kind` is the type of keys, bytesN for records of N bytes if there are `keys`, or u32x4
    for rows of four u32 of a table."""
    kind: str = ""
    keys: str = ""  # of records, as --key takes them
    columns: str = ""  # of a table, as --key takes them; `keys` then has the same keys as fields of a record
    big: bool = False
    reverse: bool = False
    total: bool = False  # the order of floats
    unique: bool = False
    min_count: int | None = None  # keys come out with their counts
    top: int | None = None
    array: int | None = None
    argsort: bool = False  # positions come out
    shuffle: int | None = None  # the seed of a random order
    parts: int = 0  # that the output is split into, if it is
    merge: bool = False  # with min_count, inputs hold keys with their counts, which are added
    compare: str = ""  # with merge, "intersect" or "subtract": keys that all inputs have, or the first one alone
    each: bool = False  # every input by itself
    form: str = "bin"
    out_form: str = "bin"
    out_codec: str = ""
    around: tuple[bytes, bytes] = (b"", b"")  # in front of the elements of each input, and behind them
    names: list[str] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)  # of each input

    def is_of_bytes(self) -> bool:
        """Whether keys are strings of bytes."""
        return not self.keys and self.kind.startswith("bytes")

    def element_options(self) -> list[str]:
        if self.columns:
            words = [f"--key={self.columns}"] * (self.shuffle is None)
        elif self.keys:
            words = [f"--record={forms.bytes_of(self.kind)}"] + [f"--key={self.keys}"] * (self.shuffle is None)
        else:
            words = [] if self.form == "npy" else ["-t", self.kind]
        return words + ["--float-order=total"] * self.total

    def options(self) -> list[str]:
        words = self.element_options() + ["--endian=big"] * self.big + ["-u"] * self.unique
        words += ["-r"] * self.reverse if self.shuffle is None else [f"--shuffle={self.shuffle}"]
        words += [] if self.min_count is None else ["--count"] + [f"--min-count={self.min_count}"] * (self.min_count > 1)
        words += [] if self.top is None else [f"--top={self.top}"]
        words += [] if self.array is None else [f"--batch-elements={self.array}"]
        words += [f"--split-output={self.parts}"] * (self.parts > 0)
        words += ["-m"] * self.merge + [f"--{self.compare}"] * bool(self.compare) + ["--argsort"] * self.argsort
        words += [f"--skip={len(self.around[0])}", f"--skip-end={len(self.around[1])}"] * any(self.around)
        if (self.form, self.out_form) != ("bin", "bin"):
            words.append(f"--format={self.form}:{self.out_form}")
        if self.each:  # the names of the outputs, which are those of the inputs, do not say it
            return [*words, "--each", f"--compress={self.out_codec or 'none'}"]
        return words + ([f"--compress={self.out_codec}"] if self.out_codec else [])

    def can_come_through_a_pipe(self) -> bool:
        """All inputs as one of unknown size."""
        is_raw = not self.each and self.form == "bin" and all(name.endswith(".raw") for name in self.names)
        if self.parts and (self.merge or self.array is not None) or any(self.around) and len(self.names) > 1:
            return False
        return is_raw and not (self.merge and len(self.names) > 1) and not self.counts_late(True)

    def counts_late(self, size_is_unknown: bool) -> bool:
        """Whether the header of the output must be written before anybody knows what it must say."""
        put_while_read = self.merge or self.array is not None
        drops_elements = self.unique or self.compare or self.adds_counts()
        return bool(self.out_form == "npy" and self.out_codec and (drops_elements or (put_while_read and size_is_unknown)))

    def adds_counts(self) -> bool:
        return self.merge and self.min_count is not None

    def refused_as(self) -> tuple[str, ...]:
        """The beginnings of all messages about drawn options that do not fit together."""
        reasons = []
        if self.keys and not self.argsort and self.form == "npy" and self.out_form == "text":  # an array of records is written as one, too
            reasons.append("gsort: records with this output: ")
        if self.keys and not self.argsort and self.form != "npy" and self.out_form != "bin":
            reasons.append("gsort: --record with this output: ")
        if "128" in self.kind and not self.keys and not self.argsort and self.out_form == "npy":
            reasons.append(f"gsort: {self.kind} with this output: ")
        if self.counts_late(self.form == "text" or not all(name.endswith((".raw", ".npy")) for name in self.names)):
            reasons.append("gsort: writing an array")
        if self.parts and (self.merge or self.array is not None) and \
                (self.form == "text" or not all(name.endswith((".raw", ".npy")) for name in self.names)):
            reasons.append("gsort: splitting the output: ")
        return tuple(reasons)

    def can_be_sorted_on_gpu(self) -> bool:
        """Arrays of records and of keys of 128 bits cannot."""
        return self.array is None or not (self.keys or "128" in self.kind or self.is_of_bytes())

    def reference_words(self) -> list[str]:
        is_record = self.keys or self.is_of_bytes()
        words = [f"record={forms.bytes_of(self.kind)}", f"key={self.keys or f'0:{self.kind}'}"] if is_record else [self.kind]
        return words + ["big"] * self.big + ["descending"] * self.reverse + ["total"] * self.total

    def alone(self) -> list["Input"]:
        """Each of the inputs, if each is sorted by itself; else all as one."""
        if not self.each:
            return [self]
        return [replace(self, each=False, names=[name], raw=[raw]) for name, raw in zip(self.names, self.raw)]

    def wanted(self, environment: dict) -> bytes:
        """The raw elements that must come out."""
        words = self.reference_words() + ["unique"] * (self.unique and self.min_count is None)
        words += [] if self.array is None else [f"array={self.array}"]
        words += [] if self.top is None else [f"top={self.top}"]
        if self.argsort:
            return self.wanted_positions(words, environment)
        if self.shuffle is not None:
            return self.wanted_shuffle()
        if self.adds_counts():
            return self.wanted_sums(environment)
        if self.compare:
            return self.wanted_of_sets()
        result = reference_sorted(words, b"".join(self.raw), environment)
        if self.min_count is not None:
            result = reference_sorted(words + ["alike"] * (not self.total), b"".join(self.raw), environment)
            counts = forms.counted(result, self.kind, self.big, self.min_count)
            return self.one_nan_of_counts(counts) if self.out_form == "text" else counts
        return forms.one_nan(result, self.kind, self.big) if self.out_form == "text" else result

    def counted(self, raw: bytes, environment: dict) -> bytes:
        """The distinct keys, in order, each with its count."""
        words = self.reference_words() + ["alike"] * (not self.total)
        return forms.counted(reference_sorted(words, raw, environment), self.kind, self.big, 1)

    def wanted_sums(self, environment: dict) -> bytes:
        size, order, sums = forms.bytes_of(self.kind), "big" if self.big else "little", Counter()
        for raw in self.raw:
            for at in range(0, len(raw), size + 8):
                sums[raw[at:at + size]] += int.from_bytes(raw[at + size:at + size + 8], order)
        keys = reference_sorted(self.reference_words(), b"".join(sums), environment)
        pairs = [(keys[at:at + size], sums[keys[at:at + size]]) for at in range(0, len(keys), size)]
        counts = b"".join(key + count.to_bytes(8, order) for key, count in pairs if count >= self.min_count)
        return self.one_nan_of_counts(counts) if self.out_form == "text" else counts

    def first_of_each_key(self, raw: bytes) -> dict[bytes, bytes]:
        """By the bytes that equal keys have in common. If elements are only keys, equal floats become one."""
        words = [word.rstrip("r").partition(":") for word in self.keys.split(",")] if self.keys else [("0", ":", self.kind)]
        fields = [(int(at), int(at) + forms.bytes_of(kind), kind) for at, _, kind in words]
        size, firsts = forms.bytes_of(self.kind), {}
        if not self.keys and not self.total:
            raw = forms.alike(raw, self.kind, self.big)
        for element in (raw[at:at + size] for at in range(0, len(raw), size)):
            key = b"".join(element[begin:end] if self.total else forms.alike(element[begin:end], kind, self.big)
                           for begin, end, kind in fields)
            firsts.setdefault(key, element)
        return firsts

    def wanted_of_sets(self) -> bytes:
        first, *others = map(self.first_of_each_key, self.raw)
        chosen = all if self.compare == "intersect" else lambda members: not any(members)
        result = b"".join([element for key, element in first.items() if chosen(key in other for other in others)][:self.top])
        return forms.one_nan(result, self.kind, self.big) if self.out_form == "text" else result

    def wanted_shuffle(self) -> bytes:
        size, raw = forms.bytes_of(self.kind), b"".join(self.raw)
        order = forms.shuffled_order(self.shuffle, len(raw) // size)[:self.top]
        result = b"".join(raw[at * size:(at + 1) * size] for at in order)
        return forms.one_nan(result, self.kind, self.big) if self.out_form == "text" else result

    def wanted_positions(self, words: list[str], environment: dict) -> bytes:
        """The options for records followed by their positions, and sorted by the same keys."""
        size, raw = forms.bytes_of(self.kind), b"".join(self.raw)
        order = "big" if self.big else "little"
        records = b"".join(raw[at:at + size] + (at // size).to_bytes(4, order) for at in range(0, len(raw), size))
        words = [f"record={size + 4}", f"key={self.keys or f'0:{self.kind}'}", *words[2 if self.keys or self.is_of_bytes() else 1:]]
        result = reference_sorted(words, records, environment)
        return b"".join(result[at + size:at + size + 4] for at in range(0, len(result), size + 4))

    def one_nan_of_counts(self, counts: bytes) -> bytes:
        size = forms.bytes_of(self.kind)
        pairs = [counts[at:at + size + 8] for at in range(0, len(counts), size + 8)]
        keys = forms.one_nan(b"".join(pair[:size] for pair in pairs), self.kind, self.big)
        return b"".join(keys[i * size:(i + 1) * size] + pair[size:] for i, pair in enumerate(pairs))

    def read_back(self, output: bytes) -> bytes:
        """The raw elements of an output; ValueError where it is none."""
        plain = forms.decompressed(output, self.out_codec)
        if not self.argsort:
            header, end = self.around
            if not (plain.startswith(header) and plain[len(header):].endswith(end)):
                raise ValueError("another header, or another end")
            plain = plain[len(header):len(plain) - len(end)]
        from_form = forms.FROM_FORM if self.min_count is None else forms.COUNTS_FROM_FORM
        return from_form[self.out_form](plain, "u32" if self.argsort else self.kind, self.big)

    def keeps_any_order(self) -> bool:
        """Merges accept equal floats in any order, and write them in any."""
        return self.merge and not self.adds_counts() and not self.keys and not self.total and forms.is_float(self.kind)

    def is_equal(self, elements: bytes, wanted: bytes) -> bool:
        if not self.keeps_any_order() or elements == wanted:
            return elements == wanted
        return forms.alike(elements, self.kind, self.big) == forms.alike(wanted, self.kind, self.big)


def reference_sorted(words: list[str], raw: bytes, environment: dict) -> bytes:
    return subprocess.run(["reference-sort", *words], input=raw, env=environment, stdout=subprocess.PIPE, check=True).stdout


def random_record(pick: Random) -> tuple[str, str]:
    """Kind and keys: one to three that may overlap nowhere, in any order, with gaps."""
    keys, at = [], 0
    for name in pick.choices([*forms.TYPES, "bytes1", "bytes3", "bytes8", "bytes20"], k=pick.randint(1, 3)):
        at += pick.choice([0, 0, 1, 3])
        keys.append(f"{at}:{name}" + pick.choice(["", "", "r"]))
        at += forms.bytes_of(name)
    pick.shuffle(keys)
    return f"bytes{at + pick.choice([0, 0, 1, 8, 70])}", ",".join(keys)


def random_table(pick: Random) -> tuple[str, str, str]:
    """Draws kind, keys and columns (see Input): one to three keys in a table of up to six columns."""
    name = pick.choice([*(name for name in forms.TYPES if forms.has_dtype(name)), "bytes3", "bytes20"])
    count, size = pick.choice([1, 2, 3, 6]), forms.bytes_of(name)
    keys = [(column, pick.choice(["", "", "r"])) for column in pick.sample(range(count), pick.randint(1, min(3, count)))]
    return (f"{name}x{count}", ",".join(f"{column * size}:{name}{reverse}" for column, reverse in keys),
            ",".join(f"{column}{reverse}" for column, reverse in keys))


def random_raw(pick: Random, given: Input, count: int, environment: dict) -> bytes:
    if not given.keys and not given.is_of_bytes():
        words = ["gsort-gen", "-t", given.kind, "-n", str(count), "-d", pick.choice(DISTRIBUTIONS), "--seed",
                 str(pick.randrange(1000)), f"--endian={'big' if given.big else 'little'}", "-o", "-"]
        return subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True).stdout
    values = pick.choice([2, 3, 256])  # few: many keys are equal
    return pick.randbytes(count * forms.bytes_of(given.kind)).translate(bytes(i % values for i in range(256)))


def random_input(pick: Random, folder: Path, environment: dict) -> Input:
    """Draws one, and writes its files."""
    given = Input(big=pick.random() < 0.25, reverse=pick.random() < 0.3, total=pick.random() < 0.2)
    given.kind, given.keys = random_record(pick) if pick.random() < 0.25 else (pick.choice([*forms.TYPES, f"bytes{pick.randint(1, 32)}"]), "")
    if given.keys in (f"0:{given.kind}", f"0:{given.kind}r"):  # -t bytesN is the same
        given.reverse, given.keys = given.reverse != given.keys.endswith("r"), ""
    if given.keys and pick.random() < 0.3:
        given.kind, given.keys, given.columns = random_table(pick)
    is_array = forms.has_dtype(given.kind) and not given.is_of_bytes()
    given.form = pick.choice(["bin"] * 6 + ["npy"] * is_array + ["text"] * (not given.keys))
    given.form = "npy" if given.columns else given.form
    given.out_form = pick.choice(["bin"] * 5 + ["npy", "text"])
    if given.keys and given.out_form != "bin" and (given.out_form == "text" if given.columns else pick.random() < 0.8):
        given.out_form = "bin"
    given.out_codec = pick.choice([""] * 6 + list(forms.CODECS))
    what = pick.choice(["", "", "", "unique", "top", "both", "arrays", "merge", "sets", "sums"])
    given.unique = what in ("unique", "both")
    if what == "unique" and not given.keys and pick.random() < 0.5:
        given.min_count = pick.choice([1, 1, 2, 3])
    if what == "sums" and not given.keys and given.form == "bin":
        given.min_count = pick.choice([1, 1, 2, 3])
    given.compare = pick.choice(["intersect", "subtract"]) if what == "sets" else ""
    given.top = int(2 ** pick.uniform(0, 18)) if what in ("top", "both") or (given.compare and pick.random() < 0.3) else None
    given.array = int(2 ** pick.uniform(0, 18)) if what == "arrays" else None
    given.merge = what in ("merge", "sets", "sums")
    given.argsort = what in ("", "unique", "top", "both") and given.min_count is None and pick.random() < 0.2
    if what in ("", "top") and not given.argsort and given.min_count is None and pick.random() < 0.1:
        given.shuffle = pick.choice([0, 1, 2**64 - 1, pick.getrandbits(64)])
    if given.shuffle is not None and given.keys and forms.bytes_of(given.kind) == 1:
        given.out_form = "bin"  # without a key, such a record is a bytes1, which arrays and text can hold
    has_known_size = not (given.unique or given.compare or given.adds_counts())
    if has_known_size and given.out_form != "npy" and pick.random() < 0.15:
        given.parts = pick.choice([2, 3, 11, 100])
    if given.form == given.out_form == "bin" and not given.parts and pick.random() < 0.25:
        given.around = tuple(pick.randbytes(pick.choice([0, 1, 7, 4096, 70_000])) for _ in range(2))
    count = int(2 ** pick.uniform(0, 20)) - 1
    if given.argsort or given.compare or given.adds_counts() or "text" in (given.form, given.out_form):
        count = min(count, pick.randrange(MOST_TEXT))
    if given.keys or given.is_of_bytes():
        count //= forms.bytes_of(given.kind) // 8 + 1
    first = b""
    for number in range(pick.choice([2, 2, 3] if given.compare else [1, 1, 1, 2, 3])):
        raw = random_raw(pick, given, count, environment)
        if given.merge and pick.random() < 0.7:  # some elements are those of the first input
            half = len(first) // forms.bytes_of(given.kind) // 2 * forms.bytes_of(given.kind)
            raw = first[:half] + raw[half:]
        first = first or raw
        write_one(pick, given, number, folder, raw, environment)
    given.each = not given.merge and not given.parts and not given.refused_as() and pick.random() < 0.15
    return given


def write_one(pick: Random, given: Input, number: int, folder: Path, raw: bytes, environment: dict) -> None:
    if given.form == "text":
        raw = forms.one_nan(raw, given.kind, given.big)
    if given.merge:
        raw = reference_sorted(given.reference_words(), raw, environment)
    if given.adds_counts():
        raw = given.counted(raw, environment)
    codec = pick.choice([""] * 5 + list(forms.CODECS))
    content = forms.TO_FORM[given.form](raw, given.kind, given.big).join(given.around)
    if given.columns and not codec and pick.random() < 0.3:
        content = forms.array_of(raw, given.kind, given.big, by_columns=True)
    name = f"{number}.{ {'bin': 'raw', 'text': 'txt', 'npy': 'npy'}[given.form]}"
    if codec:
        suffix, compress, _ = forms.CODECS[codec]
        name, content = name + suffix, compress(content)
    (folder / name).write_bytes(content)
    given.names.append(name)
    given.raw.append(raw)
