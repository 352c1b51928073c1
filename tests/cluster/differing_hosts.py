"""Cases of hosts.py: a host that differs from the others, and commands that no host can carry out. Each is found before anything
of a large input is read but samples. There is one message, which names the host, and status 2."""

import json
import shutil
import subprocess
from collections.abc import Callable

from host_bed import OLD, SMALL, Bed, Failed

LARGE = (8 << 30) + 8  # bytes
WITHOUT_POWER = "-dac_override,-dac_read_search"  # as users that are not root
MOST_READ = LARGE // 1000  # by all processes, with what launchers and libraries read: 1.3 MB
PAGE = 65_536  # the largest of Linux


def write_large(bed: Bed) -> None:
    with open(bed.folder / "in.u64", "wb") as file:
        file.truncate(LARGE)
    (bed.folder / "out").write_bytes(OLD)


def require_unread(bed: Bed, what: str) -> None:
    read = bed.read_bytes()
    if read > MOST_READ:
        raise Failed(f"{what}: {read:,} bytes were read")
    bed.require_output(OLD, what)
    bed.require_nothing_left()


def require_one_error(bed: Bed, what: str, running: subprocess.Popen, *told: str, seconds: float = 60) -> None:
    status = bed.finish(running, seconds)
    messages = [line for line in bed.said().splitlines() if line.startswith("gsort")]
    if status != 2 or len(messages) != 1 or any(words not in messages[0] for words in told):
        raise Failed(f"{what}: status {status}, not one message with {told}")
    bed.require_output(OLD, what)
    bed.require_nothing_left()


def require_refusal(bed: Bed, what: str, running: subprocess.Popen, *told: str) -> None:
    require_one_error(bed, what, running, *told)
    require_unread(bed, what)


def other_command(bed: Bed) -> None:
    """Options, variables, and the version of the program, which may lack an option."""
    write_large(bed)
    for what, on_h2, told in (
            ("an option", "more=-r", "comparing the options"),
            ("a variable", "export GSORT_OPTIONS=-q", "comparing the variable GSORT_OPTIONS"),
            ("few open files", "ulimit -n 42", "opening files: a process needs 44, and the limit is 42")):
        require_refusal(bed, what, bed.start_otherwise(on_h2, *SMALL, "in.u64", "-o", "out"), told, "h2 (rank 1)")
    for on_h2 in ("more=--nonsense", "export GSORT_OPTIONS=--nonsense"):
        running = bed.start_otherwise(on_h2, *SMALL, "--inputs-here", "in.u64", "-o", "out")
        require_refusal(bed, "a wrong option", running, "on h2 (rank 1): option '--nonsense'", "is unknown")
    running = bed.start_otherwise(":;; *) more=in.u64", *SMALL, "--inputs-here", "-t", "u64", "-o", "out")
    require_refusal(bed, "no inputs", running, "on h2 (rank 1): reading standard input")
    if bed.finish(bed.start_otherwise("ulimit -Sn 42", "-S", "256M", "in.u64", "-o", "out", "--explain"), 60) != 0:
        raise Failed("the soft limit of open files is not raised")
    version = subprocess.run(["./gsort-mpi", "--version"], cwd=bed.folder, check=True, capture_output=True).stdout.split()[1]
    content = (bed.folder / "gsort-mpi").read_bytes()
    shutil.copy(bed.folder / "gsort-mpi", bed.folder / "other-mpi")
    content = content.replace(b" " + version + b" (", b" " + version[:-1] + b"x (")
    (bed.folder / "other-mpi").write_bytes(content.replace(b"peer-timeout", b"peer-timelag"))
    for more in ((), ("--peer-timeout=59",)):
        running = bed.start_otherwise("program=./other-mpi", *SMALL, *more, "in.u64", "-o", "out")
        require_refusal(bed, "a version", running, "comparing the program's version", "h1 (rank 0)", "h2 (rank 1)")


