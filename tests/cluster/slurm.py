#!/usr/bin/env python3
"""The Slurm scripts of the guides, taken from their text, run by a real Slurm on hosts that are namespaces (network.py): one
job of gsort-mpi, arrays of shares and parts, a process that is killed, a host that is lost.

Skips with status 77 and the reason where there is no Slurm, or the machine allows no namespaces."""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import network
from failing_hosts import TIMEOUT
from host_bed import ENDS_WITHIN, OLD, Failed, command_of_guide, require_hosts
from kills import PHASES, TRIES, Sort, kill_often, slowly

SKIPPED = 77
SOURCE = Path(__file__).resolve().parents[2]
SCRIPTS = {"job.sh": SOURCE / "src/cluster/README.md", "sort.sh": SOURCE / "src/SHARES.md"}
FENCE = {"SLURM_PMIX_FENCE": "ring"}  # as the guide says
DAEMONS = ("munged", "slurmctld", "slurmd")
# Without cgroups and accounting. A job that is queued again waits until the credentials of its first try have expired.
CONFIGURATION = """
ClusterName=hosts
SlurmctldHost=h1
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
ReturnToService=2
SlurmdTimeout=6
InactiveLimit=0
KillWait=2
UnkillableStepTimeout=10
StateSaveLocation={folder}/state
SlurmdSpoolDir=/tmp/slurmd
SlurmdPidFile=/tmp/slurmd.pid
SlurmctldPidFile=/tmp/slurmctld.pid
SlurmdLogFile={folder}/log.%n
SlurmctldLogFile={folder}/log
NodeName={hosts} CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> None:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"after {seconds:.0f} s: {what}")
        time.sleep(0.05)


def script_of(name: str) -> str:
    """The block of a guide whose second line begins with the script's name."""
    found = re.findall(rf"^```\n(#!/bin/bash\n# {re.escape(name)} .*?)^```$", SCRIPTS[name].read_text(), re.S | re.M)
    if len(found) != 1:
        raise Failed(f"{SCRIPTS[name]} shows {len(found)} scripts that are called {name}")
    return found[0]


