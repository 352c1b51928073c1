"""Command-line tests under limits of the system: files, memory, threads. Whatever is too tight for a sort must be said in
one message; whatever is not must not matter."""

import ctypes
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import run
from scenarios import MIB, in_own_mounts, is_instrumented, peak_mib, report, scenario, skip

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from memory_group import NoGroup, memory_group  # noqa: E402  found by the line above

PIDS_GROUPS = Path("/sys/fs/cgroup/pids")


def under(place, limit: str, command: str, runner="bash -c") -> str:
    """"sorted", "refused", or what is wrong: what a command makes of `limit`, a command of bash."""
    (place.work / "out").write_bytes(b"old")
    (place.work / "out").chmod(0o666)
    done = place.bash(f"{runner} '{limit}; exec {command}'")
    output = (place.work / "out").read_bytes()
    left = place.leftovers() + [name for name in os.listdir(place.work) if name[0] == "."]
    if left:
        return f"left behind: {left}"
    if done.returncode == 0:
        return "sorted" if output == (place.work / "wanted").read_bytes() else "wrong output"
    if done.returncode == run.SKIPPED:
        skip(done.stdout.strip())
    if done.returncode == 127 and "error while loading shared libraries" in done.stderr and output == b"old":
        return "refused"  # by the loader: there is no gsort yet that could say it better
    problem = run.message_problem(done.stderr) or (f"status {done.returncode}" if done.returncode != 2 else None)
    if problem or output != b"old":
        return f"{problem or 'the old output is gone'}: {done.stderr!r}"
    print(f"    {done.stderr.splitlines()[0]}")
    return "refused"


def outcomes(place, limits, limit_of, command: str, make="gsort-gen -t u32 --size 4M -o in.u32", **more) -> dict:
    place.bash(f"{make}; reference-sort u32 < in.u32 > wanted")
    found = {}
    for limit in limits:
        found[limit] = under(place, limit_of(limit), command, **more)
        print(f"    {limit_of(limit)}: {found[limit]}")
    return found


def ends_well(found: dict, least_that_suffices: int) -> bool:
    return report(each_is_sorted_or_refused=set(found.values()) <= {"sorted", "refused"},
                  enough_is_enough=all(found[limit] == "sorted" for limit in found if limit >= least_that_suffices))


@scenario
def few_open_files_suffice_for_hundreds_of_runs(place):
    return ends_well(outcomes(place, range(4, 21), lambda n: f"ulimit -n {n}",
                              "gsort -S 2M --batch-size=2 in.u32 -o out"),
                     least_that_suffices=12 if is_instrumented(place.gsort) else 8)


@scenario
def a_limit_on_the_size_of_files_is_an_error_or_does_not_matter(place):
    return ends_well(outcomes(place, [1, 64, 1024, 4095, 4096, 8192], lambda kib: f"ulimit -f {kib}",
                              "gsort -S 2M in.u32 -o out"), least_that_suffices=8192)


@scenario
def a_limit_on_address_space_is_an_error_or_does_not_matter(place):
    if is_instrumented(place.gsort):
        skip("a sanitizer reserves address space for itself")
    # Where the program itself does not fit, the kernel ends it before it can say anything.
    program = -(-place.gsort.stat().st_size >> 20)
    limits = [mib for mib in (40, 60, 80, 100, 150, 200, 300, 600, 1200, 4000) if mib > program + 10]
    return ends_well(outcomes(place, [program + 10, *limits],
                              lambda mib: f"ulimit -v {mib * 1024}", "gsort --engine=cpu --parallel=16 in.u32 -o out"),
                     least_that_suffices=300 if is_in_memory(place) else 100)


@scenario
def a_limit_on_threads_is_an_error_or_does_not_matter(place):
    found = outcomes(place, [1, 2, 3, 4, 5, 6, 8, 12, 4000], lambda threads: f"ulimit -u {threads}",
                     "gsort -S 2M --parallel=4 in.u32 -o out", runner="unpriv bash -c")
    return ends_well(found, least_that_suffices=4000)


