#!/usr/bin/env python3
"""Takes out one check of the proof after the other; a test must fail each time.

What is a check is found by pattern, so that a new one is covered as soon as it is written: every
throw, if, comparison, truth value that is returned, and statement that notes what was seen, in the
files below. All changes are built at once, in a copy of the source in a temporary folder, each
behind a number; a test program is told by GSORT_MUTANT which one is in effect. Tests that do not
end count as tests that fail.

  mutants.py --list            what would be changed
  mutants.py --only TEXT ...   only changes whose description holds one of these texts
  mutants.py --quick           only the tests of some milliseconds, to see what is left to others
  mutants.py --keep FOLDER     build there, and leave it: a second run builds only what is new

Needs what building the tests needs; uses ccache if it is there.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The files, and of larger ones the functions, by how they begin.
PLACES = [
    ("src/base/tiling.hpp", None),
    ("src/pipeline/proof/order_ledger.hpp", None),
    ("src/pipeline/proof/proof.cpp", None),
    ("io/runs/run_format.cpp", None),
    ("io/runs/run.cpp", ["void Run::require_whole() const {"]),
    ("src/pipeline/sort_job.cpp", ["  void require_all_read() const {"]),
    ("src/pipeline/merge_runs.cpp", ["  void require_slices("]),
    ("src/pipeline/output/sinks.hpp", ["class StagingSink"]),
    ("src/pipeline/output/unique_turns.hpp", ["  Place take("]),
    ("src/pipeline/output/unique_sink.cpp", ["void UniqueSink::put_some("]),
    ("src/pipeline/select_top.cpp", ["  void drop_repeats() {"]),
]

# The programs that are tried in turn, the quick ones first; of each, the tests.
TESTS = {
    "src/base/tiling.hpp": [("unit_base", "Tiling.*")],
    "io/runs/run_format.cpp": [("unit_io", "RunFormat*:*Run*:*Block*")],
    "io/runs/run.cpp": [("unit_io", "*Run*")],
}
USUAL_TESTS = [
    ("unit_pipeline", "*Proof*:OrderLedger.*:*Sink.*:*Staging*"),
    ("lying_sorts", "*"),
    ("unit_pipeline", "*Damage*:*Lying*:*Arrays*:*Result*:*Top*:Unique*:*Check*"),
]
LIES = "60"  # in each case
SECONDS = 600  # for one program

# Changes that no test can see, and why: (file, text of the line, what was changed, reason).
EQUIVALENT = [
    ("src/base/tiling.hpp",
     "return stretches_.size() == 1 && first_gap() == size && stretches_.begin()->first == 0;",
     "== is true #3", "the first gap is not 0 only where a stretch begins at 0"),
    ("src/base/tiling.hpp", "if (after != stretches_.end() && after->first == end) {",
     "!= is true", "reads behind the last stretch, which a sanitizer sees, and finds no such number"),
    ("src/pipeline/proof/order_ledger.hpp",
     "if (!disorder_ || position < disorder_->position) disorder_ = {position, before, value};",
     "< is <=", "every border is compared once"),
    ("src/pipeline/proof/order_ledger.hpp", "stretches_.erase(after);", "left out",
     "costs memory: what stays behind says the same of its end"),
    ("src/pipeline/proof/proof.cpp", "if (raw_keys.empty()) return;", "*",
     "of no elements everything below adds nothing"),
    ("src/pipeline/proof/proof.cpp", "if (!enabled_) return {look(raw_keys)};", "if never",
     "saves time: of counts alone the sums of arrays are alike"),
    ("io/runs/run_format.cpp", "if (block.size() < kBlockHeaderBytes) {", "< is <=",
     "behind a header alone a block is cut short as well"),
    ("io/runs/run_format.cpp",
     "return whole < kBlockHeaderBytes ? 0 : (whole - kBlockHeaderBytes) / element_bytes;", "< is <=",
     "0 elements in 0 bytes"),
]

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
#include <cstdlib>
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
bool operator>(const Bound<Left>& bound, const Right& right) {
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

    def reason_to_survive(self):
        for file, text, change, reason in EQUIVALENT:
            if (file, text) == (self.file, self.text) and change in (self.change, "*"):
                return reason
        return None


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


def regions(code, functions):
    if functions is None:
        return [(0, len(code))]
    found = []
    for function in functions:
        begin = code.index(function)
        found.append((begin, end_of_group(code, code.index("{", begin), "{}")))
    return found


class Finder:
    """The changes of one file."""

    def __init__(self, file, first_number):
        self.file, self.next = file, first_number
        self.source = (ROOT / file).read_text()
        self.code = without_words(self.source)
        self.mutants, self.edits = [], []

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
        for match in re.finditer(r" (==|!=|<=|>=|<|>) ", self.code):
            line = self.line_of(match.start())
            if not begin <= match.start() < end or re.search(r"\b(for|while|static_assert)\b", line):
                continue
            self.find_comparison(match)
        for match in re.finditer(r"(?m)^ +((?!return|throw|span|Span|case|\.)[\w.\->\[\]]+"
                                 r"(\([^\n]*\)| (?:=|\+=) [^\n;]*|\+\+)|\+\+[\w.]+);$", self.code):
            at = match.start(1)
            if not begin <= at < end or self.is_declaration(at):
                continue
            number = self.add(at, "left out")
            self.edits.append((at, 0, f"if (!gsort::mutant::is({number})) "))
        for match in re.finditer(r"(?<=[ (])(\w+) \? ", self.code):
            if begin <= match.start() < end:
                number = self.add(match.start(), "? never")
                self.edits += [(match.start(1), 0, "("),
                               (match.end(1), 0, f" && !gsort::mutant::is({number}))")]

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
    finders, number = [], 1
    for file, functions in PLACES:
        finder = Finder(file, number)
        for begin, end in regions(finder.code, functions):
            finder.find(begin, end)
        number = finder.next
        finders.append(finder)
    return finders


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
        if not to.exists() or to.stat().st_mtime < (ROOT / file).stat().st_mtime:
            shutil.copy2(ROOT / file, to)
    for finder in finders:
        (tree / finder.file).parent.mkdir(parents=True, exist_ok=True)
        write_if_new(tree / finder.file, finder.changed_source())
    write_if_new(tree / "src/base/mutant.hpp", HEADER)
    environment = dict(os.environ, CCACHE_BASEDIR=str(tree), CCACHE_NOHASHDIR="1")
    configure = ["cmake", "--preset", "release", "-DGSORT_CUDA=OFF"]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    make = ["cmake", "--build", "build/release", "-j", str(jobs), "--target"]
    for command in (configure, make + ["unit_base", "unit_io", "unit_pipeline", "lying_sorts"]):
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}:\n{done.stdout[-8000:]}{done.stderr[-4000:]}")
    return tree / "build/release/tests"


def killer_of(mutant, programs, quick):
    """The program that fails; None if all pass."""
    environment = dict(os.environ, GSORT_MUTANT=str(mutant.number), GSORT_LIES=LIES)
    usual = USUAL_TESTS[:1] if quick else USUAL_TESTS
    for program, tests in TESTS.get(mutant.file, []) + usual:
        command = [programs / program, f"--gtest_filter={tests}", "--gtest_fail_fast",
                   "--gtest_brief=1"]
        try:
            done = subprocess.run(command, env=environment, timeout=SECONDS, capture_output=True)
        except subprocess.TimeoutExpired:
            return f"{program} (does not end)"
        if done.returncode != 0:
            return program
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", nargs="+", metavar="TEXT", default=[""])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", metavar="FOLDER", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    finders = find_all()
    mutants = [mutant for finder in finders for mutant in finder.mutants
               if any(text in str(mutant) for text in arguments.only)]
    gone = [entry[:3] for entry in EQUIVALENT
            if not any((mutant.file, mutant.text) == entry[:2] and entry[2] in (mutant.change, "*")
                       for finder in finders for mutant in finder.mutants)]
    if gone:
        sys.exit(f"what is said to be equivalent is not there any more: {gone}")
    if arguments.list:
        for mutant in mutants:
            reason = mutant.reason_to_survive()
            print(f"{mutant.number:4} {mutant}" + (f"\n     equivalent: {reason}" if reason else ""))
        return
    with tempfile.TemporaryDirectory() as temporary:
        programs = build(finders, (arguments.keep or Path(temporary)).resolve(), arguments.jobs)
        none = Mutant(0, "", 0, "", "no change")
        if killer_of(none, programs, arguments.quick) is not None:
            sys.exit("the tests fail where nothing has been taken out")
        tried = [mutant for mutant in mutants if mutant.reason_to_survive() is None]
        survivors = []
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for mutant, killer in zip(tried, pool.map(
                    lambda mutant: killer_of(mutant, programs, arguments.quick), tried)):
                print(f"{mutant.number:4} {killer or 'SURVIVES':14} {mutant}", flush=True)
                survivors += [] if killer else [mutant]
        print(f"{len(tried)} changes, {len(survivors)} of them seen by no test; "
              f"{len(mutants) - len(tried)} equivalent ones not tried")
        sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
