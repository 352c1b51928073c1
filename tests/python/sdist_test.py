"""The source archive: all that its build needs, at the places that it says."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src/python"
MAKE = "import sys, sdist_backend; print(sdist_backend.build_sdist(sys.argv[1]))"


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    done = subprocess.run([sys.executable, "-B", "-c", MAKE, folder], cwd=PACKAGE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.splitlines()[-1]


def unpacked(archive, folder):
    with tarfile.open(archive) as files:
        files.extraction_filter = getattr(tarfile, "data_filter", None)  # since Python 3.11.4
        files.extractall(folder)
    made, = folder.iterdir()
    return made


def test_the_archive_can_be_configured(archive, tmp_path):
    """CMake finds every file and folder that is named there."""
    root = unpacked(archive, tmp_path / "from")
    assert not [path for path in root.rglob("*") if path.suffix in (".so", ".pyc", ".o")]
    words = ["cmake", "-S", root / "src/python", "-B", tmp_path / "build", "-G", "Ninja", "-DGSORT_CUDA=OFF",
             f"-DPython_EXECUTABLE={sys.executable}"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_archive_says_its_version(archive, tmp_path):
    import gsort
    root = unpacked(archive, tmp_path / "from")
    assert f"\nVersion: {gsort.__version__}\n" in (root / "PKG-INFO").read_text()
    assert 'source-dir = "src/python"' in (root / "pyproject.toml").read_text()


@pytest.mark.large
def test_a_wheel_of_the_archive_sorts(archive, tmp_path):
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", f"--wheel-dir={tmp_path}",
                    "--config-settings=cmake.define.GSORT_CUDA=OFF", archive],
                   check=True, cwd=tmp_path)  # no sources of gsort above it
    wheel, = tmp_path.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--no-index", f"--target={tmp_path / 'site'}", wheel], check=True)
    program = "import gsort, numpy; assert gsort.argsort(numpy.array([3, 1, 2])).tolist() == [1, 2, 0]; print(gsort.__file__)"
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
                          capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith(str(tmp_path)), done.stderr