@scenario
def as_few_threads_as_a_group_of_processes_may_have_suffice(place):
    """The group counts the threads of this sort alone, so that no thread is given and then refused."""
    group = PIDS_GROUPS / f"gsort-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / "pids.max").write_text("1")
    except OSError as problem:
        if group.exists():
            group.rmdir()
        skip(f"no group of processes can be made here: {problem.strerror}")
    try:
        checks = {}
        for command in ("gsort --parallel=4 in.u32 -o out", "gsort -S 16M --parallel=4 in.u32 -o out"):
            found = outcomes(place, range(1, 13), lambda most: f"echo {most} > {group}/pids.max; echo $$ > {group}/tasks",
                             command, make="gsort-gen -t u32 -d zipf --size 20M -o in.u32")
            checks[f"{command}: each limit suffices"] = set(found.values()) == {"sorted"}
        return report(**checks)
    finally:
        group.rmdir()


@contextmanager
def group_or_skip(mib: int):
    try:
        with memory_group(mib) as enter:
            yield enter
    except NoGroup as problem:
        skip(str(problem))


def is_in_memory(place) -> bool:
    return place.bash("stat -f -c %T .").stdout.strip() == "tmpfs"


def require_disk(place):
    if is_in_memory(place):
        skip("files lie in memory here, which would count")


def require_tmpfs_and_disk(place):
    require_disk(place)
    if place.bash("stat -f -c %T /dev/shm").stdout.strip() != "tmpfs":
        skip("/dev/shm is no tmpfs here")


def in_memory_group(place, mib: int, input_mib: int) -> bool:
    require_disk(place)
    with group_or_skip(mib) as enter:
        place.bash(f"gsort-gen -t u64 --size {input_mib}M -o in.u64; reference-sort u64 < in.u64 > wanted")
        checks = {}
        for name, command in {"a file": "gsort in.u64 -o out", "a pipe": "gsort -t u64 -o out < <(cat in.u64)"}.items():
            found = under(place, ":", command, shlex.join([*enter, "bash", "-c"]))
            print(f"    {mib} MiB, {name}: {found}")
            checks[f"{name} is sorted"] = found == "sorted"
        return report(**checks)


def in_memory_folder_and_group(place, mib: int, *arguments: str) -> str:
    """The result of a sort of 192 MiB in a memory cgroup with a tmpfs: "sorted", "refused", or the fault."""
    memory = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        words = shlex.join(arguments).replace("MEMORY", str(memory))
        with group_or_skip(mib) as enter:
            done = place.bash(f"{shlex.join(enter)} gsort {words} < <(cat in.u64)")
        print(f"    {words}: {done.returncode} {done.stderr.strip()}")
        out = memory / "out" if "MEMORY/out" in arguments else place.work / "out"
        if done.returncode == 0:
            same = place.bash(f"cmp wanted {out}").returncode == 0
            return "sorted" if same else "wrong output"
        if done.returncode != 2 or run.message_problem(done.stderr) or out.exists() or list(memory.iterdir()):
            return f"status {done.returncode}"
        return "refused"
    finally:
        shutil.rmtree(memory)
        place.bash("rm -f out")


