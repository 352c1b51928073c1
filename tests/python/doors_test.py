"""The table of src/DESIGN.md that says which features work at which door: its column of Python. Each call must do what the
program does with the option of its row."""

import inspect
import re
import subprocess
from pathlib import Path

import numpy
import pytest

import gsort

PAGE = Path(__file__).resolve().parents[2] / "src/DESIGN.md"
FLOATS = numpy.array([2, -0.0, numpy.nan, 0, -numpy.nan, -1] * 50, "f8")
KEYS = numpy.random.default_rng(1).integers(0, 200, 600, dtype="u8")
RECORDS = numpy.random.default_rng(2).integers(0, 99, 600, dtype="u4").view([("a", "u4"), ("b", "u4"), ("c", "u4")])
TABLE = RECORDS.view("u4").reshape(-1, 3)
TEXTS = KEYS.astype("S20")
SORTED = [numpy.sort(KEYS[:400]), numpy.sort(KEYS[300:] // 2)]
COUNTED = [("key", "u8"), ("count", "u8")]


def counted(pair):
    return numpy.rec.fromarrays(pair, COUNTED)


# option -> the words of the program, its inputs, and the call.
CALLS = {
    "--float-order": ("--float-order=total", [FLOATS], lambda: gsort.sort(FLOATS, float_order="total")),
    "--record": ("--record=12 --key=4:u32,0:u32", [RECORDS.tobytes()], lambda: gsort.sort(RECORDS, order=["b", "a"])),
    "--type": ("-t bytes20 --format=bin", [TEXTS.tobytes()], lambda: gsort.sort(TEXTS)),
    "--key": ("--key=2r,0", [TABLE], lambda: gsort.sort(TABLE, order=["-2", 0])),
    "--unique": ("-u", [KEYS], lambda: gsort.sort(KEYS, unique=True)),
    "--count": ("-u --count", [KEYS], lambda: counted(gsort.unique(KEYS, counts=True))),
    "--merge": ("-m", SORTED, lambda: gsort.merge(SORTED)),
    "--intersect": ("-m --intersect", SORTED, lambda: gsort.intersect1d(*SORTED)),
    "--subtract": ("-m --subtract", SORTED, lambda: gsort.setdiff1d(*SORTED)),
    "--top": ("--top=7", [KEYS], lambda: gsort.sort(KEYS, top=7)),
    "--argsort": ("--argsort", [KEYS], lambda: gsort.argsort(KEYS)),
    "--shuffle": ("--shuffle=7", [KEYS], lambda: gsort.shuffle(KEYS, seed=7)),
    "--batch-elements": ("--batch-elements=100 --format=npy:bin", [KEYS], lambda: gsort.sort(KEYS.reshape(-1, 100))),
}
# The cells of other words than "yes" and "no".
WORDS = {"--key": "`order`", "--batch-elements": "rows"}


def cells():
    """Yields each option with its cell in the column."""
    head, *rows = [line.split("|")[1:-1] for line in PAGE.read_text(encoding="utf-8").splitlines()
                   if re.match(r"\|(feature|`--)", line)]
    for row in rows:
        for option in re.findall(r"`(--[a-z-]+)", row[0]):
            yield option, row[head.index("Python")]


def arguments():
    functions = [getattr(gsort, name) for name in gsort.__all__ if inspect.isfunction(getattr(gsort, name))]
    return {name for function in functions for name in inspect.signature(function).parameters}


@pytest.mark.parametrize("option, cell", [*cells()])
def test_the_table_is_right(option, cell, tmp_path, gsort_program):
    if option == "--check":
        assert cell == "yes" and gsort.check(numpy.sort(KEYS)) and not gsort.check(KEYS)
        return
    assert cell == (WORDS.get(option, "yes") if option in CALLS else "no")
    if option not in CALLS:
        assert option[2:].replace("-", "_") not in arguments()
        return
    words, sources, call = CALLS[option]
    names = []
    for number, source in enumerate(sources):
        is_raw = isinstance(source, bytes)
        names.append(tmp_path / f"{number}.{'bin' if is_raw else 'npy'}")
        names[-1].write_bytes(source) if is_raw else numpy.save(names[-1], source)
    output = tmp_path / "out.bin"
    format_of = [] if "--format" in words or isinstance(sources[0], bytes) else ["--format=npy:bin"]
    subprocess.run([gsort_program, *words.split(), *format_of, *names, "-o", output], check=True)
    assert output.read_bytes() == call().tobytes()


def test_the_table_is_found():
    assert {option for option, _ in cells()} >= {*CALLS, "--check", "--resume"}
