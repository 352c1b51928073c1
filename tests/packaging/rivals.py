#!/usr/bin/env python3
"""The tool that compares gsort with its rivals accepts a program that sorts, and none whose output is not in order or has other
elements. Skips with status 77 without NumPy.

Usage: rivals.py --build DIR"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/bench/rivals"
PROGRAM = """#!{python}
import array, sys
keys = array.array("I")
with open(sys.argv[2], "rb") as file:
    keys.frombytes(file.read())
keys = sorted(keys)
{change}
with open(sys.argv[3], "wb") as file:
    array.array("I", keys).tofile(file)
"""
RIGHT, DISORDERED, OTHER = "", "keys[70000], keys[-1] = keys[-1], keys[70000]", "keys[5] = keys[6]"


def measure(build: Path, python: str, folder: Path, change: str) -> subprocess.CompletedProcess:
    rival = folder / "rival"
    rival.write_text(PROGRAM.format(python=sys.executable, change=change))
    rival.chmod(0o755)
    return subprocess.run([python, TOOL, "--python", python, "--bin", build / "bin", "--folder", folder,
                           "--size", "1M", "--types", "u32", "--tasks", "file", "--only", "cp", "gsort", "mine", "--rounds", "2",
                           "--rival", f"mine={rival}", "--json", folder / "record.json"], capture_output=True, text=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    build = parser.parse_args().build
    python = next((python for python in (sys.executable, "/usr/bin/python3")
                   if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0), None)
    if python is None:
        print("SKIPPED: there is no NumPy (python3-numpy)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for change, message in (RIGHT, ""), (DISORDERED, "mine: the output is not in order"), (OTHER, "mine: the output has other"):
            done = measure(build, python, folder, change)
            assert (done.returncode == 0) == (message == "") and message in done.stderr, (change, done.stderr)
            assert not list(folder.glob("gsort-rivals-*")), "files are left"
        rows = json.loads((folder / "record.json").read_text())["rows"]
        assert [(row["name"], row["is_limit"], len(row["rounds"])) for row in rows] == \
            [("cp", True, 2), ("gsort", False, 2), ("mine", False, 2)], rows
        assert all(took["cpu_s"] > 0 and row["version"] for row in rows for took in row["rounds"]), rows
    return 0


if __name__ == "__main__":
    sys.exit(main())