class Cluster:
    """Slurm on hosts, with the programs in a folder that all see."""

    def __init__(self, hosts: network.Network, programs: Path):
        self.hosts, self.programs = hosts, programs
        self.folder = hosts.folder
        (self.folder / "bin").mkdir()
        for name in ("gsort", "gsort-mpi"):
            shutil.copy(programs / name, self.folder / "bin" / name)
        if not (self.folder / "gsort-mpi").exists():  # in containers.py it does
            (self.folder / "gsort-mpi").symlink_to("bin/gsort-mpi")
        for name in SCRIPTS:
            (self.folder / name).write_text(script_of(name))
        os.environ.update(hosts.environment, SLURM_CONF=str(self.folder / "slurm.conf"), SCRATCH=str(hosts.scratch),
                          PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}")
        self.daemons: list[subprocess.Popen] = []

    def __enter__(self) -> "Cluster":
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(random.randbytes(1024))
        key.chmod(0o600)
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(folder=self.folder, hosts=f"h[1-{len(self.hosts.names)}]"))
        files = [f"--{name}={self.folder / f'munge.{end}'}" for name, end in
                 (("socket", "socket"), ("key-file", "key"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))]
        self.start("h1", "munged", "--foreground", "--force", *files)
        wait_for((self.folder / "munge.socket").exists, 20, "munged has not started")
        self.start("h1", "slurmctld", "-D", "-c")
        for name in self.hosts.names:
            self.start(name, "slurmd", "-D", "-N", name)
        wait_for(lambda: self.idle_hosts() == len(self.hosts.names), 60, "not all hosts are idle")
        return self

    def __exit__(self, *_: object) -> None:
        for daemon in self.daemons:
            daemon.kill()
            daemon.wait()

    def start(self, host: str, *words: str) -> None:
        with open(self.folder / "daemons", "a", encoding="utf-8") as said:
            self.daemons.append(subprocess.Popen(self.hosts.entering(host, *words), stdout=said, stderr=said))

    def call(self, *words: str) -> str:
        """On h1, where users would log in."""
        done = subprocess.run(self.hosts.entering("h1", *words), text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{' '.join(words)}: status {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def idle_hosts(self) -> int:
        tried = subprocess.run(self.hosts.entering("h1", "sinfo", "--noheader", "--Node", "--states=idle"), text=True,
                               capture_output=True, check=False)
        return len(tried.stdout.splitlines())

    def jobs(self, *words: str) -> dict[str, str]:
        """Asks scontrol about all jobs and tasks of arrays: returns the state, or another field, by number."""
        field = words[0] if words else "JobState"
        found = {}
        for line in self.call("scontrol", "--oneliner", "show", "job").splitlines():
            fields = dict(word.split("=", 1) for word in line.split() if "=" in word)
            found[fields["JobId"]] = fields.get(field, "")
        return found

    def running(self, name: str) -> list[int]:
        return [process for process, found in self.hosts.processes().items() if found == name]

    def running_on(self, host: str) -> bool:
        return any(self.hosts.host_of(process) == host for process in self.running("gsort-mpi"))

    def write_keys(self, count: int) -> bytes:
        """An input. Returns what gsort makes of it."""
        (self.folder / "in.u64").write_bytes(random.Random(1).randbytes(8 * count))
        subprocess.run(["gsort", "in.u64", "-o", "wanted"], cwd=self.folder, check=True)
        (self.folder / "out").unlink(missing_ok=True)
        return (self.folder / "wanted").read_bytes()

    def require_output(self, wanted: bytes) -> None:
        if (self.folder / "out").read_bytes() != wanted:
            raise Failed("the output has other bytes than gsort's")

    def submit(self, hosts: int | None = None) -> subprocess.Popen:
        """The job of gsort-mpi on this many hosts, or all; ends when the job has ended."""
        nodes = f"--nodes={hosts or len(self.hosts.names)}"
        words = ["sbatch", "--wait", nodes, "--output=job.log", "job.sh", "in.u64", "out"]
        return subprocess.Popen(self.hosts.entering("h1", *words), stdout=subprocess.DEVNULL)

    def lose(self, name: str) -> None:
        """A host, and all that runs on it. The others hear nothing of it."""
        self.hosts.link(name, "down")
        for process in self.hosts.processes():
            if self.hosts.host_of(process) == name:
                os.kill(process, signal.SIGKILL)

    def submit_arrays(self, inputs: str = "in.u64") -> subprocess.Popen:
        return subprocess.Popen(self.hosts.entering("h1", "bash", "sort.sh", inputs, "out", f"{self.folder}/runs", "5", "4"),
                                stdout=subprocess.DEVNULL)


def status_of(running: subprocess.Popen, seconds: float) -> int:
    try:
        return running.wait(seconds)
    except subprocess.TimeoutExpired:
        raise Failed(f"the job has not ended after {seconds:.0f} s") from None


def finish(running: subprocess.Popen, seconds: float) -> None:
    status = status_of(running, seconds)
    if status != 0:
        raise Failed(f"the job has status {status}")


def one_job(cluster: Cluster) -> None:
    """The guide's script, and its first command, where PMIx is the default."""
    wanted = cluster.write_keys(500_000)
    finish(cluster.submit(), 120)
    cluster.require_output(wanted)
    (cluster.folder / "out").unlink()
    command = ["salloc", "--quiet", f"--nodes={len(cluster.hosts.names)}", *command_of_guide("srun")]
    finish(subprocess.Popen(cluster.hosts.entering("h1", *command), env=os.environ | FENCE | {"SLURM_MPI_TYPE": "pmix"}), 60)
    cluster.require_output(wanted)
    require_hosts(cluster.hosts)


def killed_job(cluster: Cluster) -> None:
    """A process of gsort-mpi is killed: Slurm ends the others, and the job is queued again."""
    wanted = cluster.write_keys(1_500_000)
    cluster.hosts.shape("20mbit")
    running = cluster.submit()
    before = cluster.hosts.sent_bytes("h2")
    wait_for(lambda: cluster.hosts.sent_bytes("h2") - before > 2_000_000, 60, "nothing is exchanged")
    os.kill(cluster.running("gsort-mpi")[0], signal.SIGKILL)
    finish(running, 180)
    cluster.require_output(wanted)
    if list(cluster.jobs("Restarts").values()) != ["1"]:
        raise Failed(f"restarts: {cluster.jobs('Restarts')}")


def job_without_a_host(cluster: Cluster) -> None:
    """One of two hosts of a job is lost: Slurm queues the job again, on another one."""
    wanted = cluster.write_keys(1_500_000)
    cluster.hosts.shape("10mbit")
    running = cluster.submit(2)
    before = cluster.hosts.sent_bytes("h2")
    wait_for(lambda: cluster.hosts.sent_bytes("h2") - before > 2_000_000, 60, "nothing is exchanged")
    if cluster.running_on("h3"):
        raise Failed("h3 takes part from the start")
    cluster.lose("h2")
    finish(running, 180)
    cluster.require_output(wanted)
    if list(cluster.jobs("Restarts").values()) != ["1"]:
        raise Failed(f"restarts: {cluster.jobs('Restarts')}")


def start_srun(cluster: Cluster, *program: str, hosts: Sequence[str] | None = None) -> subprocess.Popen:
    """On hosts in this order, or on all."""
    folder = [] if any(word.startswith("--resume") for word in program) else ["-T", str(cluster.hosts.scratch)]
    names = hosts or cluster.hosts.names
    (cluster.folder / "hosts").write_text("".join(f"{name}\n" for name in names))
    order = {"SLURM_HOSTFILE": str(cluster.folder / "hosts")} if hosts else {}
    placed = "--distribution=arbitrary" if hosts else "--ntasks-per-node=1"
    command = ["srun", f"--nodes={len(names)}", placed, "--mpi=pmix", "--kill-on-bad-exit=1", *program, *folder,
               "-S", "40M", "--parallel=1", "in.u64", "-o", "out"]
    with open(cluster.folder / "job.log", "w", encoding="utf-8") as said:
        return subprocess.Popen(cluster.hosts.entering("h1", *command), cwd=cluster.folder, stdout=said, stderr=said,
                                env=os.environ | FENCE | order)


def end_srun(cluster: Cluster, running: subprocess.Popen) -> int:
    """It ends in time, and all processes. Returns the status."""
    end = time.monotonic() + ENDS_WITHIN
    try:
        status = running.wait(ENDS_WITHIN)
    except subprocess.TimeoutExpired:
        raise Failed(f"srun has not ended after {ENDS_WITHIN} s") from None
    wait_for(lambda: not cluster.running("gsort-mpi"), end - time.monotonic(), "processes are left")
    wait_for(lambda: cluster.idle_hosts() == len(cluster.hosts.names), 60, "not all hosts are idle")
    return status


def killed_srun(cluster: Cluster) -> None:
    """srun and each process of a job are killed in each phase, when it begins and at random times in it."""
    wanted = cluster.write_keys(600_000)
    hosts = cluster.hosts
    hosts.shape("12mbit")
    program = slowly("gsort-mpi", cluster.programs.parent / "tests/libslow_end.so", len(wanted))

    def kill(phase: str, victim: str, wait: float) -> str:
        sort = Sort(hosts, len(hosts.names), hears_within=1)
        running = start_srun(cluster, *program)
        return sort.kill(phase, victim, wait, lambda: running.poll() is None, lambda: end_srun(cluster, running), wanted)

    def sort_after() -> None:
        finish(start_srun(cluster, "gsort-mpi"), 60)
        cluster.require_output(wanted)
        left = [path.name for path in cluster.folder.glob(".gsort-*")]
        left += [found for name in hosts.names for found in hosts.on(name, "find /tmp scratch -name '*gsort-*' || true").split()]
        if left:
            raise Failed(f"names are left: {left}")

    kill_often(cluster.rounds, cluster.phases, lambda _: ("srun", *hosts.names), cluster.seed, kill, sort_after)


def link_lost(cluster: Cluster) -> None:
    """A link is down for good, and the processes behind it live: all end, and srun."""
    wanted = cluster.write_keys(1_500_000)
    (cluster.folder / "out").write_bytes(OLD)
    cluster.hosts.shape("12mbit")
    before = cluster.hosts.sent_bytes("h2")
    running = start_srun(cluster, "gsort-mpi", f"--peer-timeout={TIMEOUT}")
    wait_for(lambda: cluster.hosts.sent_bytes("h2") - before > 500_000, 60, "nothing is exchanged")
    cluster.hosts.link("h3", "down")
    end = time.monotonic() + TIMEOUT + ENDS_WITHIN
    if status_of(running, TIMEOUT + ENDS_WITHIN) == 0:
        raise Failed("status 0 although a link is down")
    wait_for(lambda: not cluster.running("gsort-mpi"), end - time.monotonic(), "processes are left")
    cluster.require_output(OLD)
    if f"h3 (rank 2): it has not answered for {TIMEOUT} seconds" not in (cluster.folder / "job.log").read_text():
        raise Failed("the host that does not answer is not named")
    cluster.hosts.link("h3", "up")
    wait_for(lambda: cluster.idle_hosts() == len(cluster.hosts.names), 60, "not all hosts are idle")
    finish(start_srun(cluster, "gsort-mpi"), 60)
    cluster.require_output(wanted)


def resumed_srun(cluster: Cluster) -> None:
    """srun is killed in each phase of sorts that keep runs. Two of the hosts go on, or all in another order."""
    count, kept = 600_000, cluster.hosts.scratch / "kept"
    wanted = cluster.write_keys(count)
    hosts = cluster.hosts
    hosts.shape("12mbit")
    program = slowly("gsort-mpi", cluster.programs.parent / "tests/libslow_end.so", len(wanted))
    for place, phase in enumerate(cluster.phases):
        after = ["h3", "h1"] if place % 2 else ["h3", "h1", "h2"]
        for _ in range(TRIES):
            for name in hosts.names:
                hosts.on(name, f"rm -rf {kept}")
            sort = Sort(hosts, len(hosts.names), hears_within=1)
            running = start_srun(cluster, *program, f"--resume={kept}")
            found = sort.kill(phase, "srun", 0, lambda: running.poll() is None, lambda: end_srun(cluster, running), wanted)
            if found == "in time":
                break
        else:
            raise Failed(f"srun could not be killed while {phase}")
        finish(start_srun(cluster, "gsort-mpi", f"--resume={kept}", "--stats=stats", hosts=after), 60)
        cluster.require_output(wanted)
        ranks = json.loads((cluster.folder / "stats").read_text())["ranks"]
        resumed, read = (sum(rank[field] for rank in ranks) for field in ("resumed_elements", "elements_read"))
        if [rank["host"] for rank in ranks] != after or resumed + read != count or (
                phase not in ("starting", "forming") and resumed != count * len(after) // 3):
            raise Failed(f"killed while {phase}, then {after}: {resumed:,} elements were used, {read:,} read: {ranks}")
        left = [name for name in after if hosts.on(name, f"find {hosts.scratch} -name 'gsort-*'")]
        if left or list(cluster.folder.glob(".gsort-*")):
            raise Failed(f"killed while {phase}: names are left, runs on {left}")


def arrays(cluster: Cluster) -> None:
    wanted = cluster.write_keys(500_000)
    finish(cluster.submit_arrays(), 180)
    cluster.require_output(wanted)


def arrays_that_fail(cluster: Cluster) -> None:
    """The tasks of the first array have a wrong option: the script ends, too. With the right one, the same script goes well."""
    wanted = cluster.write_keys(500_000)
    if status_of(cluster.submit_arrays("--wrong in.u64"), 120) == 0:
        raise Failed("status 0 although all tasks fail")
    if any(state in ("PENDING", "RUNNING") for state in cluster.jobs().values()) or (cluster.folder / "out").exists():
        raise Failed(f"there is an output, or jobs are left: {cluster.jobs()}")
    finish(cluster.submit_arrays(), 180)
    cluster.require_output(wanted)


def arrays_without_a_host(cluster: Cluster) -> None:
    """A host that forms runs is lost; Slurm gives its task to another one."""
    wanted = cluster.write_keys(20_000_000)
    running = cluster.submit_arrays()
    lost = "h3"
    wait_for(lambda: any(cluster.hosts.host_of(process) == lost for process in cluster.running("gsort")), 60, "h3 does nothing")
    cluster.lose(lost)
    finish(running, 240)
    cluster.require_output(wanted)
    if "1" not in cluster.jobs("Restarts").values():
        raise Failed(f"no task was repeated: {cluster.jobs('Restarts')}")


CASES: dict[str, Callable[[Cluster], None]] = {case.__name__: case for case in (
    one_job, killed_job, job_without_a_host, killed_srun, link_lost, resumed_srun, arrays, arrays_that_fail,
    arrays_without_a_host)}


def run(name: str, options: argparse.Namespace) -> bool:
    begin = time.monotonic()
    with network.Network(3) as hosts:
        try:
            with Cluster(hosts, options.bin.resolve()) as cluster:
                cluster.rounds, cluster.phases, cluster.seed = options.rounds, options.phases, options.seed
                CASES[name](cluster)
        except Failed as failure:
            print(f"FAILED: {name}: {failure}")
            for log in [hosts.folder / "job.log", hosts.folder / "daemons", *hosts.folder.glob("log*"), *hosts.folder.glob("runs/*.log")]:
                if log.exists():
                    print(f"  {log.name}:", *log.read_text(errors="replace").splitlines()[-30:], sep="\n    ")
            return False
    print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    return True


def why_not(programs: Path) -> str:
    for name in DAEMONS:
        if shutil.which(name) is None and not Path("/usr/sbin", name).exists():
            return f"there is no {name} (packages slurmctld, slurmd, slurm-client, munge)"
    launcher = network.launcher_of(programs / "gsort-mpi")
    if launcher is None or launcher.endswith("mpich"):
        return "gsort-mpi was not built with Open MPI"
    if os.geteuid() != 0:
        return "Slurm's daemons need root"
    return network.why_not()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of the programs")
    parser.add_argument("cases", nargs="*", help="all, if none is named")
    parser.add_argument("--rounds", type=int, default=1, help="of kills")
    parser.add_argument("--phases", nargs="+", default=list(PHASES), choices=PHASES, help="in which is killed")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cases = options.cases or list(CASES)
    reason = why_not(options.bin)
    if reason:
        print(f"skipped: {reason}. Left out: {', '.join(cases)}")
        return SKIPPED
    if network.is_inside():
        return 0 if run(cases[0], options) else 1
    os.environ["PATH"] += ":/usr/sbin"
    words = ["--bin", str(options.bin), "--rounds", str(options.rounds), "--seed", str(options.seed), "--phases", *options.phases]
    return max(network.go_inside(name, *words) for name in cases)


if __name__ == "__main__":
    sys.exit(main())
