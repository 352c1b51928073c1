#!/usr/bin/env python3
"""Does the page on --stats describe every field that a sort writes, and no other?"""
import argparse
import json
import re
import subprocess
import tempfile
from pathlib import Path


def fields_of(value, path: str = "") -> set[str]:
    if isinstance(value, dict):
        return set().union(*(fields_of(inner, f"{path}.{name}" if path else name) for name, inner in value.items()))
    if isinstance(value, list):
        return set().union(*(fields_of(inner, path + "[]") for inner in value)) if value else {path + "[]"}
    return {path}


def written(gsort: Path, folder: Path) -> set[str]:
    (folder / "in.u32").write_bytes(bytes(range(256)) * 65_536)
    subprocess.run([gsort, "-q", "-S", "8M", "--engine=cpu", "--stats=stats.json", "in.u32", "-o", "out"],
                   cwd=folder, check=True)
    return fields_of(json.loads((folder / "stats.json").read_text()))


def described(page: Path) -> set[str]:
    rows = [line.split("|")[1] for line in page.read_text().splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gsort", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        real = written(options.gsort.resolve(), Path(folder))
    page = described(options.page)
    # A field that does not apply is null, whatever its usual content.
    real = {full for name in real for full in [other for other in page if other.startswith(name + ".")] or [name]}
    for name in sorted(real - page):
        print(f"{options.page}: lacks {name}")
    for name in sorted(page - real):
        print(f"{options.page}: describes {name}, which is not written")
    return int(real != page)


if __name__ == "__main__":
    raise SystemExit(main())