def other_files(bed: Bed) -> None:
    """The scratch folder is another one on each host, as a folder that was to be shared might be."""
    write_large(bed)
    for name in bed.hosts.names[:3]:
        bed.hosts.on(name, f"truncate -s {LARGE + (8 if name == 'h2' else 0)} scratch/in.u64; touch -d @1 scratch/in.u64")
    require_refusal(bed, "inputs", bed.start(3, *SMALL, "scratch/in.u64"), "comparing the bytes of the inputs", "h2 (rank 1)")
    for on_h2, told in ((f"truncate -s {LARGE} scratch/in.u64; touch -d @2 scratch/in.u64", "times of the inputs' last changes"),
                        ("printf 1 1<> scratch/in.u64; touch -d @1 scratch/in.u64", "checksum of sampled elements")):
        bed.hosts.on("h2", on_h2)
        require_refusal(bed, told, bed.start(3, *SMALL, "scratch/in.u64"), f"comparing the {told}", "h2 (rank 1)")
    bed.hosts.on("h2", "rm scratch/in.u64")
    require_refusal(bed, "a missing input", bed.start(3, *SMALL, "scratch/in.u64"), "opening scratch/in.u64: No such file",
                    "on h2 (rank 1)")
    (bed.folder / "in.u64").chmod(0)
    powerless = f"program='setpriv --bounding-set {WITHOUT_POWER} ./gsort-mpi'"
    require_refusal(bed, "an unreadable input", bed.start_otherwise(powerless, *SMALL, "in.u64", "-o", "out"),
                    "opening in.u64: Permission denied", "on h2 (rank 1)")
    (bed.folder / "in.u64").chmod(0o644)
    (bed.folder / "shared").mkdir()
    bed.hosts.on("h2", "mount -t tmpfs none shared")
    running = bed.launch(3, "./gsort-mpi", "-T", "scratch", *SMALL, "in.u64", "-o", "shared/out")
    require_refusal(bed, "folders of the output", running, "opening shared/.gsort-", "on h2 (rank 1)")
    bed.hosts.on("h2", "umount shared; mount -t tmpfs -o size=1m none shared")
    running = bed.launch(3, "./gsort-mpi", "-T", "scratch", "-S", "256M", "--parts", "in.u64", "-o", "shared/{rank}.u64")
    require_refusal(bed, "a full folder of the output", running, "on h2 (rank 1): the output in shared: ", "1 MiB are free")
    bed.hosts.on("h1", "mount -t tmpfs -o size=1m none shared")
    running = bed.launch(["h1"] * 3, "./gsort-mpi", "-T", "scratch", "-S", "256M", "in.u64", "-o", "shared/out")
    require_refusal(bed, "a full folder of one output", running, "on h1 (rank ", "the output in shared: ", "MiB are free")
    bed.write_keys("in.u64", 6_000_000)
    bed.hosts.on("h2", "mount -o remount,ro,bind scratch")
    require_refusal(bed, "a folder for runs", bed.start(3, *SMALL, "in.u64"), "scratch: Read-only file system", "on h2 (rank 1)")


def other_memory(bed: Bed) -> None:
    """A host has less memory than -S says."""
    bed.limit_memory("h2", 96 << 20)
    write_large(bed)
    require_refusal(bed, "little memory", bed.start(3, "-S", "1G", "in.u64"), "h2 (rank 1)")


def too_many_runs(bed: Bed) -> None:
    """As many as the exchange has no memory for are planned: that is known before they are formed."""
    write_large(bed)
    require_refusal(bed, "memory for the exchange", bed.start(3, *SMALL, "in.u64"), "-S 40 MiB: is too small", "(rank ")


def explained_unread(bed: Bed) -> None:
    write_large(bed)
    if bed.finish(bed.start(3, "-S", "256M", "in.u64", "--explain"), 60) != 0:
        raise Failed("--explain of a large input fails")
    require_unread(bed, "--explain")


def on_network(bed: Bed) -> None:
    """On NFS, hosts never write to one page of the output, however short it is: that of h2 says that it is there."""
    shutil.copy(bed.programs.parent / "tests/libon_network.so", bed.folder)
    on_h2 = f"export LD_PRELOAD={bed.folder}/libon_network.so"
    bed.write_keys("in.u64", 100_000)
    wanted = bed.expect("in.u64")
    status = bed.finish(bed.start_otherwise(on_h2, *SMALL, "in.u64", "-o", "out", "--stats=stats"), 60)
    if status != 0:
        raise Failed(f"an output on NFS: status {status}")
    bed.require_output(wanted, "an output on NFS")
    ranks = json.loads((bed.folder / "stats").read_text())["ranks"]
    written = [rank["elements_written"] * 8 for rank in sorted(ranks, key=lambda rank: rank["share"])]
    if len(written) != 3 or written[0] % PAGE or written[1] % PAGE or 0 in written:
        raise Failed(f"hosts share pages of a file on NFS: they have written {written} bytes")
    write_large(bed)
    words = ["-S", "256M", "--skip=8", "--record=16", "--key=0:u64", "in.u64", "-o", "out"]
    require_refusal(bed, "a header that fills no page", bed.start_otherwise(on_h2, *words), "on a network file system")


DIFFERING: dict[str, Callable[[Bed], None]] = {
    case.__name__: case for case in (
        other_command, other_files, other_memory, too_many_runs, explained_unread, on_network)}
