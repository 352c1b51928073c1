#!/usr/bin/env python3
"""gsort-mpi in containers on hosts that are namespaces (network.py): the image and the commands are those of the guide. The image
begins with a Debian 12 that mmdebstrap makes of Debian's packages. mpirun and a real Slurm start the containers; a container's
podman, its process and mpirun are killed.

Skips with status 77 and the reason where something is missing, or Debian's mirror cannot be reached."""

import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import network
import slurm
from host_bed import OLD, Bed, Failed

SKIPPED = 77
GUIDE = Path(__file__).resolve().parents[2] / "src/cluster/README.md"
PROGRAMS = {"podman": "podman", "crun": "crun", "mmdebstrap": "mmdebstrap", "/usr/libexec/podman/catatonit": "catatonit"}
IMAGES = "GSORT_TEST_IMAGES"  # a variable that is set inside: the folder with the image
STORAGE = """[storage]
driver = "overlay"
runroot = "/run/containers"
graphroot = "{own}"
[storage.options]
additionalimagestores = [{more}]
"""
# Limits that even a root without CAP_SYS_RESOURCE may set; control groups of both versions at once are too much for crun.
CONFIGURATION = """[containers]
cgroups = "disabled"
default_ulimits = ["nofile={files}:{files}", "nproc=1000:1000"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
"""
PREPARE = "mount -t cgroup2 none /sys/fs/cgroup; mount -t tmpfs none /run; mount -t tmpfs none /dev/shm"
# How the guide's commands begin.
MPIRUN = "mpirun --bind-to none --hostfile hosts -N 1"
SRUN = "SLURM_PMIX_FENCE=ring srun --nodes=4 --ntasks-per-node=1 --mpi=pmix"
ENDS_WITHIN = 15  # seconds


def of_guide(pattern: str) -> str:
    """Returns the text of the guide that matches, once; lines that are continued are one."""
    found = re.findall(pattern, GUIDE.read_text(encoding="utf-8").replace("\\\n", ""), re.M)
    if len(found) != 1:
        raise Failed(f"{GUIDE} has {len(found)} of {pattern}")
    return found[0]


def write_configuration(folder: Path, own: Path, images: Path | None) -> dict[str, str]:
    """How podman works here. Returns the variables that say so."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    (folder / "containers.conf").write_text(CONFIGURATION.format(files=files))
    (folder / "storage.conf").write_text(STORAGE.format(own=own, more=f'"{images}"' if images else ""))
    return {"CONTAINERS_CONF": str(folder / "containers.conf"), "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
            "BUILDAH_ISOLATION": "chroot"}


def make_image(build: Path, folder: Path) -> str:
    """The image of the guide, in folder/images. Returns why it cannot be made."""
    made = subprocess.run(["unshare", "--mount", "mmdebstrap", "--quiet", "--variant=apt", "--dpkgopt=force-unsafe-io", "bookworm",
                           folder / "debian.tar", "http://deb.debian.org/debian"], env=os.environ | {"TMPDIR": str(folder)},
                          capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"mmdebstrap makes no Debian 12: {made.stderr.strip()[-300:]}"
    context = folder / "context"
    context.mkdir()
    (context / "Containerfile").write_text(of_guide(r"^# Containerfile\n(?:.+\n)+?(?=```)"))
    subprocess.run(["cpack", "--config", build / "CPackConfig.cmake", "-B", folder / "packages", "-D",
                    "CPACK_COMPONENTS_ALL=cluster;cluster_debian"], check=True, stdout=subprocess.DEVNULL)
    for package in (folder / "packages").glob("gsort-mpi_*.deb"):
        shutil.copy(package, context)
    script = f"{PREPARE}; podman import --quiet {folder}/debian.tar docker.io/library/debian:12; {of_guide('^podman build .*')}"
    environment = os.environ | write_configuration(folder, folder / "images", None)
    done = subprocess.run(["unshare", "--mount", "sh", "-e", "-c", script], cwd=context, env=environment, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"podman build: {done.stdout}{done.stderr}")
    return ""


class Containers(Bed):
    """Hosts where podman finds the image."""

    def __init__(self, hosts: network.Network, programs: Path):
        super().__init__(hosts, programs, 1)
        hosts.environment.update(write_configuration(self.folder, Path("/tmp/containers"), Path(os.environ[IMAGES], "images")))
        os.environ.update(hosts.environment)
        (self.folder / "hosts").write_text("".join(f"{name}\n" for name in hosts.names))

    def prepare(self) -> None:
        for name in self.hosts.names:
            self.hosts.on(name, PREPARE)

    def command(self, launcher: str, *more: str) -> list[str]:
        """The guide's command, on h1."""
        command = of_guide(f"^{launcher} +podman .*")
        folder = str(self.folder)
        for there, here in (("--nodes=4", f"--nodes={len(self.hosts.names)}"), ("/var/spool/slurmd", "/tmp/slurmd"),
                            ("big.u64", "in.u64"), ("sorted.u64", "out"), ("/local", folder), ("/shared", folder)):
            command = command.replace(there, here)
        return self.hosts.entering("h1", "sh", "-c", " ".join([command, *more]))

    def begin(self, launcher: str, *more: str) -> subprocess.Popen:
        (self.folder / "out").write_bytes(OLD)
        with open(self.folder / "said", "w", encoding="utf-8") as said:
            return subprocess.Popen(self.command(launcher, *more), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=said,
                                    stderr=said)

    def require_sort(self, launcher: str, wanted: bytes) -> None:
        """All hosts take part in one sort."""
        stats = self.folder / "stats"
        stats.unlink(missing_ok=True)
        if self.finish(self.begin(launcher, f"--stats={stats}"), 60) != 0:
            raise Failed(f"{launcher} with containers fails")
        self.require_output(wanted, launcher)
        if [rank["host"] for rank in json.loads(stats.read_text())["ranks"]] != self.hosts.names:
            raise Failed(f"{launcher}: the hosts are {stats.read_text()}")


