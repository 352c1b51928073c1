#!/usr/bin/env python3
"""Tests that the tables of large clusters are those that the program hosts_on_paper prints: all rows on the page of results,
some in the guide of gsort-mpi."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
GUIDE = SOURCE / "src/cluster/README.md"
RESULTS = SOURCE / "tools/bench/results/hosts-on-paper.txt"


def differences(printed: str) -> list[str]:
    found = [] if RESULTS.read_text(encoding="utf-8") == printed else [f"{RESULTS} is not what the program prints"]
    shown = re.findall(r"^\| 100 TB .*?\n\n", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    if len(shown) != 1:
        return [*found, f"{GUIDE} has {len(shown)} tables"]
    rows = shown[0].splitlines()[:-1]
    return found + [f"{GUIDE} has this row, the program has not: {row}" for row in rows if row not in printed.splitlines()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on-paper", type=Path, required=True, help="the program hosts_on_paper")
    options = parser.parse_args()
    found = differences(subprocess.run([options.on_paper], check=True, text=True, stdout=subprocess.PIPE).stdout)
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