@scenario
def a_tmpfs_in_a_memory_cgroup_counts_as_memory(place):
    """The seed chooses half of the cases; --of-all-types tries all."""
    require_tmpfs_and_disk(place)
    place.bash("gsort-gen -t u64 --size 192M -o in.u64; reference-sort u64 < in.u64 > wanted")
    cases = {  # what must come out; none: either is well
        ("-T", "MEMORY", "in.u64", "-o", "out"): None,
        ("-S64M", "-T", "MEMORY", "in.u64", "-o", "out"): "sorted",
        ("-S128M", "-T", "MEMORY", "in.u64", "-o", "out"): None,
        ("-T.", "in.u64", "-o", "MEMORY/out"): "sorted",
        ("-S128M", "-T.", "in.u64", "-o", "MEMORY/out"): "refused",
        ("-T", "MEMORY", "in.u64", "-o", "MEMORY/out"): "refused",
        ("-T", "MEMORY", "-tu64", "-o", "out"): None,
        ("-S128M", "-T", "MEMORY", "-tu64", "-o", "out"): None,
        ("-T.", "-tu64", "-o", "MEMORY/out"): None,
        ("-T.", "in.u64", "-o", "out"): "sorted",
    }
    checks = {}
    some = len(cases) if place.environment["KEY_TYPES"] == "all" else len(cases) // 2
    for arguments, wanted in random.Random(place.environment["SEED"]).sample(list(cases.items()), some):
        found = in_memory_folder_and_group(place, 300, *arguments)
        checks[f"{shlex.join(arguments)}: {wanted or 'no kill'}, but {found}"] = found == wanted if wanted else found in ("sorted", "refused")
    return report(**checks)


a_tmpfs_in_a_memory_cgroup_counts_as_memory.tries_some = True


@scenario
def standard_output_in_a_tmpfs_counts_as_memory(place):
    require_tmpfs_and_disk(place)
    place.bash("gsort-gen -t u64 --size 112M -o in.u64")
    memory = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        with group_or_skip(128) as enter:
            gsort = f"{shlex.join(enter)} gsort -S 32M -T . -t u64"
            known = place.bash(f"{gsort} in.u64 > {memory}/out")
            unknown = place.bash(f"{gsort} < <(cat in.u64) > {memory}/out")
    finally:
        shutil.rmtree(memory)
    print(known.stderr, unknown.stderr)
    return report(it_is_refused=known.returncode == 2 and known.stderr.startswith("gsort: files in memory (tmpfs) in standard output: "),
                  it_fails=unknown.returncode == 2 and "is in memory (tmpfs), which is full" in unknown.stderr)


@scenario
def a_shared_file_in_a_tmpfs_counts_as_memory(place):
    """The file of --take: two commands at once stop when memory ends; one alone then continues."""
    require_tmpfs_and_disk(place)
    place.bash("gsort-gen -t u64 --size 192M -o in.u64; reference-sort u64 < in.u64 > wanted; gsort --form=runs --share=0/1 in.u64")
    memory = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        with group_or_skip(300) as enter:
            def take(part: str, size: str):
                words = ["gsort", *size.split(), f"--take={part}", "--from=runs", "-T.", "-o", f"{memory}/out"]
                return f"{shlex.join([*enter, *words])}"

            refused = place.bash(take("0/1", "-S128M"))
            left = list(memory.iterdir())
            at_once = place.bash(f"{take('0/2', '-S64M')} & first=$!; {take('1/2', '-S64M')} & second=$!; "
                                 "wait $first; echo $?; wait $second; echo $?")
            alone = [place.bash(take(part, "")).returncode for part in ("0/2", "1/2")]
            reported = place.bash(f"{take('0/2', '--stats=stats')} && grep '\"elements\"' stats")
            print(reported.stderr, refused.stderr, at_once.stdout, at_once.stderr, alone)
        joined = place.bash(f"gsort --join=2 -o {memory}/out && cmp wanted {memory}/out")
        return report(it_is_refused=refused.returncode == 2 and refused.stderr.startswith(f"gsort: files in memory (tmpfs) in {memory}: "),
                      nothing_is_left=not left, nothing_is_killed=set(at_once.stdout.split()) <= {"0", "2"},
                      the_same_command_goes_on=alone == [0, 0],
                      a_complete_part_is_reported=reported.returncode == 0, it_is_joined=joined.returncode == 0)
    finally:
        shutil.rmtree(memory)


@scenario
def a_memory_cgroup_of_64_MiB_suffices(place):
    return in_memory_group(place, 64, 96)


@scenario
def a_memory_cgroup_of_256_MiB_suffices(place):
    return in_memory_group(place, 256, 192)


