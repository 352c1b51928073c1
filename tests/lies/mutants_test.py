#!/usr/bin/env python3
"""Tests mutants.py: it must find what mutant_places.py names, and in a small program exactly these changes, each of
which changes what the program prints.

  mutants_test.py COMPILER
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import mutants
from mutant_places import EQUIVALENT, PLACES, TESTS

PROGRAM = r'''// A comment is no code: if (value == 1) throw 2;
#include <cstdio>

int noted = 0;
const char* const kText = "if (a < b) return true; // c ? d : e";

bool is_odd(int value) {
  return value % 2;
}

int checked(int value, int most) {
  if (value > most) throw value;
  if (value == 7) {
    throw most;
  }
  noted +=
      value;
  for (int i = 0; i < 2; ++i) noted += most;
  const bool odd = is_odd(value);
  if constexpr (sizeof(int) == 4) noted += 1;
  return odd ? most : value;
}

bool is_small(int value) {
  if (value < 3) return true;
  return false;
}

int elsewhere(int value) {
  if (value != 5) return 0;
  return 1;
}

int main() {
  std::puts(kText);
  for (int value = 0; value < 10; ++value) {
    try {
      std::printf("%d %d %d\n", checked(value, 8), is_small(value), elsewhere(value));
    } catch (int thrown) {
      std::printf("threw %d\n", thrown);
    }
  }
  std::printf("%d\n", noted);
}
'''
CHANGES = """
8 returns true
8 returns false
12 if never
13 if never
14 no throw
12 > is >=
12 > is true
12 > is false
13 == is true
13 == is false
16 left out
21 ? never
25 if never
25 other truth
26 other truth
25 < is <=
25 < is true
25 < is false
"""

failures = []


def expect(condition, words):
    if not condition:
        failures.append(words)


def test_places():
    for finder, (file, texts) in zip(mutants.find_all(), PLACES):
        for text in texts or []:
            expect(text in finder.code, f"{file}: '{text}' is not there")
        regions = sorted(finder.regions)
        expect(all(one[1] <= other[0] for one, other in zip(regions, regions[1:])),
               f"{file}: places overlap")
        expect(len(finder.mutants) < mutants.NUMBERS, f"{file}: too many changes")
        for begin, end in regions:
            lines = [finder.source.count("\n", 0, at) + 1 for at in (begin, end)]
            expect(any(lines[0] <= mutant.line <= lines[1] for mutant in finder.mutants),
                   f"{file}:{lines[0]}: nothing would be changed there")
    for path in TESTS:
        expect(any(file.startswith(path) for file, _ in PLACES), f"{path}: no place is there")


def test_equivalents():
    found = [mutant for finder in mutants.find_all() for mutant in finder.mutants]
    for entry in EQUIVALENT:
        expect(any(mutant.is_of(entry) for mutant in found), f"is not there any more: {entry}")
    for mutant in found:
        expect(sum(mutant.is_of(entry) for entry in EQUIVALENT) <= 1, f"named twice: {mutant}")


def test_program(compiler):
    texts = ["bool is_odd(", "int checked(", "bool is_small("]
    finder = mutants.Finder("program.cpp", PROGRAM, texts, 1)
    found = [f"{mutant.line} {mutant.change}" for mutant in finder.mutants]
    expect(found == CHANGES.split("\n")[1:-1], f"other changes than expected: {found}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "base").mkdir()
        (folder / "base/mutant.hpp").write_text(mutants.HEADER)

        def built(name, source):
            (folder / f"{name}.cpp").write_text(source)
            subprocess.run([compiler, "-std=c++20", f"-I{folder}", f"{folder}/{name}.cpp", "-o",
                            folder / name], check=True)
            return folder / name

        def printed(program, number):
            environment = dict(os.environ, GSORT_MUTANT=str(number))
            return subprocess.run([program], env=environment, check=True, capture_output=True).stdout

        truth = printed(built("original", PROGRAM), 0)
        changed = built("changed", finder.changed_source())
        expect(printed(changed, 0) == truth, "the program changes by itself")
        for mutant in finder.mutants:
            expect(printed(changed, mutant.number) != truth, f"changes nothing: {mutant}")


def main():
    test_places()
    test_equivalents()
    test_program(sys.argv[1])
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
