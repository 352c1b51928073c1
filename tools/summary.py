"""Prints from a JUnit file the failed tests, how many were skipped for which reason, how many ran in each room and how long,
the slowest ones, and "N passed, N failed".

Usage: summary.py FILE | --selftest
"""

import io
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict

NAMES = 3  # of each reason
SLOWEST = 5


def reason_of(case: ElementTree.Element) -> str:
    """Why a test was skipped: what it said itself, else what ctest says."""
    if case.get("status") == "disabled":
        return "disabled"
    output = case.findtext("system-out") or ""
    said = re.search(r": Skipped\n(.+)", output)  # by GoogleTest
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    skipped = case.find("skipped")
    message = skipped.get("message", "") if skipped is not None else ""
    if said:
        return said[1].strip().removeprefix("SKIPPED: ")
    if lines and "SKIP_RETURN_CODE" in message:
        return lines[-1]
    return message or "no reason is given"


def summary_of(file) -> list[str]:
    counts = {"run": 0, "fail": 0}
    skipped = defaultdict(list)
    rooms = defaultdict(list)
    seconds = {}
    lines = []
    for case in ElementTree.parse(file).getroot().iter("testcase"):
        status = case.get("status", "fail")
        if status in ("notrun", "disabled"):
            skipped[reason_of(case)].append(case.get("name"))
            continue
        counts[status] += 1
        seconds[case.get("name")] = float(case.get("time", 0))
        room, dot, _ = case.get("name").partition(".")
        rooms[room if dot else "others"].append(case.get("name"))
        if status == "fail":
            lines.append(f"FAILED:  {case.get('name')}")
    for reason, names in sorted(skipped.items(), key=lambda item: -len(item[1])):
        more = f", and {len(names) - NAMES} more" if len(names) > NAMES else ""
        lines.append(f"{len(names)} skipped: {reason} ({', '.join(names[:NAMES])}{more})")
    if len(skipped) > 1:
        lines.append(f"{sum(map(len, skipped.values()))} skipped")
    of_rooms = [(sum(map(seconds.get, names)), len(names), room) for room, names in rooms.items()]
    lines.append("run: " + ", ".join(f"{count} {room} in {took:.0f} s" for took, count, room in sorted(of_rooms, reverse=True)))
    slowest = sorted(seconds, key=seconds.get, reverse=True)[:SLOWEST]
    lines.append("slowest: " + ", ".join(f"{name} {seconds[name]:.0f} s" for name in slowest))
    return lines + [f"{counts['run']} passed, {counts['fail']} failed"]


def selftest() -> int:
    by_code = '<skipped message="SKIP_RETURN_CODE=77"/><system-out>seed 1&#10;no disk&#10;</system-out>'
    by_text = ('<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/><system-out>[ RUN ]&#10;a.cpp:7: Skipped&#10;'
               'SKIPPED: no GPU&#10;&#10;[  SKIPPED ] x (0 ms)</system-out>')
    cases = ([("run", "")] * 2 + [("fail", "")] + [("notrun", by_text)] * 4 + [("notrun", by_code), ("disabled", "")]
             + [("notrun", '<skipped message="Unable to find executable"/>')])
    rooms = ["a.", "a."] + [""] * 8
    tests = "".join(f'<testcase name="{rooms[i]}t{i}" time="{i + 1}.2" status="{status}">{inner}</testcase>'
                    for i, (status, inner) in enumerate(cases))
    file = io.StringIO(f"<testsuite>{tests}</testsuite>")
    wanted = ["FAILED:  t2", "4 skipped: no GPU (t3, t4, t5, and 1 more)", "1 skipped: no disk (t7)",
              "1 skipped: disabled (t8)", "1 skipped: Unable to find executable (t9)", "7 skipped",
              "run: 2 a in 3 s, 1 others in 3 s", "slowest: t2 3 s, a.t1 2 s, a.t0 1 s", "2 passed, 1 failed"]
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
