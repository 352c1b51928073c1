#!/usr/bin/env python3
"""Tests that the tables of large clusters in the guide of gsort-mpi are those that the program hosts_on_paper prints."""

import argparse
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
GUIDE = SOURCE / "src/cluster/README.md"


def tables_on_paper(program: Path) -> list[str]:
    printed = subprocess.run([program], check=True, text=True, stdout=subprocess.PIPE).stdout
    return printed.split("\n\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on-paper", type=Path, required=True, help="the program hosts_on_paper")
    options = parser.parse_args()
    guide = GUIDE.read_text(encoding="utf-8")
    missing = [table for table in tables_on_paper(options.on_paper) if f"\n{table.strip()}\n\n" not in guide]
    for table in missing:
        print(f"{GUIDE}: does not show this table:\n\n{table}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
