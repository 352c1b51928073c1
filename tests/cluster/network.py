#!/usr/bin/env python3
"""Hosts for tests: network namespaces behind a bridge, each with its own /tmp, scratch folder, hostname and, where the kernel
allows it, limits of memory, processor time and disk rates. Links can be shaped and taken down.

All of it, the bridge too, is in namespaces of one process: the machine's own network and mounts stay as they are, and all
ends with that process, however it ends. The hosts share a folder in /var/tmp. It is removed with their control groups,
also after SIGTERM. After SIGKILL, the next program that makes hosts removes both.

As a program it runs one command on the first host, to try things by hand:

  tests/cluster/network.py --hosts 3 --rate 100mbit -- mpirun --host h1,h2,h3 -n 3 hostname
"""

import argparse
import contextlib
import errno
import fcntl
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

FOLDER = "GSORT_NETWORK_FOLDER"  # a variable that is set inside: the shared folder
PARENT, PREFIX = Path("/var/tmp"), "gsort-network-"  # of its name, with which the names of its control groups begin
LOCK = ".lock"  # in it: locked while the first process of its namespaces lives, or who made it
DELEGATED = ".delegated"  # in it: these hosts need memory in the root's subtree_control, which was not there
ENDS_WITHIN = 10  # s: a killed process
GROUPS = Path("/sys/fs/cgroup")  # of cgroup v1: a folder for each controller; of v2, all are one
# MPI's launchers call this instead of ssh: options, the host's name, words for a shell.
ENTER = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
cd "$GSORT_NETWORK_FOLDER"
for group in ".$host.group."*; do
  if [ -e "$group" ]; then echo $$ > "$(cat "$group")/cgroup.procs"; fi
done
exec nsenter --target "$(cat ".$host.pid")" --net --uts --mount --ipc --wdns="$PWD" sh -c "$*"
"""
# One interface and no shared memory, as hosts have. Both ends notice a lost connection after 11 seconds.
OPEN_MPI = {
    "plm": "rsh", "pml": "ob1", "btl": "tcp,self", "btl_tcp_if_include": "eth0", "oob_tcp_if_include": "eth0",
    "oob_tcp_keepalive_time": "5", "oob_tcp_keepalive_intvl": "2", "oob_tcp_keepalive_probes": "3",
    "hwloc_base_binding_policy": "none", "rmaps_base_oversubscribe": "1"}
# The launcher of Open MPI 5, PRRTE, has names of its own.
HAS_PRTE = shutil.which("prterun") is not None
PRTE = {"plm": "ssh", "hwloc_default_binding_policy": "none", "rmaps_default_mapping_policy": "node:oversubscribe"}
MPICH = {"HYDRA_LAUNCHER": "ssh", "HYDRA_IFACE": "eth0", "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}


def open_mpi(settings: dict[str, str], programs: Sequence[str] = ("OMPI", "PRTE")) -> dict[str, str]:
    return {f"{program}_MCA_{name}": value for program in programs for name, value in settings.items()}


def call(*words: object, check: bool = True) -> str:
    return subprocess.run([str(word) for word in words], check=check, text=True, stdout=subprocess.PIPE).stdout


def launcher_of(program: Path) -> str | None:
    """The mpirun of the MPI that a program was built with; none if there is no such program, or no launcher."""
    if not program.exists():
        return None
    return shutil.which("mpirun.mpich" if "libmpich" in call("ldd", program) else "mpirun.openmpi") or shutil.which("mpirun")


def unshare(*words: str) -> list[str]:
    """A command in namespaces of its own, in which it is root."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["setpriv", "--pdeathsig", "KILL", "unshare", *user, "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child",
            "--mount-proc", *words]


def why_not() -> str:
    """Why hosts cannot be made here; empty if they can."""
    for program in ("unshare", "nsenter", "setpriv", "ip", "tc"):
        if shutil.which(program) is None:
            return f"there is no program {program} (packages util-linux, iproute2)"
    tried = subprocess.run(unshare("sh", "-c", "ip link add bridge0 type bridge && mount -t tmpfs none /tmp"),
                           capture_output=True, text=True, check=False)
    return f"namespaces cannot be made: {tried.stderr.strip()}" if tried.returncode else ""


