"""The examples of the documents, run as they stand."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
from support import random_array

import gsort

SOURCE = Path(__file__).resolve().parents[2] / "src"


def blocks_of(document):
    return re.findall(r"^```python\n(.*?)^```$", (SOURCE / document).read_text(), re.M | re.S)


def test_the_guide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    example, = blocks_of("python/README.md")
    exec(example, names)
    expected = numpy.sort(names["keys"])
    assert (names["mapped"] == expected).all() and (names["largest_first"] == expected[::-1]).all()
    assert (names["keys"][names["order"]] == expected).all() and names["counts"].sum() == 10**6
    assert (names["common"] == expected[-10:]).all()


def test_the_recipe_for_numpy():
    names = {"array": numpy.array([3, 1, 2])}
    exec(blocks_of("library/NUMPY.md")[0], names)
    assert (names["result"] == [1, 2, 3]).all()


class Tasks(list):
    """Applies a function as an RDD of numbers does, in this process."""

    def foreach(self, function):
        for number in self:
            function(number)


def test_the_example_for_spark(tmp_path, monkeypatch, gsort_program):
    array = random_array("u8", 100_000)
    array.tofile(tmp_path / "big.u64")
    monkeypatch.setenv("PATH", str(Path(gsort_program).parent), prepend=os.pathsep)
    context = SimpleNamespace(parallelize=lambda numbers, slices: Tasks(numbers))
    example, = blocks_of("SHARES.md")
    exec(example.replace("/data", str(tmp_path)), {"spark": SimpleNamespace(sparkContext=context)})
    assert (numpy.fromfile(tmp_path / "sorted.u64", "u8") == numpy.sort(array)).all()


@pytest.mark.parametrize("name", [name for name in gsort.__all__ if name.islower()])
def test_the_guide_and_the_docstrings_are_complete(name):
    function = getattr(gsort, name)
    guide = (SOURCE / "python/README.md").read_text()
    assert f"`{name}(" in guide and len(function.__doc__.splitlines()) > 1
    for parameter in inspect.signature(gsort.sort).parameters:
        assert re.search(rf"^ +{parameter}: ", gsort.sort.__doc__, re.M), parameter


def test_the_version_is_that_of_the_program(gsort_program):
    said = subprocess.run([gsort_program, "--version"], capture_output=True, text=True, check=True).stdout
    assert f"gsort {gsort.__version__}" in said


def test_the_package_brings_its_libraries():
    module, = Path(gsort.__file__).parent.glob("_native.*.so")
    found = subprocess.run(["ldd", module], capture_output=True, text=True, check=True).stdout
    assert "not found" not in found
    for line in found.splitlines():
        of_the_system = re.match(r"\s*(linux-vdso|/lib\S*/ld-linux|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so)", line)
        assert of_the_system or f"=> {module.parent}/libraries/" in line, line
    licences = {path.name for path in (module.parent / "libraries/licences").iterdir()}
    assert any(name.startswith("libtbb") for name in licences), licences


def test_the_types(tmp_path):
    program = Path(__file__).parent / "typed_program.py"
    (tmp_path / "mypy.ini").write_text("[mypy]\n[mypy-ray.*]\nfollow_imports = skip\n")  # to read Ray takes seconds
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}",
                           f"--config-file={tmp_path / 'mypy.ini'}",
                           Path(gsort.__file__).parent, program],
                          capture_output=True, text=True)
    if "No module named mypy" in done.stderr:
        pytest.skip("no mypy")
    assert done.returncode == 0, done.stdout


def test_the_stub_has_all_parameters():
    """The names of the functions, and no others: mypy sees only the stub."""
    stub = (Path(gsort.__file__).parent / "__init__.pyi").read_text()
    for name in gsort.__all__:
        if name.islower():
            for parameter in inspect.signature(getattr(gsort, name)).parameters:
                assert re.search(rf"\b{parameter}: ", stub), f"{name}: {parameter}"
