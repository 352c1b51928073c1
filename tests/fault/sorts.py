"""The sorts that are run while something goes wrong: every way in, every way out, every strategy. Each takes a fraction
of a second, and still spills, packs or merges in several passes where its name says so."""

import bz2
import gzip
import lzma
import shutil
import struct
import subprocess
import sys
from array import array
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import forms  # noqa: E402  found by the line above

NOT_ON_GPU = ("malloc",)  # CUDA's library crashes where memory runs out
CODES = {"u8": "B", "u32": "I", "u64": "Q"}


@dataclass
class Sort:
    """A command line; `make` is bash that makes its inputs, `wanted` says what the keys of the output must be, `decoded`
    takes the output back to raw keys."""

    make: str
    arguments: list[str]
    wanted: Callable[[Path], bytes]
    stdin: str | None = None  # a file that comes through a pipe
    to_pipe: bool = False
    decoded: Callable[[bytes], bytes] = bytes
    needs_threads: bool = False  # one of -m that merges while another reads; those of xz's library
    over: str | None = None  # the output: one of the inputs
    parts: int = 0  # that the output is split into, if it is; they must be new
    each: tuple[str, ...] = ()  # inputs of which every one has an output; `wanted` are all of these, joined
    resumes: str | None = None  # the folder of the runs, which may stay until the sort is given again
    without: tuple[str, ...] = ()  # calls that are left out
    on_gpu: bool = False  # needs one


def keys_of(folder: Path, *names: str) -> array:
    keys = array(CODES[names[0].rpartition(".")[2]])
    for name in names:
        keys.frombytes((folder / name).read_bytes())
    return keys


def sorted_keys(*names: str, change=lambda keys: keys) -> Callable[[Path], bytes]:
    def wanted(folder: Path) -> bytes:
        keys = keys_of(folder, *names)
        return array(keys.typecode, change(sorted(keys))).tobytes()
    return wanted


def counted_keys(*names: str) -> Callable[[Path], bytes]:
    def wanted(folder: Path) -> bytes:
        return b"".join(struct.pack("<IQ", key, count) for key, count in sorted(Counter(keys_of(folder, *names)).items()))
    return wanted


def sorted_by_themselves(*names: str) -> Callable[[Path], bytes]:
    return lambda folder: b"".join(sorted_keys(name)(folder) for name in names)


def sorted_records(name: str, size: int) -> Callable[[Path], bytes]:
    """By the first eight bytes as a number; Python's sort is stable, too."""
    def wanted(folder: Path) -> bytes:
        raw = (folder / name).read_bytes()
        records = [raw[at:at + size] for at in range(0, len(raw), size)]
        return b"".join(sorted(records, key=lambda record: int.from_bytes(record[:8], "little")))
    return wanted


def place_of_float(bits: int) -> tuple[int, int]:
    """Numeric order; equal floats by their bits, NaN without a sign first."""
    if bits & 0x7FFFFFFF > 0x7F800000:
        return (2, -bits) if bits >> 31 else (1, bits)
    return 0, -bits if bits >> 31 else bits + 1


def counted_texts(name: str, size: int) -> Callable[[Path], bytes]:
    def wanted(folder: Path) -> bytes:
        raw = (folder / name).read_bytes()
        counts = Counter(raw[at:at + size] for at in range(0, len(raw), size))
        return b"".join(text + struct.pack("<Q", count) for text, count in sorted(counts.items()))
    return wanted


def positions_of(name: str) -> Callable[[Path], bytes]:
    def wanted(folder: Path) -> bytes:
        keys = keys_of(folder, name)
        return array("I", sorted(range(len(keys)), key=keys.__getitem__)).tobytes()
    return wanted


def shuffled(name: str, seed: int) -> Callable[[Path], bytes]:
    def wanted(folder: Path) -> bytes:
        keys = keys_of(folder, name)
        return array(keys.typecode, [keys[at] for at in forms.shuffled_order(seed, len(keys))]).tobytes()
    return wanted


def sorted_arrays(name: str, elements: int) -> Callable[[Path], bytes]:
    def wanted(folder: Path) -> bytes:
        keys = keys_of(folder, name)
        return b"".join(array(keys.typecode, sorted(keys[at:at + elements])).tobytes()
                        for at in range(0, len(keys), elements))
    return wanted


def zstd_decoded(data: bytes) -> bytes:
    return subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout


def between(header: bytes, end: bytes) -> Callable[[bytes], bytes]:
    """Decodes an output by removing the header and the end that --skip and --skip-end, or --elements, have copied to it."""
    def decoded(data: bytes) -> bytes:
        inside = data[len(header):len(data) - len(end)]
        return inside if header + inside + end == data else b"another header or another end"
    return decoded