def by_mpirun(bed: Containers) -> None:
    bed.prepare()
    bed.write_keys("in.u64", 1_500_000)
    wanted = bed.expect("in.u64")
    bed.require_sort(MPIRUN, wanted)
    bed.hosts.shape("4mbit")
    for victim in ("podman", "gsort-mpi", "mpirun"):
        before = bed.hosts.sent_bytes("h2")
        running = bed.begin(MPIRUN, "-S 40M")
        while bed.hosts.sent_bytes("h2") - before < 500_000:
            if running.poll() is not None:
                raise Failed(f"the sort has ended, status {running.returncode}")
            time.sleep(0.02)
        host = "h1" if victim == "mpirun" else "h2"
        os.kill(next(process for process, name in sorted(bed.hosts.processes().items())
                     if name == victim and bed.hosts.host_of(process) == host), signal.SIGKILL)
        begin = time.monotonic()
        try:
            bed.require_failure(running, ENDS_WITHIN)
        except Failed as failure:
            raise Failed(f"{victim} killed: {failure}") from None
        print(f"  {victim} killed: all had ended after {time.monotonic() - begin:.1f} s", flush=True)
    bed.hosts.shape("1gbit")
    bed.require_sort(MPIRUN, wanted)
    bed.require_no_process(5)
    bed.require_nothing_left()


def by_srun(bed: Containers) -> None:
    bed.write_keys("in.u64", 500_000)
    wanted = bed.expect("in.u64")
    with slurm.Cluster(bed.hosts, bed.programs):
        bed.prepare()  # slurmd, too, asks what control groups there are
        bed.require_sort(SRUN, wanted)


CASES = {"by_mpirun": by_mpirun, "by_srun": by_srun}


def run(name: str, programs: Path) -> bool:
    begin = time.monotonic()
    with network.Network(3) as hosts:
        bed = Containers(hosts, programs)
        try:
            CASES[name](bed)
        except (Failed, slurm.Failed) as failure:
            said = bed.said() if (bed.folder / "said").exists() else ""
            print(f"FAILED: {name}: {failure}", *(f"  {line}" for line in said.splitlines()), sep="\n")
            return False
    print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
    return True


def why_not(programs: Path) -> str:
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            return f"there is no program {program} (package {package})"
    if os.geteuid() != 0:
        return "containers on hosts that are namespaces need root"
    launcher = network.launcher_of(programs / "gsort-mpi")
    return "gsort-mpi was not built with Open MPI" if launcher is None or launcher.endswith("mpich") else network.why_not()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="the build folder")
    parser.add_argument("cases", nargs="*", help="all, if none is named")
    options = parser.parse_args()
    build = options.build.resolve()
    cases = options.cases or list(CASES)
    if network.is_inside():
        return 0 if run(cases[0], build / "bin") else 1
    os.environ["PATH"] += ":/usr/sbin"
    reason = why_not(build / "bin")
    if not reason and "by_srun" in cases and slurm.why_not(build / "bin"):
        print(f"left out: by_srun: {slurm.why_not(build / 'bin')}")
        cases.remove("by_srun")
    with tempfile.TemporaryDirectory(prefix="gsort-containers-", dir="/var/tmp") as folder:
        reason = reason or make_image(build, Path(folder))
        if reason:
            print(f"skipped: {reason}. Left out: {', '.join(cases)}")
            return SKIPPED
        os.environ[IMAGES] = folder
        return max((network.go_inside("--build", str(build), name) for name in cases), default=SKIPPED)


if __name__ == "__main__":
    sys.exit(main())
