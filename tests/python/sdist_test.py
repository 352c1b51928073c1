"""The source archive: all that its build needs, at the places that it says, with and without a CUDA compiler."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
PACKAGE = SOURCE / "src/python"
PATH = os.pathsep.join([os.environ["PATH"], str(SOURCE / "build/cuda/bin"), "/usr/local/cuda/bin"])
needs_nvcc = pytest.mark.skipif(not shutil.which("nvcc", path=PATH), reason="no nvcc; tools/setup --cuda brings one")
WITH_AND_WITHOUT_CUDA = pytest.mark.parametrize("cuda", ["OFF", pytest.param("ON", marks=needs_nvcc)])
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


def test_equal_sources_make_equal_archives(archive, tmp_path):
    """Though it is another day, and other modes are usual."""
    again = subprocess.run([sys.executable, "-B", "-c", "import os, time; os.umask(0o077); time.time = lambda: 2e9; " + MAKE,
                            tmp_path], cwd=PACKAGE, capture_output=True, text=True, check=True)
    assert (tmp_path / again.stdout.splitlines()[-1]).read_bytes() == archive.read_bytes()


@WITH_AND_WITHOUT_CUDA
def test_the_archive_can_be_configured(archive, tmp_path, cuda):
    """CMake finds every file, folder and target that is named there."""
    root = unpacked(archive, tmp_path / "from")
    assert not [path for path in root.rglob("*") if path.suffix in (".so", ".pyc", ".o")]
    words = ["cmake", "-S", root / "src/python", "-B", tmp_path / "build", "-G", "Ninja", f"-DGSORT_CUDA={cuda}",
             f"-DPython_EXECUTABLE={sys.executable}"]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": PATH})
    assert done.returncode == 0, done.stderr


def test_the_archive_says_its_version(archive, tmp_path):
    import gsort
    root = unpacked(archive, tmp_path / "from")
    assert f"\nVersion: {gsort.__version__}\n" in (root / "PKG-INFO").read_text()
    assert 'source-dir = "src/python"' in (root / "pyproject.toml").read_text()


def fresh_python(folder):
    """An environment of its own. Returns its folder, and the variables for what runs in it."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return folder, {**variables, "PATH": f"{folder / 'bin'}{os.pathsep}{PATH}"}


def run_in(environment, *words, check=True):
    folder, variables = environment
    return subprocess.run([folder / "bin/python", *words], check=check, stderr=subprocess.PIPE, text=True, cwd=folder,
                          env=variables)


@pytest.mark.large
@WITH_AND_WITHOUT_CUDA
def test_pip_installs_the_archive(archive, tmp_path, cuda):
    """In fresh environments, with the newest NumPy and with the oldest one that the package supports."""
    pip = ["-m", "pip", "--disable-pip-version-check", "--quiet", "--no-cache-dir"]
    run_in(fresh_python(tmp_path / "build"), *pip, "wheel", "--no-deps", f"--wheel-dir={tmp_path}",
           f"--config-settings=cmake.define.GSORT_CUDA={cuda}", archive)
    wheel, = tmp_path.glob("*.whl")
    oldest = re.search(r"numpy>=([0-9.]+)", (PACKAGE / "pyproject.toml").read_text()).group(1)
    for numpy in "numpy", f"numpy=={oldest}.*":
        environment = fresh_python(tmp_path / numpy)
        run_in(environment, *pip, "install", numpy, wheel, "pytest", "hypothesis")
        on_gpu = run_in(environment, "-c", "import gsort, numpy; gsort.sort(numpy.arange(9), engine='cuda')", check=False)
        assert ("built without CUDA" in on_gpu.stderr) == (cuda == "OFF"), on_gpu.stderr
        tests = [HERE / f"{name}_test.py" for name in ("axes", "keys", "outputs", "sort")]
        run_in(environment, "-m", "pytest", "-m", "not large", *tests)