def spilling(kind: str, *options: str, size="2M", memory="2M", resumes=None) -> Sort:
    name = f"in.{kind}"
    options = [*options, f"--resume={resumes}"] if resumes else options
    return Sort(f"gsort-gen -t {kind} --size {size} -o {name}", ["-S", memory, *options, name], sorted_keys(name),
                resumes=resumes)


def small(kind: str, *options: str, **more) -> Sort:
    name = f"in.{kind}"
    return Sort(f"gsort-gen -t {kind} -d zipf -n 100003 -o {name}", [*options, name],
                more.pop("wanted", sorted_keys(name)), **more)


def compressed(codec: str) -> Sort:
    """Arrays of an input in the codec, each sorted separately: the whole is not sorted."""
    return Sort("gsort-gen -t u32 -d zipf -n 100003 -o in.u32; "
                f"gsort --batch-elements=1000 --compress={codec} in.u32 -o in.u32.packed",
                ["-t", "u32", "in.u32.packed"], sorted_keys("in.u32"))


def cpu_sorts() -> dict[str, Sort]:
    sorts = {
        "one_chunk": small("u32"),
        "spilling": spilling("u32"),
        "unpacked": spilling("u64", "--pack-runs=off"),
        "in_place": Sort("gsort-gen -t u32 --size 2M -o in.u32", ["-S", "2M", "in.u32"], sorted_keys("in.u32"),
                         over="in.u32"),
        "several_passes": spilling("u32", "--batch-size=2"),
        "around_the_page_cache": spilling("u32", "--direct-io=on"),
        "through_the_page_cache": spilling("u64", "--direct-io=off"),
        "two_temporary_folders": spilling("u64", "-T", "../tmp", "-T", "../other-tmp"),
        "resumable": spilling("u32", "--batch-size=4", resumes="../tmp/runs"),
        "pipes": Sort("gsort-gen -t u64 --size 16M -o in.u64", ["-t", "u64", "-S", "20M", "--parallel=1"],
                      sorted_keys("in.u64"), stdin="in.u64", to_pipe=True),
        "records": Sort("gsort-gen -t u64 --size 3M -o in.u64", ["-S", "3M", "--record=16", "--key=0:u64", "in.u64"],
                        sorted_records("in.u64", 16)),
        "merged": Sort("for i in 1 2 3; do gsort-gen -t u32 -d sorted -n 50000 --seed $i -o $i.u32; done",
                       ["-m", "1.u32", "2.u32", "3.u32"], sorted_keys("1.u32", "2.u32", "3.u32"), needs_threads=True),
        "added_counts": Sort("for i in 1 2 3; do gsort-gen -t u32 -d zipf -n 50003 --seed $i -o $i.u32; "
                             "gsort -u --count $i.u32 -o $i.counts; done",
                             ["-t", "u32", "-m", "--count", "--format=bin", "1.counts", "2.counts", "3.counts"],
                             counted_keys("1.u32", "2.u32", "3.u32"), over="2.counts", needs_threads=True),
        "common": Sort("for i in 1 2 3; do gsort-gen -t u32 -n 50003 --seed 1 | gsort -t u32 -u --top=${i}0000 -o $i.u32; done",
                       ["-m", "--intersect", "1.u32", "2.u32", "3.u32"], sorted_keys("1.u32"), needs_threads=True),
        "distinct": small("u32", "-u", wanted=sorted_keys("in.u32", change=lambda keys: sorted(set(keys)))),
        "counts": small("u32", "-u", "--count", wanted=counted_keys("in.u32")),
        "positions": Sort("gsort-gen -t u64 -d zipf --size 2M -o in.u64", ["-S", "3M", "--argsort", "in.u64"],
                          positions_of("in.u64")),
        "floats": Sort("gsort-gen -t u32 --size 2M -o in.u32; cp in.u32 in", ["-S", "2M", "-t", "f32", "in"],
                       sorted_keys("in.u32", change=lambda keys: sorted(keys, key=place_of_float))),
        "counts_of_bytes": Sort("gsort-gen -t u64 -d zipf --size 3M -o in.u64",
                                ["-S", "3M", "-t", "bytes24", "-u", "--count", "in.u64"], counted_texts("in.u64", 24)),
        "shuffle": Sort("gsort-gen -t u64 --size 2M -o in.u64", ["-S", "3M", "--shuffle=5", "in.u64"],
                        shuffled("in.u64", 5)),
        "top": small("u32", "--top=1000", wanted=sorted_keys("in.u32", change=lambda keys: keys[:1000])),
        "top_of_records": Sort("gsort-gen -t u64 --size 3M -o in.u64",
                               ["--record=16", "--key=0:u64", "--top=1000", "in.u64"],
                               lambda folder: sorted_records("in.u64", 16)(folder)[:16_000]),
        "parts": Sort("gsort-gen -t u32 --size 3M -o in.u32", ["-S", "3M", "--split-output=3", "in.u32"],
                      sorted_keys("in.u32"), parts=3),
        "each": Sort("for i in 1 2 3; do gsort-gen -t u32 -d zipf -n 50003 --seed $i -o $i.u32; done",
                     ["--each", "-S", "2M", "1.u32", "2.u32", "3.u32"],
                     sorted_by_themselves("1.u32", "2.u32", "3.u32"), each=("1.u32", "2.u32", "3.u32")),
        "told": spilling("u32", "-vv"),
        # The library that makes JSON may crash when memory runs out; the output is in place by then.
        "reported": small("u32", "--stats=/dev/null", without=("malloc",)),
        "counted": small("u8"),
        "arrays": small("u32", "--batch-elements=1000", wanted=sorted_arrays("in.u32", 1000)),
        "text": Sort("gsort-gen -t u32 -n 20003 -o in.u32; od -An -v -w4 -tu4 in.u32 | tr -d ' ' > in.txt",
                     ["-t", "u32", "in.txt"], sorted_keys("in.u32"),
                     decoded=lambda data: array("I", map(int, data.split())).tobytes()),
        "ends": Sort("gsort-gen -t u32 --size 2M -o keys.u32; { printf header; cat keys.u32; printf end; } > in.u32",
                     ["-S", "2M", "--skip=6", "--skip-end=3", "in.u32"], sorted_keys("keys.u32"), over="in.u32",
                     decoded=between(b"header", b"end")),
        "ends_of_a_pipe": Sort("gsort-gen -t u32 -n 500003 -o keys.u32; { printf header; cat keys.u32; printf end; } > in",
                               ["-t", "u32", "-S", "20M", "--parallel=1", "--skip=6", "--elements=500003"],
                               sorted_keys("keys.u32"), stdin="in", to_pipe=True, decoded=between(b"header", b"end")),
        "table": Sort("gsort-gen -t u64 --size 3M -o in.u64; { printf '\\x93NUMPY\\1\\0v\\0%-117s\\n' "
                      "\"{'descr': '<u8', 'fortran_order': False, 'shape': (131072, 3), }\"; cat in.u64; } > in.npy",
                      ["-S", "3M", "--format=npy:bin", "--key=0", "in.npy"], sorted_records("in.u64", 24)),
        "npy": small("u32", "--format=bin:npy", decoded=lambda data: data[128:]),
        "gzip": small("u32", "--compress=gzip", decoded=gzip.decompress),
        "bzip2": small("u32", "--compress=bzip2", decoded=bz2.decompress),
        "xz": small("u32", "--compress=xz", decoded=lzma.decompress, needs_threads=True),
    }
    sorts |= {f"from_{codec}": compressed(codec) for codec in ("gzip", "bzip2", "xz", "zstd")}
    if shutil.which("zstd"):
        sorts["zstd"] = small("u32", "--compress=zstd", decoded=zstd_decoded)
    return sorts


