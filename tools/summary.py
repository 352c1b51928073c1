"""Prints from a JUnit file the failed tests, how many were skipped for which reason, how many ran in each room and how long,
the slowest ones, and "N passed, N failed".

Usage: summary.py FILE | --selftest
"""

import io
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from dataclasses import dataclass

NAMES = 3  # of each reason
SLOWEST = 5


# The lines with which GoogleTest and tests/cli/run.py end a test.
ENDED = re.compile(r"^\[ +(OK|FAILED|SKIPPED) +\] (\S+?),?(?: where .*)? \((\d+) ms\)$"
                   r"|^(ok|FAILED|skipped): (\S+)(?: --seed \d+)? \((\d+\.\d+) s\)$", re.M)


@dataclass
class Test:
    name: str
    status: str  # run, fail, skipped
    seconds: float
    reason: str = ""


def reason_of(case: ElementTree.Element) -> str:
    """Why a ctest case was skipped: what it said itself, else what ctest says."""
    if case.get("status") == "disabled":
        return "disabled"
    lines = [line.strip() for line in (case.findtext("system-out") or "").splitlines() if line.strip()]
    skipped = case.find("skipped")
    message = skipped.get("message", "") if skipped is not None else ""
    if lines and "SKIP_RETURN_CODE" in message:
        return lines[-1]
    return message or "no reason is given"


def tests_of(case: ElementTree.Element) -> list[Test]:
    """The tests that ran in the process of a ctest case, by its output, or the case itself."""
    name, output = case.get("name"), case.findtext("system-out") or ""
    room = name.partition(".")[0]
    tests = []
    begin = 0
    for end in ENDED.finditer(output):
        word, test = end[1] or end[4], end[2] or end[5]
        said = output[begin:end.start()]
        begin = end.end()
        reason = re.search(r": Skipped\n(.+)", said)
        lines = said.strip().splitlines()
        reason = reason[1].strip().removeprefix("SKIPPED: ") if reason else lines[-1].strip() if lines else "no reason is given"
        status = {"ok": "run", "failed": "fail"}.get(word.lower(), word.lower())
        tests.append(Test(f"{room}.{test}", status, int(end[3]) / 1000 if end[1] else float(end[6]), reason))
    status = case.get("status", "fail")
    if status in ("notrun", "disabled") and not tests:
        return [Test(name, "skipped", 0, reason_of(case))]
    if not tests or status == "fail" and all(test.status != "fail" for test in tests):
        begun = re.findall(r"^\[ RUN +\] (\S+)$", output, re.M)
        inside = f" in {begun[-1]}" if begun and f"{room}.{begun[-1]}" not in [test.name for test in tests] else ""
        tests.append(Test(name + inside, status, float(case.get("time", 0))))
    return tests


def summary_of(file) -> list[str]:
    tests = [test for case in ElementTree.parse(file).getroot().iter("testcase") for test in tests_of(case)]
    skipped = defaultdict(list)
    rooms = defaultdict(list)
    for test in tests:
        room, dot, _ = test.name.partition(".")
        if test.status == "skipped":
            skipped[test.reason].append(test.name)
        else:
            rooms[room if dot else "others"].append(test)
    ran = [test for test in tests if test.status != "skipped"]
    failed = [test for test in ran if test.status == "fail"]
    lines = [f"FAILED:  {test.name}" for test in failed]
    for reason, names in sorted(skipped.items(), key=lambda item: -len(item[1])):
        more = f", and {len(names) - NAMES} more" if len(names) > NAMES else ""
        lines.append(f"{len(names)} skipped: {reason} ({', '.join(names[:NAMES])}{more})")
    if len(skipped) > 1:
        lines.append(f"{len(tests) - len(ran)} skipped")
    of_rooms = [(sum(test.seconds for test in room), len(room), name) for name, room in rooms.items()]
    lines.append("run: " + ", ".join(f"{count} {name} in {took:.0f} s" for took, count, name in sorted(of_rooms, reverse=True)))
    slowest = sorted(ran, key=lambda test: test.seconds, reverse=True)[:SLOWEST]
    lines.append("slowest: " + ", ".join(f"{test.name} {test.seconds:.0f} s" for test in slowest))
    return lines + [f"{len(ran) - len(failed)} passed, {len(failed)} failed"]


def selftest() -> int:
    by_code = '<skipped message="SKIP_RETURN_CODE=77"/><system-out>seed 1&#10;no disk&#10;</system-out>'
    suite = ("[ RUN      ] A.b&#10;[       OK ] A.b (3000 ms)&#10;[ RUN      ] A.c/0&#10;x.cpp:7: Skipped&#10;SKIPPED: no GPU&#10;&#10;"
             "[  SKIPPED ] A.c/0 (0 ms)&#10;[ RUN      ] A.d/1&#10;x.cpp:8: Failure&#10;"
             "[  FAILED  ] A.d/1, where GetParam() = (1, 2) (9 ms)&#10;"
             "[----------] 3 tests from A (3009 ms total)&#10;[  PASSED  ] 1 test.&#10;[  FAILED  ] A.d/1, where GetParam() = (1, 2)&#10;")
    golden = ("$ a&#10;ok: f.one --seed 5 (0.25 s)&#10;$ b&#10;no driver&#10;&#10;skipped: f.two (0.10 s)&#10;$ c&#10;"
              "    status 2&#10;FAILED: f.three (7.00 s)&#10;")
    crash = "[ RUN      ] B.a&#10;[       OK ] B.a (1 ms)&#10;[ RUN      ] B.b&#10;"
    cases = [("unit.1", "fail", suite), ("unit.2", "fail", crash), ("cli.f.golden", "fail", golden), ("t0", "run", ""),
             ("t1", "fail", ""), ("t2", "notrun", None), ("t3", "disabled", "")]
    tests = "".join(f'<testcase name="{name}" time="{i + 1}.2" status="{status}">'
                    + (by_code if output is None else f"<system-out>{output}</system-out>") + "</testcase>"
                    for i, (name, status, output) in enumerate(cases))
    file = io.StringIO(f"<testsuite>{tests}</testsuite>")
    wanted = ["FAILED:  unit.A.d/1", "FAILED:  unit.2 in B.b", "FAILED:  cli.f.three", "FAILED:  t1",
              "1 skipped: no GPU (unit.A.c/0)", "1 skipped: no driver (cli.f.two)", "1 skipped: no disk (t2)",
              "1 skipped: disabled (t3)", "4 skipped", "run: 2 others in 9 s, 2 cli in 7 s, 4 unit in 5 s",
              "slowest: cli.f.three 7 s, t1 5 s, t0 4 s, unit.A.b 3 s, unit.2 in B.b 2 s", "4 passed, 4 failed"]
    found = summary_of(file)
    if found != wanted:
        print("\n".join(found))
    return 0 if found == wanted else 1


def main() -> int:
    if sys.argv[1:] == ["--selftest"]:
        return selftest()
    print("\n".join(summary_of(sys.argv[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
