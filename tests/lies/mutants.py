#!/usr/bin/env python3
"""Takes out one check of the proof after the other; a test must fail each time.

Checks are found by pattern, so that a new one is covered as soon as it is written: every
throw, if, comparison, truth value that is returned, and statement that notes what was seen, in the
places that mutant_places.py names. All changes are built at once, in a copy of the source in a
temporary folder, each behind a number; a test program is told by GSORT_MUTANT which one is in
effect. Tests that do not end count as tests that fail. mutants_test.py tests this script.

  mutants.py --list            what would be changed
  mutants.py --only TEXT ...   only changes whose description holds one of these texts; builds only their tests
  mutants.py --quick           only the tests of some milliseconds, to see what is left to others
  mutants.py --keep FOLDER     build there, and leave it: a second run builds only what is new

Needs what building the tests needs; uses ccache if it is there.
"""

import argparse
import concurrent.futures
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from mutant_places import EQUIVALENT, PLACES, TESTS, USUAL_TESTS

ROOT = Path(__file__).resolve().parents[2]

LIES = "60"  # in each case
SECONDS = 30  # for one program, and ten times what it takes where nothing has been taken out
NUMBERS = 1000  # of a file, so that a change in one leaves the others built

HEADER = r'''// Made by tests/lies/mutants.py: which change is in effect.
#pragma once
#pragma GCC system_header
#pragma GCC diagnostic ignored "-Wreturn-type"
#pragma GCC diagnostic ignored "-Wdangling-else"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#include <cstdlib>
#include <optional>
namespace gsort::mutant {
inline int number() {
  static const int chosen = [] {
    const char* const text = std::getenv("GSORT_MUTANT");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return chosen;
}
inline bool is(int wanted) { return number() == wanted; }
// a <less(7)> b is a < b, but for mutant 7 a <= b, for 8 true and for 9 false.
enum class Sign { kLess, kLessEqual, kGreater, kGreaterEqual, kEqual, kUnequal };
struct Op {
  Sign sign;
  int first;
};
template <class Left>
struct Bound {
  const Left& left;
  Op op;
};
template <class Left>
Bound<Left> operator<(const Left& left, Op op) {
  return {left, op};
}
template <class Left, class Right>
bool result_of(const Bound<Left>& bound, const Right& right) {
  const auto& [left, op] = bound;
  const bool equality = op.sign == Sign::kEqual || op.sign == Sign::kUnequal;
  const int kind = number() - op.first + (equality ? 1 : 0);
  if (number() >= op.first && kind == 1) return true;
  if (number() >= op.first && kind == 2) return false;
  const bool flip = !equality && number() == op.first;
  if (op.sign == Sign::kEqual) return left == right;
  if (op.sign == Sign::kUnequal) return !(left == right);
  if constexpr (requires { left < right; }) {
    switch (op.sign) {
      case Sign::kLess: return flip ? !(right < left) : left < right;
      case Sign::kLessEqual: return flip ? left < right : !(right < left);
      case Sign::kGreater: return flip ? !(left < right) : right < left;
      default: return flip ? right < left : !(left < right);
    }
  }
  return false;
}
template <class Left, class Right>
bool operator>(const Bound<Left>& bound, const Right& right) {
  return result_of(bound, right);
}
// std::optional has a comparison with everything, too.
template <class Left, class Right>
bool operator>(const Bound<Left>& bound, const std::optional<Right>& right) {
  return result_of(bound, right);
}
}  // namespace gsort::mutant
'''

SIGNS = {"<": "kLess", "<=": "kLessEqual", ">": "kGreater", ">=": "kGreaterEqual", "==": "kEqual",
         "!=": "kUnequal"}
OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


class Mutant:
    def __init__(self, number, file, line, text, change):
        self.number, self.file, self.line, self.text, self.change = number, file, line, text, change

    def __str__(self):
        return f"{self.file}:{self.line}: {self.change}: {self.text}"

    def is_of(self, equivalent):
        file, text, change, _ = equivalent
        return (file, text) == (self.file, self.text) and change in (self.change, "*")

    def reason_to_survive(self):
        return next((entry[3] for entry in EQUIVALENT if self.is_of(entry)), None)


