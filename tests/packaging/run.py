#!/usr/bin/env python3
"""Tests of what users get, made from a build folder whose target `all` is up to date. Each case works in a
temporary folder and raises an exception if something is not as it should be.

Usage: run.py --build DIR [--cmake PROGRAM] CASE..."""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import exports
from contents import PLAIN, SOURCE, fields_of, output_of, require, require_lintian, require_links, require_pages, shared_dependencies

C99 = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]
DEVICE_GUIDE = SOURCE / "src/library/DEVICE.md"
C_INTERFACE = SOURCE / "tests/packaging/c_interface.c"
# Parts of the C library and the kernel, which a tar cannot contain.
SYSTEM_LIBRARY = re.compile(r"(lib(c|m|dl|rt|pthread)|ld-linux-(x86-64|aarch64)|linux-vdso)\.so\.\d")


def require_sorts(gsort: Path, folder: Path) -> None:
    """The program sorts a file, and finds everything it needs outside the build folder."""
    (folder / "in.u8").write_bytes(bytes(range(255, -1, -1)))
    require(output_of(gsort, "in.u8", "-o", "out.u8", cwd=folder) == "", "a sort says nothing")
    require((folder / "out.u8").read_bytes() == bytes(range(256)), "the output is sorted")


def require_no_gpu(gsort: Path, folder: Path) -> None:
    """Where there is no driver, the CUDA engine ends with an error that says so, and auto uses the CPU."""
    failed = subprocess.run([gsort, "--engine=cuda", "in.u8", "-o", "out.u8"], cwd=folder, env=PLAIN, capture_output=True,
                            text=True)
    reason = "no NVIDIA driver" if has_cuda(gsort) else "this gsort was built without CUDA"
    require(failed.returncode == 2 and reason in failed.stderr, failed.stderr)
    said = output_of(gsort, "--explain", "in.u8", "-o", "out.u8", cwd=folder)
    require(re.search(r"engine +cpu", said), said)


def has_cuda(gsort: Path) -> bool:
    engines, = re.findall(r"^gsort [0-9.]+ \(engines: (.+)\)$", output_of(gsort, "--version"), re.M)
    return engines == "cpu, cuda"


def require_engines(gsort: Path, description: str) -> None:
    """The description of a package says whether the CUDA engine is in it."""
    sentence = "on an NVIDIA GPU" if has_cuda(gsort) else "without the engine for NVIDIA GPUs"
    require(sentence in " ".join(description.split()), description)


def libraries_of(binary: Path) -> dict[str, str]:
    """The shared libraries that a binary is loaded with, by name, and where they are found."""
    found = {}
    for line in output_of("ldd", binary).splitlines():
        require("not found" not in line, line)
        match = re.match(r"\s*(\S+) => (\S+) \(|\s*(\S+) \(", line)
        if match:
            name = os.path.basename(match[1] or match[3])
            found[name] = match[2] or match[3]
    return found


def require_tools(options, usr: Path, gsort: Path, folder: Path) -> list[Path]:
    """gsort-gen makes an input for gsort, and gsort-bench is there if it was built. Returns the compiled ones."""
    bench = usr / "bin/gsort-bench"
    require(bench.exists() == (options.build / "bin/gsort-bench").exists(), f"{bench} is there if it was built")
    tools = [usr / "bin/gsort-gen"] + [bench] * bench.exists()
    for tool in tools:
        require_nothing_of(options.build, tool)
    version, = re.findall(r"^gsort (\S+)", output_of(gsort, "--version"))
    for tool in *tools, usr / "bin/gsort-plot":
        roff = usr / f"share/man/man1/{tool.name}.1.gz"
        output_of("mandoc", "-Tlint", "-Wwarning", roff)  # it fails where there is no date
        page = output_of("mandoc", "-Tutf8", "-Owidth=200", roff)
        missing = [line for line in output_of(tool, "--help").splitlines() if line.strip() not in page]
        require(not missing and f"{tool.name} - " in page, f"the page of {tool.name} has not {missing}")
        require(output_of(tool, "--version") == f"{tool.name} {version}\n", f"{tool.name} is of this version")
    output_of(tools[0], "-t", "u16", "-n", "1000", "-o", "made.u16", cwd=folder)
    output_of(gsort, "made.u16", "-o", "made.u16", cwd=folder)
    require((folder / "made.u16").stat().st_size == 2000, "gsort-gen makes as many keys as it is told")
    require((usr / "share/doc/gsort-tools/copyright").exists(), "the tools have their licence")
    return tools


