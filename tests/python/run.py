#!/usr/bin/env python3
"""Builds the Python package's wheel from the parts of a build folder, installs it into a folder there, and runs the
tests beside this file with it, in the environment that tools/setup makes in build/python.

Usage: run.py --build DIR [PYTEST OPTION...]"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
PYTHON = SOURCE / "build/python/bin/python"
SKIPPED = 77  # of ctest


def install_package(build: Path, folder: Path) -> Path:
    """Returns the folder that the package is in. The folder of the module is kept: a second run compiles nothing."""
    wheels, site = folder / "wheels", folder / "site"
    for old in wheels, site:
        shutil.rmtree(old, ignore_errors=True)
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", f"--wheel-dir={wheels}",
                    f"--config-settings=build-dir={folder / 'module'}", f"--config-settings=cmake.define.GSORT_BUILD={build}",
                    SOURCE / "src/python"], check=True)
    wheel, = wheels.iterdir()
    subprocess.run([*pip, "install", "--no-deps", "--no-index", f"--target={site}", wheel], check=True)
    return site


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=lambda text: Path(text).resolve(), required=True)
    options, words = parser.parse_known_args()
    if not PYTHON.exists():
        print("SKIPPED: no build/python; tools/setup makes it, where PyPI can be reached")
        return SKIPPED
    site = install_package(options.build, options.build / "python")
    environment = {**os.environ, "PYTHONPATH": str(site), "GSORT_PROGRAM": str(options.build / "bin/gsort")}
    return subprocess.run([PYTHON, "-m", "pytest", *words, HERE], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