def without_words(source):
    """The source with comments and strings blanked, and every offset as it was."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])\'', blank, source)


def end_of_group(code, begin, pair):
    depth = 0
    for at in range(begin, len(code)):
        depth += {pair[0]: 1, pair[1]: -1}.get(code[at], 0)
        if depth == 0:
            return at
    raise ValueError("a bracket is not closed")


def regions(code, text):
    """The places of the functions, blocks or statements that begin with the text."""
    return [region(code, found.start(), text) for found in re.finditer(re.escape(text), code)]


def region(code, begin, text):
    depth = 0
    for at in range(begin, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0 and code[at] == ";":
            return begin, at + 1
        if depth == 0 and code[at] == "{":
            return begin, end_of_group(code, at, "{}") + 1
    raise ValueError(f"'{text}' does not end")


class Finder:
    """The changes of one file."""

    def __init__(self, file, source, texts, first_number):
        self.file, self.source, self.next = file, source, first_number
        self.code = without_words(source)
        self.regions = [place for text in texts or [] for place in regions(self.code, text)] or [(0, len(source))]
        self.mutants, self.edits = [], []
        for begin, end in self.regions:
            self.find(begin, end)

    def add(self, at, change):
        begin = self.source.rfind("\n", 0, at) + 1
        line = self.source.count("\n", 0, at) + 1
        text = self.source[begin:self.source.index("\n", at)].strip()
        earlier = sum(mutant.line == line and mutant.change.split(" #")[0] == change
                      for mutant in self.mutants)
        change += f" #{earlier + 1}" if earlier else ""
        self.mutants.append(Mutant(self.next, self.file, line, text, change))
        self.next += 1
        return self.mutants[-1].number

    def line_of(self, at):
        begin = self.code.rfind("\n", 0, at) + 1
        return self.code[begin:self.code.index("\n", at)]

    def find(self, begin, end):
        for match in re.finditer(r"\bif \((?!const\b|auto\b)", self.code):
            if not begin <= match.start() < end or "constexpr" in self.line_of(match.start()):
                continue
            opening = match.end() - 1
            closing = end_of_group(self.code, opening, "()")
            number = self.add(match.start(), "if never")
            self.edits += [(opening + 1, 0, "("),
                           (closing, 0, f") && !gsort::mutant::is({number})")]
        for match in re.finditer(r"\bthrow (?!;)", self.code):
            if not begin <= match.start() < end or re.search(r"\)\s*$", self.code[:match.start()]):
                continue  # of an if, which is tried
            number = self.add(match.start(), "no throw")
            self.edits.append((match.start(), 0, f"if (!gsort::mutant::is({number})) "))
        for match in re.finditer(r"\breturn (true|false);", self.code):
            if begin <= match.start() < end:
                number = self.add(match.start(), "other truth")
                value = f"(gsort::mutant::is({number}) != {match.group(1)})"
                self.edits.append((match.start(1), len(match.group(1)), value))
        self.find_answers(begin, end)
        for match in re.finditer(r" (==|!=|<=|>=|<|>) ", self.code):
            line = self.line_of(match.start())
            if not begin <= match.start() < end or re.search(r"\b(for|while|static_assert|constexpr)\b", line):
                continue
            self.find_comparison(match)
        for match in re.finditer(r"(?m)^ +((?!return|throw|span|Span|case|\.)[\w.\->\[\]]+"
                                 r"(\([^\n]*\)| (?:=|\+=)\s[^;{}]*|\+\+)|\+\+[\w.]+); *$", self.code):
            at = match.start(1)
            if not begin <= at < end or self.is_declaration(at):
                continue
            number = self.add(at, "left out")
            self.edits.append((at, 0, f"if (!gsort::mutant::is({number})) "))
        for match in re.finditer(r"(?<![=!<>]= )(?<=[ (])([\w.]+)\s+\? ", self.code):
            if begin <= match.start() < end:
                number = self.add(match.start(), "? never")
                self.edits += [(match.start(1), 0, "("),
                               (match.end(1), 0, f" && !gsort::mutant::is({number}))")]

    def find_answers(self, begin, end):
        """The values that boolean functions return, if they are not comparisons."""
        says = [(match.start(), end_of_group(self.code, match.end() - 1, "{}"))
                for match in re.finditer(r"\bbool [\w:]+\([^;{}]*\)[\w ]* \{", self.code)]
        for match in re.finditer(r"\breturn (?!true;|false;)([^;{}]+);", self.code):
            at = match.start()
            if not begin <= at < end or not any(first < at < last for first, last in says):
                continue
            if re.search(r" (==|!=|<=|>=|<|>) ", match.group(1)):
                continue
            number = self.add(at, "returns true")
            self.add(at, "returns false")
            self.edits += [(match.start(1), 0, f"(gsort::mutant::is({number}) || "
                                               f"(!gsort::mutant::is({number + 1}) && ("),
                           (match.end(1), 0, ")))")]

    def find_comparison(self, match):
        sign = match.group(1)
        changes = [f"{sign} is {OTHER[sign]}"] if sign in OTHER else []
        first = self.next
        for change in changes + [f"{sign} is true", f"{sign} is false"]:
            self.add(match.start(), change)
        operation = f" <gsort::mutant::Op{{gsort::mutant::Sign::{SIGNS[sign]}, {first}}}> "
        self.edits.append((match.start(), len(match.group()), operation))

    def is_declaration(self, at):
        """Whether a line that looks like a call is the rest of something longer."""
        before = self.code[:at].rstrip()
        return before[-1:] not in ";{})" or re.search(r"\b(class|struct)\b", self.line_of(at))

    def changed_source(self):
        text = self.source
        for at, length, new in sorted(self.edits, key=lambda edit: edit[0], reverse=True):
            text = text[:at] + new + text[at + length:]
        anchor = re.search(r"(?m)^#(pragma once|include [^\n]*)\n", text)
        return text[:anchor.end()] + '#include "base/mutant.hpp"\n' + text[anchor.end():]


def find_all():
    return [Finder(file, (ROOT / file).read_text(), texts, NUMBERS * place + 1)
            for place, (file, texts) in enumerate(PLACES, 1)]


def own_runs(file):
    return next((TESTS[path] for path in TESTS if file.startswith(path)), [])


def runs_of(files, usual=tuple(USUAL_TESTS)):
    """All runs of tests that may be tried on changes of these files."""
    return {run for runs in [*map(own_runs, files), usual] for run in runs}


def write_if_new(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def build(finders, tree, jobs):
    files = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    changed = {finder.file for finder in finders}
    for file in files:
        if file in changed or not (ROOT / file).is_file():
            continue
        to = tree / file
        to.parent.mkdir(parents=True, exist_ok=True)
        if not to.exists() or not filecmp.cmp(ROOT / file, to):
            shutil.copy(ROOT / file, to)
    for finder in finders:
        (tree / finder.file).parent.mkdir(parents=True, exist_ok=True)
        write_if_new(tree / finder.file, finder.changed_source())
    write_if_new(tree / "src/base/mutant.hpp", HEADER)
    environment = dict(os.environ, CCACHE_BASEDIR=str(tree), CCACHE_NOHASHDIR="1")
    configure = ["cmake", "--preset", "release", "-DGSORT_CUDA=OFF"]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    make = ["cmake", "--build", "build/release", "-j", str(jobs), "--target"]
    programs = {program for program, _ in runs_of(changed)}
    for command in (configure, make + sorted(programs)):
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}:\n{done.stdout[-8000:]}{done.stderr[-4000:]}")
    return tree / "build/release/tests"


class Tests:
    def __init__(self, programs, quick, files):
        self.programs, self.quick, self.limits = programs, quick, {}
        for run in runs_of(files, self.usual()):
            begin = time.monotonic()
            if not self.passes(run, 0, None):
                sys.exit(f"{' '.join(run)} fails where nothing has been taken out")
            self.limits[run] = SECONDS + 10 * (time.monotonic() - begin)

    def usual(self):
        return USUAL_TESTS[:1] if self.quick else USUAL_TESTS

    def passes(self, run, number, limit):
        program, tests = run
        environment = dict(os.environ, GSORT_MUTANT=str(number), GSORT_LIES=LIES)
        if os.path.isdir("/dev/shm"):
            environment.setdefault("TMPDIR", "/dev/shm")
        command = [self.programs / program, f"--gtest_filter={tests}", "--gtest_fail_fast",
                   "--gtest_brief=1"]
        done = subprocess.run(command, env=environment, timeout=limit, capture_output=True)
        return done.returncode == 0

    def killer_of(self, mutant):
        """The program that fails; None if all pass."""
        for run in own_runs(mutant.file) + self.usual():
            try:
                if not self.passes(run, mutant.number, self.limits[run]):
                    return run[0]
            except subprocess.TimeoutExpired:
                return f"{run[0]} (does not end)"
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", nargs="+", metavar="TEXT", default=[""])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", metavar="FOLDER", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    is_wanted = lambda mutant: any(text in str(mutant) for text in arguments.only)
    finders = [finder for finder in find_all() if any(map(is_wanted, finder.mutants))]
    mutants = [mutant for finder in finders for mutant in finder.mutants if is_wanted(mutant)]
    if arguments.list:
        for mutant in mutants:
            reason = mutant.reason_to_survive()
            print(f"{mutant.number:5} {mutant}" + (f"\n      equivalent: {reason}" if reason else ""))
        return
    with tempfile.TemporaryDirectory() as temporary:
        programs = build(finders, (arguments.keep or Path(temporary)).resolve(), arguments.jobs)
        tests = Tests(programs, arguments.quick, [finder.file for finder in finders])
        tried = [mutant for mutant in mutants if mutant.reason_to_survive() is None]
        killers = Counter()
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for mutant, killer in zip(tried, pool.map(tests.killer_of, tried)):
                print(f"{mutant.number:5} {killer or 'SURVIVES':14} {mutant}", flush=True)
                killers[killer or "no test"] += 1
        print(f"{len(tried)} changes, {len(mutants) - len(tried)} equivalent ones not tried")
        for killer, number in sorted(killers.items()):
            print(f"{number:5} seen by {killer}")
        sys.exit(1 if killers["no test"] else 0)


if __name__ == "__main__":
    main()
