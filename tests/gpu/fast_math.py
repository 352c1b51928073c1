#!/usr/bin/env python3
"""Compiles kernels to PTX with and without --use_fast_math: the code must be the same. That flag includes
-ftz=true, and the kernels keep addresses in shared memory as denormal floats (gpu/merge/gather_index.hpp).

Usage: fast_math.py --nvcc PROGRAM SOURCE.cu"""

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-std=c++20", "--expt-relaxed-constexpr", "-O3", "-arch=compute_90", "-ptx", f"-I{ROOT}", f"-I{ROOT}/src"]


def ptx_of(nvcc: str, source: Path, folder: Path, *flags: str) -> list[str]:
    output = folder / "kernels.ptx"
    subprocess.run([nvcc, *FLAGS, *flags, str(source), "-o", str(output)], check=True)
    # Names that are not seen outside hold the number of the process.
    return re.sub(r"\d+_INTERNAL_\w+?(?=5gsort)", "INTERNAL", output.read_text()).splitlines()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nvcc", required=True)
    parser.add_argument("source", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gsort-fast-math-") as folder:
        usual = ptx_of(options.nvcc, options.source, Path(folder))
        fast = ptx_of(options.nvcc, options.source, Path(folder), "--use_fast_math")
    kernels = sum(".visible .entry" in line for line in usual)
    assert kernels == 5, f"{options.source} has {kernels} kernels, not 5"
    assert any("fma.rn.f32" in line for line in usual), "the offsets are made by the floating-point pipe"
    changed = [line for line in difflib.unified_diff(usual, fast, "usual", "--use_fast_math", lineterm="", n=0)]
    print("\n".join(changed[:40]))
    assert not changed, f"--use_fast_math changes the kernels: {len(changed)} lines of PTX"
    print(f"{kernels} kernels, {len(usual)} lines of PTX, are the same with --use_fast_math")
    return 0


if __name__ == "__main__":
    sys.exit(main())