@scenario
def memory_for_dictionaries_stays_within_what_was_given(place):
    """Content as long as the dictionaries, so that all of their memory is used."""
    if is_instrumented(place.gsort):
        skip("a sanitizer's own memory would be counted")
    place.bash("gsort-gen -t u32 -d equal --size 72M -o in.u32; xz -k --lzma2=preset=0,dict=64MiB in.u32;"
               "zstd -q1 --long=26 < in.u32 > in.u32.zst; gsort-gen -t u32 -d equal -n 1000 | xz -0 > small.xz;"
               "cat small.xz in.u32.xz > grows.u32.xz;"
               "gsort in.u32 -o in.npy; xz --lzma2=preset=0,dict=64MiB in.npy")
    checks = {}
    for name in ("in.u32.xz", "in.u32.zst"):
        merge = ["--engine=cpu", "-m", *[name] * 8, "-o", "/dev/null"]
        refused = place.bash(shlex.join(["gsort", "-S128M", *merge]))
        print(refused.stderr, end="")
        named = re.search(r"give -S (\d+)M or more", refused.stderr)
        checks[f"8 times {name} is refused with 128 MiB, and what suffices is named"] = bool(
            refused.returncode == 2 and named)
        for given, sort in ((int(named[1]) if named else 0, merge), (128, ["--engine=cpu", name, "-o", "/dev/null"])):
            peak = peak_mib(place, f"-S{given}M", *sort)
            print(f"    -S {given}M {shlex.join(sort)}: {peak:.0f} MiB")
            checks[f"-S {given}M {shlex.join(sort)} takes no more"] = peak <= given
    # The header of an array is decoded before there is a plan.
    peak = peak_mib(place, "-S24M", "in.npy.xz", "-o", "out", wanted="2")
    print(f"    -S 24M in.npy.xz, refused: {peak:.0f} MiB")
    checks["an array whose dictionary is too large is refused within what was given"] = peak <= 24
    done = place.bash("cat in.u32.xz | gsort -S 128M -t u32 -o /dev/null; cat in.u32.zst | gsort -S 128M -t u32 -o out;"
                      "gsort -S 128M grows.u32.xz -o out")
    print(done.stderr, end="")
    checks["what comes unexpected is refused"] = done.stderr.count(" 16 MiB that are planned for it") == 3
    return report(**checks)


class DeviceMeter:
    """The used memory of all devices that gsort may use, by all processes, as the driver reports it; NVML's own numbers."""

    class Memory(ctypes.Structure):
        _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]

    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        count = ctypes.c_uint()
        if self.nvml.nvmlInit_v2() or self.nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) or not count.value:
            raise OSError("no NVIDIA device")
        visible = [int(number) for number in re.findall(r"\b\d+\b", os.environ.get("CUDA_VISIBLE_DEVICES", ""))]
        self.devices = []
        for number in visible or range(count.value):
            self.devices.append(ctypes.c_void_p())
            self.require(self.nvml.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(self.devices[-1])))

    @staticmethod
    def require(status: int):
        if status:
            raise OSError(f"NVML's status {status}")

    def used_mib(self) -> float:
        used, memory = 0, self.Memory()
        for device in self.devices:
            self.require(self.nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)))
            used += memory.used
        return used / MIB

    def peak_mib_of(self, place, command: str) -> float:
        """Above what others use; infinite if the command fails."""
        before = peak = self.used_mib()
        process = subprocess.Popen(["bash", "-c", command], cwd=place.work, env=place.environment)
        while process.poll() is None:
            peak = max(peak, self.used_mib())
        return peak - before if process.returncode == 0 else float("inf")


