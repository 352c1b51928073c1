#!/usr/bin/env python3
"""The README's first two commands, tools/quickstart and tools/test, in a checkout of HEAD at an unusual place: below /tmp, where
some tests mount a /tmp of their own, or at a path of about 200 characters with a blank and a letter that is not ASCII. Each takes
half an hour on two cores, and some gigabytes. Packages that the commands need are installed already, or the commands install them.

Usage: checkouts.py below_tmp | blank"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PLACES = {"below_tmp": ("/tmp", "gsort-"), "blank": ("/var/tmp", f"gsort a b ü {160 * '-'}")}


def run(command: str, checkout: Path) -> None:
    done = subprocess.run(command, shell=True, cwd=checkout, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"{command} in {checkout}: status {done.returncode}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", choices=list(PLACES))
    parent, prefix = PLACES[parser.parse_args().place]
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent) as folder:
        checkout = Path(folder) / "gsort"
        subprocess.run(["git", "clone", "--quiet", SOURCE, checkout], check=True)
        run("bash -o pipefail -c 'tools/quickstart | tee ../said'", checkout)
        export, = re.findall("^  export PATH=.*$", (Path(folder) / "said").read_text(), re.M)
        run(f"{export}\ngsort --version", checkout)
        run("tools/test", checkout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