def on_gpu(sort: Sort, *options: str) -> Sort:
    return replace(sort, arguments=["--engine=cuda", *options, *sort.arguments], on_gpu=True,
                   without=sort.without + NOT_ON_GPU)


def gpu_sorts() -> dict[str, Sort]:
    """By the CUDA engine. Their part of the device's memory decides whether they spill."""
    spill = "--gpu-memory=32M"
    return {
        "gpu_one_chunk": on_gpu(small("u32")),
        "gpu_spilling": on_gpu(spilling("u32", size="16M", memory="160M"), spill),
        "gpu_unpacked": on_gpu(spilling("u64", "--pack-runs=off", size="16M", memory="160M"), spill),
        "gpu_records": on_gpu(Sort("gsort-gen -t u64 --size 3M -o in.u64", ["--record=16", "--key=0:u64", "in.u64"],
                                   sorted_records("in.u64", 16))),
        "gpu_positions": on_gpu(Sort("gsort-gen -t u64 -d zipf --size 3M -o in.u64", ["--argsort", "in.u64"],
                                     positions_of("in.u64"))),
        "gpu_pipes": on_gpu(Sort("gsort-gen -t u64 --size 32M -o in.u64", ["-t", "u64", "-S", "256M"],
                                 sorted_keys("in.u64"), stdin="in.u64", to_pipe=True), "--gpu-memory=64M"),
    }


def all_sorts() -> dict[str, Sort]:
    return cpu_sorts() | gpu_sorts()


if __name__ == "__main__":  # the build makes a test of each
    print("\n".join(gpu_sorts() if sys.argv[1:] == ["gpu"] else cpu_sorts()))