def interfaces_and_mounts() -> list[str]:
    """The interfaces and mounts of this machine, which the hosts must not change."""
    return sorted(os.listdir("/sys/class/net")) + Path("/proc/self/mounts").read_text().splitlines()


def is_inside() -> bool:
    return FOLDER in os.environ


def make_folder() -> tuple[Path, int]:
    """A shared folder, and its lock."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=PARENT))
    lock = os.open(folder / f"{LOCK}.new", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    (folder / f"{LOCK}.new").rename(folder / LOCK)
    return folder, lock


def delegating() -> set[Path]:
    return {record.parent for record in PARENT.glob(f"{PREFIX}*/{DELEGATED}")}


def groups_of(folder: Path) -> list[Path]:
    name = glob.escape(folder.name)
    return [*GROUPS.glob(f"{name}-*"), *GROUPS.glob(f"*/{name}-*")]


def made_by(folder: Path) -> list[Path]:
    """The things of its hosts on this machine: the folder, and control groups."""
    return [path for path in (folder, *groups_of(folder)) if path.exists()]


def is_removed(group: Path) -> bool:
    try:
        group.rmdir()
    except OSError as error:
        return error.errno == errno.ENOENT
    return True


def remove(folder: Path) -> list[str]:
    """All that hosts have made outside of namespaces, which must have ended. Returns the control groups that could not be
    removed; then the folder stays, too."""
    groups = groups_of(folder)
    end = time.monotonic() + ENDS_WITHIN
    while groups := [group for group in groups if not is_removed(group)]:  # killed processes may still be in them
        if time.monotonic() > end:
            return [str(group) for group in groups]
        time.sleep(0.05)
    if delegating() == {folder}:
        with contextlib.suppress(OSError):
            if all(limit.read_text().strip() == "max" for limit in GROUPS.glob("*/memory.max")):  # of other programs
                (GROUPS / "cgroup.subtree_control").write_text("-memory")
    while folder.exists() and time.monotonic() < end:  # killed processes may still write there
        shutil.rmtree(folder, ignore_errors=True)
    return []


def remove_stale() -> None:
    """The same of programs that were killed."""
    for path in PARENT.glob(f"{PREFIX}*/{LOCK}"):
        with contextlib.suppress(OSError):  # others use it, or remove it
            if path.parent.stat().st_uid != os.getuid():
                continue
            lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(path.parent)
            finally:
                os.close(lock)


def end_by_signal(number: int, _: object) -> None:
    sys.exit(128 + number)


def go_inside(*words: str) -> int:
    """Calls this program again in namespaces, with a folder for its hosts, and these words. Returns its status."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_by_signal)
    remove_stale()
    folder, lock = make_folder()
    left: list[str] = []
    try:
        command = unshare(sys.executable, sys.argv[0], *words)
        status = subprocess.run(command, env=os.environ | {FOLDER: str(folder)}, pass_fds=[lock], check=False).returncode
    finally:
        left = remove(folder)
        os.close(lock)
        if left:
            print(f"control groups are left: {', '.join(left)}", file=sys.stderr)
    return 1 if left or status < 0 else status  # negative: of a signal


