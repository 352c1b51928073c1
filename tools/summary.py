"""Prints the skipped tests of a JUnit file with their reasons, the failed ones, and "N passed, N failed"."""

import sys
import xml.etree.ElementTree as ElementTree


def main() -> None:
    suite = ElementTree.parse(sys.argv[1]).getroot()
    counts = {"run": 0, "fail": 0, "skipped": 0}
    for case in suite.iter("testcase"):
        status = case.get("status", "fail")
        counts["skipped" if status in ("notrun", "disabled") else status] += 1
        if status == "notrun":
            print(f"skipped: {case.get('name')}")
        elif status == "fail":
            print(f"FAILED:  {case.get('name')}")
    if counts["skipped"]:
        print(f"{counts['skipped']} skipped")
    print(f"{counts['run']} passed, {counts['fail']} failed")


if __name__ == "__main__":
    main()