def has_cluster(options) -> bool:
    """Whether the build has found MPI."""
    return "/gsort-mpi" in (options.build / "cmake_install.cmake").read_text()


def require_nothing_of(build: Path, binary: Path) -> None:
    for name, path in libraries_of(binary).items():
        inside = path.startswith("/") and Path(path).resolve().is_relative_to(build)
        require(not inside, f"{binary} uses {name} of the build folder")
    require(str(build) not in output_of("readelf", "-d", binary), f"{binary} names the build folder")


def install(options, folder: Path) -> Path:
    """An installed tree under a DESTDIR: its /usr."""
    output_of(options.cmake, "--install", options.build, "--prefix", "/usr", env={**PLAIN, "DESTDIR": str(folder)})
    return folder / "usr"


def require_cluster(options, usr: Path, zsh_folder: str, folder: Path) -> None:
    """gsort-mpi sorts with two processes, and has its pages, its guide and its licence."""
    program = usr / "bin/gsort-mpi"
    require_nothing_of(options.build, program)
    require_pages(usr, zsh_folder, "gsort-mpi")
    for name in "src/cluster/README.md", "copyright":
        require((usr / "share/doc/gsort-mpi" / name).exists(), f"gsort-mpi has its {name}")
    mpirun = "mpirun.mpich" if any("mpich" in name for name in libraries_of(program)) else "mpirun.openmpi"
    (folder / "in.u32").write_bytes(bytes(range(255, -1, -1)))
    allowed = {f"OMPI_{name}": "1" for name in ("ALLOW_RUN_AS_ROOT", "ALLOW_RUN_AS_ROOT_CONFIRM",
                                                "MCA_rmaps_base_oversubscribe")}
    allowed |= {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "HOME": str(folder)}  # Open MPI 5 needs both
    output_of(mpirun, "-n", "2", program, "--endian=big", "in.u32", "-o", "out.u32", cwd=folder, env={**PLAIN, **allowed})
    words = [bytes(range(first + 3, first - 1, -1)) for first in range(0, 256, 4)]
    require((folder / "out.u32").read_bytes() == b"".join(words), "gsort-mpi sorts")


def case_install(options, folder: Path) -> None:
    usr = install(options, folder)
    require_sorts(usr / "bin/gsort", folder)
    require_nothing_of(options.build, usr / "bin/gsort")
    require_pages(usr, "site-functions")
    require_tools(options, usr, usr / "bin/gsort", folder)
    if has_cluster(options):
        require_cluster(options, usr, "site-functions", folder)
    require_links(usr)
    require((usr / "share/doc/gsort-binary/copyright").read_text() == (SOURCE / "LICENSE").read_text(),
            "the licence is installed")


def pack(options, folder: Path) -> None:
    """The packages of cpack, in folder/packages. It builds nothing."""
    os.umask(0o002)  # a common umask; modes in packages must not depend on it
    output_of("cpack", "--config", options.build / "CPackConfig.cmake", "-B", folder / "packages", cwd=folder)


def soname(gsort: Path) -> str:
    """The soname of the library of this version: STABILITY.md."""
    major, = re.findall(r"^gsort (\d+)\.", output_of(gsort, "--version"))
    return f"libgsort.so.{major}"