@scenario
def device_memory_stays_within_what_was_given(place):
    """Beyond what the driver takes for any process that uses the device: its context and all kernels' code."""
    try:
        meter = DeviceMeter()
    except OSError as problem:
        skip(f"no device to measure: {problem}")
    place.environment["CUDA_MODULE_LOADING"] = "EAGER"  # else a sort loads what code it needs, and driver's own
    place.bash("gsort-gen -t u32 --size 512M -o in.u32; gsort-gen -t u64 -d zipf --size 512M -o in.u64;"
               "gsort-gen -t u32 -d sorted --size 256M -o sorted.u32; gsort-gen -t u32 -n 1000 -o few.u32")
    if "without CUDA" in place.bash("gsort --engine=cuda few.u32 -o few.out").stderr:
        skip("this gsort was built without CUDA")
    few_mib = 4  # at most: a page for each of two arrays
    # By default a sort could take all devices of a machine, and what their drivers take.
    few = meter.peak_mib_of(place, "gsort --engine=cuda --device=0 --gpu-memory=64M few.u32 -o few.out")
    print(f"    1000 keys: {few:.0f} MiB")
    checks = {"a few keys are sorted on the device": few < float("inf")}
    sorts = ["-S 256M in.u32 -o out", "-S 4G in.u64 -o out", "-S 192M --batch-size=2 in.u64 -o out",
             "-S 256M -u in.u64 -o out", "-S 256M --record=16 --key=0:u32 in.u64 -o out",
             "-S 256M --pack-runs=off in.u32 -o out", "-S 256M -t u32 < in.u32 > out",
             "-S 256M --batch-elements=1000000 in.u32 -o out", "-S 256M -m sorted.u32 sorted.u32 -o out"]
    for given in (64, 256):
        for sort in sorts:
            above = meter.peak_mib_of(place, f"gsort --engine=cuda --device=0 --gpu-memory={given}M {sort}") - few + few_mib
            print(f"    --gpu-memory={given}M {sort}: {above:.0f} MiB")
            checks[f"{sort} within {given} MiB of the device"] = above <= given
        for times in (2, 4):  # one device stands for several, each with its own memory
            sort = f"--device=0{',0' * (times - 1)} -S 2G --stats=stats.json in.u32 -o out"
            above = meter.peak_mib_of(place, f"gsort --engine=cuda --gpu-memory={given}M {sort}") - few + few_mib
            devices = len(json.loads((place.work / "stats.json").read_text())["plan"]["devices"])
            print(f"    --gpu-memory={given}M {sort}: {above:.0f} MiB, {devices} devices")
            checks[f"{sort} uses {times} devices"] = devices == times
            checks[f"{sort} within {times} x {given} MiB of the device"] = above <= times * given
    return report(**checks)


def on_small_disk(place, size_mib: int, script: str, kind="tmpfs") -> subprocess.CompletedProcess:
    """Runs a script where small/ is a file system of that size; skips where the kernel refuses one."""
    return in_own_mounts(place, f"mkdir -p small && mount -t {kind} -o size={size_mib}m {kind} small", script)


def is_refused_on_small_disk(place, prepare: str, size_mib: int, command: str, says: str = "") -> int:
    place.bash(prepare)
    before = set(os.listdir(place.work)) | {"small"}
    done = on_small_disk(place, size_mib, f"{command}; echo $? $(ls -A small)")
    print(done.stderr, end="")
    return report(status_is_2_and_the_folder_empty=done.stdout == "2\n",
                  nothing_has_appeared=not set(os.listdir(place.work)) - before,
                  message_is_well_formed=run.message_problem(done.stderr) is None,
                  message_says_how_much_is_needed=says in done.stderr)


@scenario
def a_disk_too_small_for_the_output_is_refused_at_once(place):
    return is_refused_on_small_disk(place, "gsort-gen -t u32 --size 64M -o in.u32", 16, "gsort in.u32 -o small/out", "64 MiB")


@scenario
def a_small_tmpfs_has_room_for_an_output_made_early(place):
    place.bash("gsort-gen -t u32 --size 72M -o in.u32; gsort in.u32 -o expected")
    command = "gsort --engine=cpu --parallel=4 in.u32 -o"
    done = on_small_disk(place, 80, f"{command} small/out --explain | grep -c 'is allocated while input is read'; "
                                    f"{command} small/out && cmp small/out expected; echo $?; "
                                    f"{command} small/more; echo $? $(ls -A small)")
    print(done.stderr, end="")
    return report(the_first_is_sorted_and_the_second_refused=done.stdout == "1\n0\n2 out\n",
                  message_is_well_formed=run.message_problem(done.stderr) is None)


