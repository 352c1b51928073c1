#!/usr/bin/env python3
"""Measures whether network, reading, merging and writing overlap while gsort-mpi exchanges and merges. On hosts that are
namespaces of this machine (network.py), each stage is made slow in turn: links are shaped, the disk and the processor time of
each host are limited. The slow stage then takes --seconds, and each other stage --share of that time, so stages one after the
other would take about three times as long. For each slow stage it prints the time of exchange and merge, and the least time of
the slow stage: its bytes divided by its rate. The time of merging is measured: the same sort with only processor time limited.

With --require, the status is 1 if, for any stage, the median of the rounds is above 1.15 times the least time. It needs root,
cgroup v1 with cpu and blkio, and a disk below /var/tmp whose requests the kernel can limit; status 77 and the reason where these
are missing."""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import network

STAGES = ("network", "reading", "merging", "writing")
MOST = 1.15
LEAST = 0.8  # below that the stage was not slow
SKIPPED = 77
FREE = 1e12  # bytes a second


class NotSlow(Exception):
    """Why a stage cannot be made slow on this machine."""


class Bed:
    """The hosts, an input, and the bytes that a sort of it moves."""

    def __init__(self, hosts: network.Network, options: argparse.Namespace):
        self.hosts = hosts
        self.options = options
        self.launcher = network.launcher_of(options.bin / "gsort-mpi")
        for name in ("gsort", "gsort-mpi"):
            shutil.copy(options.bin / name, hosts.folder / name)
        with open(hosts.folder / "memory/in.u64", "wb") as keys:
            for _ in range(options.size * len(hosts.names)):
                keys.write(random.randbytes(1 << 20))
        subprocess.run(["./gsort", "memory/in.u64", "-o", "memory/wanted"], cwd=hosts.folder, check=True)
        self.moved = self.sort({})
        self.cores = 0.25
        self.cores *= self.sort({"merging": self.cores})["seconds"] / options.seconds

    def rates(self, slow: str) -> dict[str, float]:
        """Returns the rates of all stages: a low one for the slow stage, higher ones for the others."""
        rates = {stage: self.moved[stage] / self.options.seconds for stage in ("network", "reading", "writing")}
        rates["merging"] = self.cores
        return {stage: rate if stage == slow else rate / self.options.share for stage, rate in rates.items()}

    def sort(self, rates: dict[str, float]) -> dict[str, float]:
        """Seconds of exchange and merge, and the bytes of the stages, each of the host with the most."""
        for name in self.hosts.names:
            if not (self.hosts.limit_workers(name, rates.get("merging", 100)) and
                    self.hosts.limit_disk(name, rates.get("reading", FREE), rates.get("writing", FREE))):
                raise NotSlow("cgroup v1 does not limit processor time, or the disk below /var/tmp")
        self.hosts.shape(f"{rates.get('network', FREE / 1e3) * 8 / 1e3:.0f}kbit")
        before = {name: self.hosts.sent_bytes(name) for name in self.hosts.names}
        command = [self.launcher, *self.hosts.processes_on(len(self.hosts.names)), "./gsort-mpi", "-T", "scratch",
                   "-S", self.options.memory, "--parallel=1", "--direct-io=on", "--parts", "--stats=stats", "memory/in.u64",
                   "-o", "out-{rank}"]
        running = subprocess.Popen(self.hosts.entering("h1", *command), cwd=self.hosts.folder, env=self.hosts.environment)
        while running.poll() is None:
            self.hosts.move_workers()
            time.sleep(0.02)
        if running.returncode != 0:
            sys.exit(f"gsort-mpi ends with status {running.returncode}")
        subprocess.run("cat out-* | cmp - memory/wanted && rm out-*", shell=True, cwd=self.hosts.folder, check=True)
        report = json.loads((self.hosts.folder / "stats").read_text())
        most = {field: max(rank[field] for rank in report["ranks"]) for field in ("exchange_seconds", "loaded_bytes")}
        return {"seconds": most["exchange_seconds"], "reading": most["loaded_bytes"], "cutting": report["cuts"]["seconds"],
                "writing": max(8 * rank["elements_written"] for rank in report["ranks"]),
                "network": max(self.hosts.sent_bytes(name) - before[name] for name in self.hosts.names)}

    def least(self, slow: str, rates: dict[str, float], done: dict[str, float]) -> float:
        """Seconds that the slow stage needs."""
        if slow == "merging":
            return self.sort({slow: rates[slow]})["seconds"]
        before = done["cutting"] if slow == "reading" else 0  # was spent on reading blocks for cuts
        return done[slow] / rates[slow] - before


def measure(options: argparse.Namespace) -> int:
    """Returns how many stages are worse than --require allows."""
    bad = 0
    memory = Path(os.environ[network.FOLDER]) / "memory"  # the input is read from there
    memory.mkdir()
    network.call("mount", "-t", "tmpfs", "none", memory)
    with network.Network(options.hosts) as hosts:
        bed = Bed(hosts, options)
        print("slow     least, s  exchange and merge, s  ratio", flush=True)
        for slow in options.stages:
            rates, ratios = bed.rates(slow), []
            for _ in range(options.rounds):
                done = bed.sort(rates)
                least = bed.least(slow, rates, done)
                ratios.append(done["seconds"] / least)
                if ratios[-1] < LEAST:
                    raise NotSlow(f"{slow} that should need {least:.2f} s takes {done['seconds']:.2f} s")
                print(f"{slow:<8} {least:>8.2f} {done['seconds']:>22.2f} {ratios[-1]:>6.2f}", flush=True)
            bad += statistics.median(ratios) > MOST
    return bad if options.require else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="the folder of the programs")
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--size", type=int, default=256, help="input of each host, in MiB")
    parser.add_argument("--memory", default="192M", help="-S of each process")
    parser.add_argument("--seconds", type=float, default=6, help="time that the slow stage needs")
    parser.add_argument("--share", type=float, default=0.6, help="time of each other stage, as a fraction of --seconds")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--require", action="store_true", help="status 1 if a stage is worse than the project requires")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    reason = network.why_not()
    if reason or network.launcher_of(options.bin / "gsort-mpi") is None:
        print(f"skipped: {reason or 'there is no mpirun, or gsort-mpi was not built'}")
        return SKIPPED
    if not network.is_inside():
        return network.go_inside(*sys.argv[1:])
    try:
        return 1 if measure(options) else 0
    except NotSlow as reason:
        print(f"skipped: {reason}")
        return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