def case_debian(options, folder: Path) -> None:
    pack(options, folder)
    library = soname(options.build / "bin/gsort")
    runtime = library.replace(".so.", "")
    packages = {package.name.split("_")[0]: package for package in (folder / "packages").glob("*.deb")}
    wanted = {"gsort-binary", runtime, "libgsort-dev", "gsort-tools"} | ({"gsort-mpi"} if has_cluster(options) else set())
    require(packages.keys() == wanted, f"there are packages: {packages}")
    require_lintian(list(packages.values()))
    trees = {name: folder / name / "usr" for name in packages}
    for name, package in packages.items():
        output_of("dpkg-deb", "--extract", package, folder / name)
        owners = re.findall(r"^\S+ (\S+)", output_of("dpkg-deb", "--contents", package), re.M)
        require(set(owners) == {"root/root"}, f"{name} belongs to root, not {owners}")
    gsort = trees["gsort-binary"] / "bin/gsort"
    binaries = {"gsort-binary": [gsort], runtime: [trees[runtime] / "lib" / library],
                "gsort-tools": require_tools(options, trees["gsort-tools"], gsort, folder)}
    if has_cluster(options):
        require_cluster(options, trees["gsort-mpi"], "vendor-completions", folder)
        binaries["gsort-mpi"] = [trees["gsort-mpi"] / "bin/gsort-mpi"]
    for name, files in binaries.items():
        for file in files:
            require_nothing_of(options.build, file)
        depends = set(fields_of(packages[name])["Depends"].split(", ")) - ({"python3"} if name == "gsort-tools" else set())
        require(depends == shared_dependencies(files, folder), f"{name} depends on {depends}")
        needs = {need.split()[0] for need in depends}
        require("libc6" in needs and ("libtbb12" in needs or name == "gsort-tools"), f"{name} depends on {depends}")
        require(name != "gsort-mpi" or any(re.fullmatch(r"lib(openmpi|mpich)\d+", need) for need in needs), f"{name}: {needs}")
    version = fields_of(packages[runtime])["Version"]
    depends = fields_of(packages["libgsort-dev"])["Depends"]
    require(depends == f"{runtime} (= {version})", f"libgsort-dev depends on {depends}")
    control = {name: output_of("dpkg-deb", "--info", packages[runtime], name) for name in ("shlibs", "triggers")}
    require(control["triggers"] == "activate-noawait ldconfig\n", control["triggers"])
    require(control["shlibs"].strip() == f"libgsort {library.partition('.so.')[2]} {runtime} (>= {version})", control["shlibs"])
    for name in trees.keys() & {"gsort-binary", "gsort-mpi", "libgsort-dev"}:
        require_links(trees[name])
    fields = fields_of(packages["gsort-binary"])
    require(fields["Conflicts"] == "gsort", "it stands beside no gsort")
    require(fields["Description"].startswith("sorts files of binary numbers"), fields["Description"])
    require_sorts(gsort, folder)
    require_engines(gsort, fields["Description"])
    require_pages(trees["gsort-binary"], "vendor-completions")
    for header in "gsort.h", "gsort/sort_file.hpp":
        require((trees["libgsort-dev"] / "include" / header).exists(), f"the library has {header}")


def case_arm64(options, folder: Path) -> None:
    """The packages of a cross build are for ARM64, and depend on what packages for this machine depend on."""
    pack(options, folder)
    packages = {package.name.split("_")[0]: package for package in (folder / "packages").glob("*_arm64.deb")}
    runtime, = packages.keys() - {"gsort-binary", "libgsort-dev", "gsort-tools"}
    for name, package in packages.items():
        fields = fields_of(package)
        require(fields["Architecture"] == "arm64", f"{name} is for {fields['Architecture']}")
        depends = dict(re.findall(r"(\S+) \(>?= (\S+)\)", fields["Depends"]))
        wanted = {runtime} if name == "libgsort-dev" else {"libc6", "libfmt9", "libstdc++6"}
        wanted |= {"libhwy1", "libtbb12", "zlib1g"} if name in ("gsort-binary", runtime) else set()
        require(depends.keys() >= wanted, f"{name} depends on {fields['Depends']}")
        output_of("dpkg-deb", "--extract", package, folder / name)
    program = folder / "gsort-binary/usr/bin/gsort"
    require("aarch64" in output_of("file", program), "the program is for ARM64")
    says = fields_of(packages["gsort-binary"])["Description"]
    emulated = folder / "gsort"
    emulated.write_text(f'#!/bin/sh\nexec qemu-aarch64 -L {SOURCE}/build/arm64-root {program} "$@"\n')
    emulated.chmod(0o755)
    require_sorts(emulated, folder)
    require_no_gpu(emulated, folder)
    require_engines(emulated, says)