@scenario
def file_systems_in_memory_without_a_limit_have_the_room_of_the_memory(place):
    place.bash("gsort-gen -t u64 --size 48M -o in.u64; gsort in.u64 -o expected")
    checks = {}
    for kind in ("tmpfs", "ramfs"):
        done = on_small_disk(place, 0, "gsort -vv -S 32M -T small in.u64 -o small/out && cmp small/out expected && "
                                       "gsort --form=small/runs --share=0/1 in.u64; echo $?; "
                                       "gsort --explain -S 32M -T small in.u64 -o small/out >&2", kind)
        print(done.stderr, end="")
        checks[f"{kind} is sorted"] = done.stdout == "0\n"
        named = re.findall(r"in memory \((\w+)\)", done.stderr)
        checks[f"{kind} is named"] = set(named) == {kind} and len(named) >= 4  # the sum, runs, output, folders of the plan
    return report(**checks)


@scenario
def a_disk_too_small_for_the_runs_is_refused_at_once(place):
    return is_refused_on_small_disk(place, "gsort-gen -t u64 --size 128M -o in.u64", 8, "gsort -S 32M -T small in.u64 -o out")


@scenario
def a_folder_for_runs_that_is_read_only_is_refused_at_once(place):
    place.bash("gsort-gen -t u64 --size 128M -o in.u64")
    done = on_small_disk(place, 200, "mount -o remount,bind,ro small && gsort -S 32M -T small in.u64 -o out; echo $?; "
                                   "gsort -T small in.u64 -o out; echo $?")
    print(done.stderr, end="")
    return report(only_a_sort_with_runs_is_refused=done.stdout == "2\n0\n",
                  message_is_well_formed=run.message_problem(done.stderr) is None,
                  message_says_why="making room for runs in small: Read-only file system" in done.stderr)


@scenario
def a_disk_too_small_for_all_parts_is_refused_by_the_first(place):
    return is_refused_on_small_disk(place, "gsort-gen -t u32 --size 24M -o in.u32; gsort --form=runs --share=0/1 in.u32", 16,
                                    "gsort --take=0/4 --from=runs -o small/out", "24 MiB")


@scenario
def a_disk_too_small_for_temporary_runs_of_a_part_is_refused(place):
    return is_refused_on_small_disk(
        place, "gsort-gen -t u32 --size 24M -o in.u32; for i in 0 1 2 3 4 5; do gsort --form=r$i --share=$i/6 in.u32; done", 8,
        "gsort --batch-size=2 -T small --take=0/1 --from=r0,r1,r2,r3,r4,r5 -o out")


@scenario
def parts_that_are_written_again_need_no_more_room(place):
    place.bash("gsort-gen -t u32 --size 24M -o in.u32; gsort --form=runs --share=0/1 in.u32; gsort in.u32 -o want")
    take = "for i in 0 1 2; do gsort --take=$i/3 --from=runs -o small/out; done"
    done = on_small_disk(place, 28, f"{take}; rm small/.out.gsort-part-*; {take}; gsort --join=3 -o small/out; "
                                    "cmp small/out want; echo $?")
    print(done.stderr, end="")
    return report(the_output_is_right=done.stdout == "0\n", no_message=done.stderr == "")


@scenario
def a_disk_that_fills_up_under_a_pipe_is_trouble(place):
    done = on_small_disk(place, 8, "gsort-gen -t u64 --size 128M | gsort -t u64 -S 32M -T small -o out; "
                                   "echo ${PIPESTATUS[1]} $(ls -A small)")
    message = "\n".join(line for line in done.stderr.splitlines() if not line.startswith("gsort-gen:"))
    print(done.stderr, end="")
    return report(status_is_2_and_the_folder_empty=done.stdout == "2\n",
                  no_output_has_appeared=not (place.work / "out").exists(),
                  message_is_well_formed=run.message_problem(message) is None)
