"""The build backend: scikit-build-core's, except for the source archive, which has all sources of gsort, from which its wheel
is compiled, and above them a pyproject.toml with their places.

This folder alone, which scikit-build-core would pack, has only the module. Equal sources make equal archives: their files have
no owners, one of two modes, and the time of SOURCE_DATE_EPOCH."""

import gzip
import io
import os
import tarfile
from pathlib import Path
from typing import Any, Optional

from scikit_build_core import build as _core
from scikit_build_core.build import *  # noqa: F401,F403  the other hooks

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKED = ["CMakeLists.txt", "LICENSE", "src", "io", "gpu", "tools"]
# The text of pyproject.toml here, and in the archive.
CHANGES = [('build-backend = "sdist_backend"\nbackend-path = ["."]\n', 'build-backend = "scikit_build_core.build"\n'),
           ('readme = "README.md"', 'readme = "src/python/README.md"'),
           ('input = "../../CMakeLists.txt"', 'input = "CMakeLists.txt"'),
           ('wheel.packages = ["gsort"]', 'wheel.packages = ["src/python/gsort"]\ncmake.source-dir = "src/python"')]


def _project() -> bytes:
    text = (HERE / "pyproject.toml").read_text()
    for here, there in CHANGES:
        if here not in text:
            raise ValueError(f"pyproject.toml has no {here!r}")
        text = text.replace(here, there)
    return text.encode()


def _is_source(path: Path) -> bool:
    hidden = any(part.startswith(".") or part in ("__pycache__", "results") for part in path.relative_to(ROOT).parts)
    return path.is_file() and not hidden and path.suffix not in (".so", ".pyc")


def _files() -> list:
    found = []
    for name in PACKED:
        path = ROOT / name
        found += [path] if path.is_file() else sorted(filter(_is_source, path.rglob("*")))
    return found


def _add_text(archive: tarfile.TarFile, name: str, text: bytes) -> None:
    facts = tarfile.TarInfo(name)
    facts.size = len(text)
    archive.addfile(_plain(facts), io.BytesIO(text))


def _plain(facts: tarfile.TarInfo) -> tarfile.TarInfo:
    facts.uid = facts.gid = 0
    facts.uname = facts.gname = ""
    facts.mode = 0o755 if facts.mode & 0o100 else 0o644
    facts.mtime = int(os.environ.get("SOURCE_DATE_EPOCH", 0))
    return facts


def build_sdist(sdist_directory: str, config_settings: Optional[Any] = None) -> str:
    """Returns the name of the archive."""
    core = _core.build_sdist(sdist_directory, config_settings)  # it knows the metadata
    path = Path(sdist_directory) / core
    folder = core[:-len(".tar.gz")]
    with tarfile.open(path) as made:
        info = made.extractfile(f"{folder}/PKG-INFO").read()
    with gzip.GzipFile(path, "wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        _add_text(archive, f"{folder}/PKG-INFO", info)
        _add_text(archive, f"{folder}/pyproject.toml", _project())
        for file in _files():
            archive.add(file, f"{folder}/{file.relative_to(ROOT)}", filter=_plain)
    return core