def case_tar(options, folder: Path) -> None:
    pack(options, folder)
    tar, = (folder / "packages").glob("gsort-*.tar.gz")
    output_of("tar", "-xzf", tar, cwd=folder)
    usr = folder / tar.name.removesuffix(".tar.gz")
    require_sorts(usr / "bin/gsort", folder)
    require_nothing_of(options.build, usr / "bin/gsort")
    require_pages(usr, "site-functions")
    require_links(usr)
    for name, path in libraries_of(usr / "bin/gsort").items():
        beside = Path(path).parent.resolve() == (usr / "bin").resolve()
        require(beside or SYSTEM_LIBRARY.match(name), f"{name} is found at {path}")
        require("boost" not in name, "Boost is linked in")
    licences = {path.name for path in (usr / "share/doc/gsort-binary/licences").iterdir()}
    require(licences >= {"libhwy1", "libstdc++6", "libtbb12"}, f"the licences of the libraries are there: {licences}")


def case_headers(options, folder: Path) -> None:
    """Every public header can be included alone, and that for C in both languages."""
    usr = install(options, folder)
    (folder / "alone.c").write_text("#include <gsort.h>\n")
    output_of("cc", *C99, "-fsyntax-only", f"-I{usr}/include", "alone.c", cwd=folder)
    output_of("c++", "-xc++", "-std=c++98", *C99[1:], "-Wno-long-long", "-fsyntax-only", f"-I{usr}/include", "alone.c",
              cwd=folder)
    headers = sorted((usr / "include/gsort").glob("*.hpp"))
    require(len(headers) > 4, "headers are installed")
    for header in headers:
        (folder / "alone.cpp").write_text(f"#include <gsort/{header.name}>\n")
        output_of("c++", "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                  "-isystem", "/nowhere", f"-I{usr}/include", "alone.cpp", cwd=folder)


def link_of_all(usr: Path, folder: Path) -> tuple[subprocess.CompletedProcess, int]:
    """Links a program that refers to every function that the headers declare."""
    source, functions = exports.program_of(sorted((usr / "include/gsort").glob("*.hpp")))
    (folder / "all.cpp").write_text(source)
    library, = usr.rglob("libgsort.so")
    command = ["c++", "-std=c++20", f"-I{usr}/include", "all.cpp", library, "-Wl,-z,now", "-o", "all"]
    done = subprocess.run(command, cwd=folder, env=PLAIN, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done, functions


def link_of_c(usr: Path, folder: Path) -> subprocess.CompletedProcess:
    """Builds the program that holds what 1.x promises to C."""
    library, = usr.rglob("libgsort.so")
    return subprocess.run(["cc", *C99, f"-I{usr}/include", C_INTERFACE, library, "-o", "c_interface"], cwd=folder, env=PLAIN,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def case_exports(options, folder: Path) -> None:
    """The installed library shows every function of the installed headers, and a forgotten one is noticed."""
    usr = install(options, folder)
    done, functions = link_of_all(usr, folder)
    require(done.returncode == 0, done.stdout)
    library, = usr.rglob("libgsort.so")
    output_of(folder / "all", env={**PLAIN, "LD_LIBRARY_PATH": str(library.parent)})
    header = usr / "include/gsort/sort_keys.hpp"
    header.write_text(header.read_text() + """
namespace gsort {
[[nodiscard]] int forgotten_function(int a, const std::span<int>& b = std::span<int>{}, int c = {});
template <SortableKey Key>
void forgotten_template(std::span<Key> keys, Order order = Order::kAscending);
class Forgotten {
 public:
  explicit Forgotten(int size);
  [[nodiscard]] int forgotten_member() const noexcept;
  static int forgotten_static(int);
};
}
""")
    done, with_forgotten = link_of_all(usr, folder)
    require(with_forgotten == functions + 5, f"{with_forgotten} functions after adding 5 to {functions}")
    for name in "_function", "_template<float>", "_member", "_static":
        require(f"forgotten{name}" in done.stdout, f"forgotten{name} is not missed: {done.stdout}")
    require("Forgotten::Forgotten(int)" in done.stdout, done.stdout)
    require_c_exports(usr, folder)
    print(f"{functions} functions are shown")


def require_c_exports(usr: Path, folder: Path) -> None:
    """The library shows exactly what gsort.h declares, all of it is promised, and a changed promise is noticed."""
    done = link_of_c(usr, folder)
    require(done.returncode == 0, done.stdout)
    header = usr / "include/gsort.h"
    text = header.read_text()
    library, = usr.rglob("libgsort.so")
    output_of(folder / "c_interface", env={**PLAIN, "LD_LIBRARY_PATH": str(library.parent)})
    shown = re.findall(r" (gsort_\w+)$", output_of("nm", "-D", "--defined-only", library), re.M)
    declared, promised = exports.c_functions(text), exports.c_functions(C_INTERFACE.read_text())
    require(shown and sorted(shown) == sorted(declared), f"gsort.h declares {declared}, the library shows {shown}")
    require(sorted(declared) == sorted(promised), f"gsort.h declares {declared}, promised are {promised}")
    for old, new in {"int gsort_error_number": "long gsort_error_number", "_CORRUPT = 7": "_CORRUPT = 8", "double": "float",
                     "  uint64_t runs;": "  uint64_t more, runs;", "fingerprint[52]": "fingerprint[51]"}.items():
        require(text.count(old) == 1, f"gsort.h has one '{old}'")
        header.write_text(text.replace(old, new))
        require("error:" in link_of_c(usr, folder).stdout, f"'{new}' instead of '{old}' is not noticed")


def case_destructors(options, folder: Path) -> None:
    """No object of the library is destroyed at exit: destructors of the host may still call. Only the pool of threads
    has a destructor, which ends threads."""
    archives = [path for room in ("src", "io", "gpu") for path in (options.build / room).rglob("lib*.a")]
    lines = [line for archive in archives if archive.parent.name != "cluster"
             for line in output_of("nm", "--undefined-only", "-A", archive).splitlines()]
    found = {line.split(":")[1] for line in lines if re.search(r" U __cxa_(thread_)?atexit$", line)}
    require(found == {"parallel.cpp.o"}, f"these register destructors: {found}")


def blocks_of(document: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", document.read_text(), re.M | re.S)


def build_example(options, usr: Path, folder: Path, name: str, source: str, language: str = "CXX") -> Path:
    """The program that the guide's CMakeLists.txt makes of one of its examples."""
    project = folder / name
    project.mkdir()
    lists, = blocks_of(SOURCE / "src/library/README.md", "cmake")
    suffix = {"CXX": "cpp", "C": "c"}[language]
    (project / "CMakeLists.txt").write_text(lists.replace("CXX", language).replace(".cpp", f".{suffix}"))
    (project / f"example.{suffix}").write_text(source)
    output_of(options.cmake, "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={usr}",
              f"-DCMAKE_C_FLAGS={' '.join(C99)}")
    output_of(options.cmake, "--build", project / "build")
    return project / "build/example"


def case_library(options, folder: Path) -> None:
    """The examples of the guide, built against the installed package."""
    usr = install(options, folder)
    library, = usr.rglob("libgsort.so")
    require("NODELETE" in output_of("readelf", "-d", library), "its threads outlive dlclose")
    in_c, = blocks_of(SOURCE / "src/library/README.md", "c")
    require_sorts_dump(options, build_example(options, usr, folder, "c", in_c, "C"), folder)
    found = {**PLAIN, "PKG_CONFIG_PATH": str(library.parent / "pkgconfig")}
    flags = output_of("pkg-config", "--cflags", "--libs", "gsort", env=found).split()
    output_of("cc", *C99, folder / "c/example.c", "-o", folder / "by_pkg_config", f"-Wl,-rpath,{library.parent}", *flags)
    require_sorts_dump(options, folder / "by_pkg_config", folder)
    files, memory = blocks_of(SOURCE / "src/library/README.md", "cpp")
    require_sorts_dump(options, build_example(options, usr, folder, "files", files), folder)
    output_of(build_example(options, usr, folder, "memory", memory), cwd=folder)


def device_project(names: list[str]) -> str:
    """The guide's CMakeLists.txt for programs in device memory, for all examples."""
    lists, = blocks_of(DEVICE_GUIDE, "cmake")
    found, made = lists[:lists.index("add_executable")], lists[lists.index("add_executable"):]
    without_exceptions = "target_compile_options(error_of PRIVATE -fno-exceptions)\n"
    return found + "".join(made.replace("example", name) for name in names) + without_exceptions


def example_name(source: str) -> str:
    """The function that an example shows: the last function of gsort that it calls, or error_of."""
    if "error_of(" in source:
        return "error_of"
    return re.findall(r"gsort::(\w+)(?:<[\w:, ]+>)?\(", source)[-1]


def case_device(options, folder: Path) -> None:
    """The examples in device memory, one for each function, built against the installed package; they run if there is
    a GPU."""
    usr = install(options, folder)
    headers = sorted((usr / "include/gsort").glob("device_*.hpp"))
    if not headers:
        print("no headers for device memory: built without CUDA")
        return
    project = folder / "device"
    shutil.copytree(usr / "share/doc/libgsort-dev/examples", project)
    sources = {path.stem: path.read_text() for path in sorted(project.glob("*.cpp"))}
    for name, source in sources.items():
        require(example_name(source) == name, f"{name}.cpp is about {example_name(source)}")
    functions = {function.name for header in headers for function in exports.declared_functions(header.read_text())}
    functions = {name for name in functions if not name.endswith("_scratch_bytes")}
    require(set(sources) == functions | {"error_of"}, f"examples: {sorted(sources)}, functions: {sorted(functions)}")
    (project / "CMakeLists.txt").write_text(device_project(list(sources)))
    compiler = re.search(r"^CMAKE_CUDA_COMPILER:\w+=(.+)$", (options.build / "CMakeCache.txt").read_text(), re.M)[1]
    output_of(options.cmake, "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={usr}",
              f"-DCUDAToolkit_ROOT={Path(compiler).resolve().parents[1]}",
              "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror")
    output_of(options.cmake, "--build", project / "build", "-j2")
    if os.environ.get("GSORT_TEST_GPU", "1" if os.path.exists("/dev/nvidiactl") else "0") == "0":
        print(f"{len(sources)} examples are built; no GPU to run them")
        return
    for name in sources:  # the driver may be where the environment says
        output_of(project / "build" / name, env={**os.environ, "LC_ALL": "C.UTF-8"})


def require_sorts_dump(options, example: Path, folder: Path) -> None:
    """An example sorts dump.u64 downwards into sorted.u64, and says what is wrong if there is none."""
    (folder / "sorted.u64").unlink(missing_ok=True)
    keys = [0, 5, 1 << 63, 7]
    (folder / "dump.u64").write_bytes(b"".join(key.to_bytes(8, "little") for key in keys))
    said = output_of(example, cwd=folder)
    require(said == "4 keys, 0 bytes spilled\n", said)
    expected = b"".join(key.to_bytes(8, "little") for key in sorted(keys, reverse=True))
    require((folder / "sorted.u64").read_bytes() == expected, "the example sorts its file")
    (folder / "dump.u64").unlink()
    failed = subprocess.run([example], cwd=folder, env=PLAIN, capture_output=True, text=True)
    require(failed.returncode == 2 and "opening dump.u64: No such file" in failed.stderr, failed.stderr)
    require_nothing_of(options.build, example)
    needed = re.findall(r"NEEDED.*\[(libgsort.*)\]", output_of("readelf", "-d", example))
    require(needed == [soname(options.build / "bin/gsort")], f"it needs {needed}")


def python_with_numpy() -> str:
    for python in sys.executable, "/usr/bin/python3":
        if subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            return python
    raise AssertionError("no Python here has NumPy; tools/setup installs python3-numpy")


def case_kernels(options, folder: Path) -> None:
    """nvcc makes the same object from the same source twice. This one has names that nvcc makes unique."""
    commands = json.loads((options.build / "compile_commands.json").read_text())
    command = next(each for each in commands if each["file"].endswith("gpu/widths/counted_keys.cu"))
    words = shlex.split(command["command"])
    words = words[next(i for i, word in enumerate(words) if Path(word).name == "nvcc"):]  # without ccache
    made = []
    for name in ("first", "second"):
        (folder / name).mkdir()
        words[words.index("-o") + 1] = folder / name / "kernels.o"
        output_of(*words, cwd=command["directory"])
        made.append((folder / name / "kernels.o").read_bytes())
    require(made[0] == made[1], "the objects have the same bytes")


def case_numpy(options, folder: Path) -> None:
    """The recipe for NumPy, run as it stands, and then on arrays of every type."""
    recipe = blocks_of(SOURCE / "src/library/NUMPY.md", "python")[-1]  # that of the program
    (folder / "recipe.py").write_text(recipe)
    (folder / "recipe_test.py").write_text((Path(__file__).parent / "numpy_recipe.py").read_text())
    environment = {**PLAIN, "PATH": f"{options.build}/bin:{PLAIN['PATH']}"}
    print(output_of(python_with_numpy(), "recipe_test.py", cwd=folder, env=environment), end="")


def case_setup(options, folder: Path) -> None:
    """Without apt-get, and if it fails, tools/setup names the packages and builds with the installed ones."""
    for name in "tools", "bin":
        (folder / name).mkdir()
    shutil.copy(SOURCE / "tools/setup", folder / "tools")
    for name in "bash", "basename", "cat", "dirname", "env", "grep", "id", "mkdir", "sh":
        (folder / "bin" / name).symlink_to(shutil.which(name))
    programs = {"cmake": 'echo "$@" >> cmake.log'}
    for more in {}, {"dpkg-query": "exit 1", "apt-get": "exit 100"}:
        programs |= more
        for name, text in programs.items():
            (folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / "bin" / name).chmod(0o755)
        said = output_of(folder / "tools/setup", "--programs", "--no-cuda", env={"PATH": str(folder / "bin")})
        require("building with what is there" in said and "libtbb-dev" in said and ("tbb-devel" in said) == (not more), said)
        require("--build" in (folder / "cmake.log").read_text(), "it builds")
        (folder / "cmake.log").unlink()


def case_presets(options, folder: Path) -> None:
    """Presets that leave targets out are configured with all tests."""
    for preset in ("relocatable", "asan"):
        output_of(options.cmake, "--preset", preset, "-B", folder / preset, "-DGSORT_CUDA=OFF", cwd=SOURCE)


CASES = {name.removeprefix("case_"): function for name, function in list(globals().items())
         if name.startswith("case_")}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("cases", nargs="+", choices=CASES)
    options = parser.parse_args()
    for name in options.cases:
        with tempfile.TemporaryDirectory(prefix="gsort-packaging-") as folder:
            CASES[name](options, Path(folder).resolve())
        print(f"ok: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