class Network:
    """Hosts h1, h2, ... Only inside."""

    def __init__(self, hosts: int):
        self.names = [f"h{number}" for number in range(1, hosts + 1)]
        self.folder = Path(os.environ[FOLDER])
        self.scratch = self.folder / "scratch"  # on each host its own
        self.holders: dict[str, subprocess.Popen] = {}
        enter = str(self.folder / "enter")
        self.environment = os.environ | open_mpi(OPEN_MPI) | open_mpi(PRTE, ["PRTE"]) | MPICH | {
            "OMPI_MCA_plm_rsh_agent": enter, "PRTE_MCA_plm_ssh_agent": enter, "HYDRA_LAUNCHER_EXEC": enter,
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        for name in ("TMPDIR", "GSORT_OPTIONS", "GSORT_TYPE"):
            self.environment.pop(name, None)

    def __enter__(self) -> "Network":
        self.scratch.mkdir()
        (self.folder / "enter").write_text(ENTER)
        (self.folder / "enter").chmod(0o755)
        addresses = [f"{self.address(name)} {name}\n" for name in self.names]
        (self.folder / ".addresses").write_text("".join(["127.0.0.1 localhost\n", *addresses]))
        call("mount", "--bind", self.folder / ".addresses", "/etc/hosts")
        call("ip", "link", "set", "lo", "up")
        call("ip", "link", "add", "bridge0", "type", "bridge")
        call("ip", "link", "set", "bridge0", "up")
        for name in self.names:
            self.make_host(name)
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_all()
        for holder in self.holders.values():
            holder.kill()
            holder.wait()

    def address(self, name: str) -> str:
        return f"10.88.0.{self.names.index(name) + 1}"

    def make_host(self, name: str) -> None:
        own = self.folder / f".{name}.scratch"
        own.mkdir()
        holder = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "--ipc", "sh", "-c", "echo; exec sleep infinity"],
                                  stdout=subprocess.PIPE)
        holder.stdout.readline()  # it is in its namespaces
        self.holders[name] = holder
        (self.folder / f".{name}.pid").write_text(str(holder.pid))
        call("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", holder.pid)
        call("ip", "link", "set", f"to-{name}", "master", "bridge0", "up")
        self.on(name, f"hostname {name}; mount -t tmpfs none /tmp; mount --bind {own} {self.scratch}; ip link set lo up; "
                      f"ip address add {self.address(name)}/24 dev eth0; ip link set eth0 up")

    def processes_on(self, hosts: int | Sequence[str]) -> list[str]:
        """Words for a launcher of either kind: a process on each of these hosts, in this order, or of the first ones."""
        names = self.names[:hosts] if isinstance(hosts, int) else hosts
        return ["--host", ",".join(names), "-n", str(len(names))]

    def entering(self, name: str, *words: object) -> list[str]:
        """A command that runs these words on a host, in the shared folder."""
        return [str(self.folder / "enter"), name, "exec " + shlex.join(map(str, words))]

    def on(self, name: str, script: str) -> str:
        return call(*self.entering(name, "sh", "-e", "-c", script))

    def shape(self, rate: str, names: list[str] | None = None) -> None:
        """All links, or those named, carry so much each way, with queues of 50 ms: a deep queue would hide who waits."""
        shaped = f"root tbf rate {rate} burst 64kb latency 50ms"
        for name in names or self.names:
            call("tc", "qdisc", "replace", "dev", f"to-{name}", *shaped.split())
            self.on(name, f"tc qdisc replace dev eth0 {shaped}")

    def limit_memory(self, name: str, limit: int) -> bool:
        """Limits the memory of all programs that start on a host from now on. False: the kernel does not allow it."""
        if not (GROUPS / "cgroup.controllers").exists():
            return self.limit(name, "memory", {"limit_in_bytes": limit})
        delegated = GROUPS / "cgroup.subtree_control"
        with contextlib.suppress(OSError):
            if delegating() or "memory" not in delegated.read_text().split():
                (self.folder / DELEGATED).touch()  # the last of them restores it
                delegated.write_text("+memory")
        swap = {"swap.max": 0} if Path("/proc/swaps").read_text().count("\n") > 1 else {}
        return self.limit(name, "memory", {"max": limit} | swap, GROUPS)

    def limit_workers(self, name: str, cores: float) -> bool:
        """The same of processor time, for threads that move_workers() has moved. Other work on this machine takes none away."""
        period, shares = 20_000, {"shares": 1 << 18}
        return self.limit(name, "cpu", shares) and self.limit(
            f"{name}-workers", "cpu", shares | {"cfs_period_us": period, "cfs_quota_us": round(cores * period)})

    def move_workers(self) -> None:
        """Puts all current threads of gsort-mpi under the limit, except those that call MPI. The limit stops threads for
        milliseconds at a time. If it stopped those, links with short queues would be idle, which does not happen with slow
        processors."""
        for process, name in self.processes().items():
            if name != "gsort-mpi":
                continue
            with contextlib.suppress(OSError):  # it has just ended
                group = Path((self.folder / f".{self.host_of(process)}-workers.group.cpu").read_text())
                for thread in set(os.listdir(f"/proc/{process}/task")) - {str(process)}:
                    (group / "tasks").write_text(thread)

    def limit_disk(self, name: str, read: float, written: float) -> bool:
        """The same of the disk with the folder: direct reads and writes, in bytes a second."""
        disk = self.disk()
        return self.limit(name, "blkio", {"throttle.read_bps_device": f"{disk} {read:.0f}",
                                          "throttle.write_bps_device": f"{disk} {written:.0f}"})

    def disk(self) -> str:
        """Major and minor number of the whole disk with the folder."""
        facts = os.stat(self.folder)
        device = Path(f"/sys/dev/block/{os.major(facts.st_dev)}:{os.minor(facts.st_dev)}")
        if (device / "partition").exists():
            device = device.resolve().parent
        return (device / "dev").read_text().strip() if device.exists() else "0:0"

    def limit(self, name: str, controller: str, values: dict[str, object], groups: Path | None = None) -> bool:
        group = (groups or GROUPS / controller) / f"{self.folder.name}-{name}"
        record = self.folder / f".{name}.group.{controller}"  # what runs on the host joins it
        try:
            group.mkdir(exist_ok=True)
            for field, value in values.items():
                (group / f"{controller}.{field}").write_text(str(value))
            record.write_text(str(group))
        except OSError:
            record.unlink(missing_ok=True)
            is_removed(group)
            return False
        return True

    def link(self, name: str, state: str) -> None:
        """A cable is pulled out ("down") or plugged in ("up"); then waits until another host answers, by refusing to connect."""
        call("ip", "link", "set", f"to-{name}", state)
        other = next(self.address(each) for each in self.names if each != name)
        connect = f"import socket; print(socket.socket().connect_ex(('{other}', 1)))"
        while state == "up" and int(call(*self.entering(name, sys.executable, "-c", connect))) != errno.ECONNREFUSED:
            time.sleep(0.05)

    def sent_bytes(self, name: str) -> int:
        """The bytes that a host has sent since it was made."""
        return int(re.search(rf"to-{name}: *(\d+)", Path("/proc/net/dev").read_text())[1])

    def read_bytes(self) -> int:
        """The bytes that this program, and those that it started, have read until now. The bytes that an ended process has
        read count for the process that waited for it."""
        total = 0
        for entry in Path("/proc").glob("[0-9]*/io"):
            with contextlib.suppress(OSError):  # it has just ended
                total += int(re.match(r"rchar: (\d+)", entry.read_text())[1])
        return total

    def processes(self) -> dict[int, str]:
        """The numbers and names of what runs on the hosts."""
        own = {os.getpid(), *(holder.pid for holder in self.holders.values())}
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) in own:
                continue
            try:
                stat = (entry / "stat").read_text()
            except OSError:  # it has just ended
                continue
            if stat[stat.rindex(")") + 2] != "Z":
                found[int(entry.name)] = stat[stat.index("(") + 1:stat.rindex(")")]
        return found

    def host_of(self, process: int) -> str:
        """Where a process runs; empty if it has ended."""
        try:
            namespace = os.readlink(f"/proc/{process}/ns/net")
        except OSError:
            return ""
        return next((name for name, holder in self.holders.items()
                     if os.readlink(f"/proc/{holder.pid}/ns/net") == namespace), "")

    def kill_all(self) -> None:
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(process, signal.SIGKILL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--rate", help="of all links, such as 100mbit")
    parser.add_argument("--memory", type=int, help="limit of each host, in MiB")
    parser.add_argument("command", nargs="+", help="what runs on h1")
    options = parser.parse_args()
    if not is_inside():
        reason = why_not()
        return print(reason, file=sys.stderr) or 1 if reason else go_inside(*sys.argv[1:])
    with Network(options.hosts) as network:
        if options.rate:
            network.shape(options.rate)
        if options.memory and not all(network.limit_memory(name, options.memory << 20) for name in network.names):
            return print("the kernel allows no memory groups here", file=sys.stderr) or 1
        command = network.entering("h1", *options.command)
        return subprocess.run(command, cwd=network.folder, env=network.environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
