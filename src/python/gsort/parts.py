"""Sorts files on the hosts of a Ray cluster that share a file system, by the program gsort:

    python -m gsort.parts --shares 4 --parts 6 --runs RUNS -o OUT FILE... [-- OPTION...]

Tasks form the runs of a share of the input, then tasks take parts of the output, then one joins them
(gsort --form, --take, --join). Ray repeats tasks whose worker or host is lost; a task that has ended, or that
runs twice, does no harm. OPTIONs, such as -t u64 and -r, are those of --form. Needs Ray, and gsort in the PATH of
every host, or --gsort.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

__all__ = ["commands", "sort_on_ray"]


def commands(inputs: Sequence[str], output: str, runs: str, shares: int, parts: int, options: Sequence[str] = (),
             gsort: str = "gsort", memory: str | None = None) -> tuple[list[list[str]], list[list[str]], list[str]]:
    """The command lines of a sort: those that form shares, those that take parts, and the one that joins them. Each
    group may run at once when the group before it has ended. Relative names become absolute; `memory` is the -S of
    every process, as in "8G"."""
    if shares < 1 or parts < 1:
        raise ValueError("shares and parts must be at least 1")
    resources = ["-S", memory] if memory else []
    inputs = [os.path.abspath(name) for name in inputs]
    output = os.path.abspath(output)
    folders = [os.path.join(os.path.abspath(runs), str(share)) for share in range(shares)]
    form = [[gsort, *resources, *options, f"--form={folder}", f"--share={share}/{shares}", "--", *inputs]
            for share, folder in enumerate(folders)]
    sources = [f"--from={folder}" for folder in folders]
    take = [[gsort, *resources, f"--take={part}/{parts}", *sources, "-o", output] for part in range(parts)]
    return form, take, [gsort, f"--join={parts}", "-o", output]


def sort_on_ray(inputs: Sequence[str], output: str, runs: str, shares: int, parts: int, options: Sequence[str] = (), *,
                gsort: str = "gsort", memory: str | None = None, cpus: float = 1, retries: int = 3) -> None:
    """Sorts `inputs`, as one sequence, into `output`.

    `runs` is a folder for this sort alone, made if it is missing and removed at the end; it needs room for the
    input. Each task uses `cpus` of a host, and is repeated up to `retries` times after a failure. Ray is
    initialized if it is not.

    Raises RuntimeError, with the message of gsort or Ray, if a task still fails after all retries. The output is then
    unchanged. Another call with the same arguments continues with the complete shares and parts.
    """
    import ray  # type: ignore[import-not-found, unused-ignore]

    if not ray.is_initialized():
        ray.init()
    # A function in a function is sent to the workers as it is: they need no package of gsort's.
    def run_gsort(command: list[str]) -> None:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with status {done.returncode}:\n{done.stderr}")

    form, take, join = commands(inputs, output, runs, shares, parts, options, gsort, memory)
    task = ray.remote(num_cpus=cpus, max_retries=retries, retry_exceptions=True)(run_gsort)
    os.makedirs(runs, exist_ok=True)
    try:
        for step in form, take, [join]:
            ray.get([task.remote(command) for command in step])
    except ray.exceptions.RayTaskError as error:
        raise RuntimeError(str(error.cause)) from None
    except ray.exceptions.RayError as error:  # of a worker or a host that was lost more than `retries` times
        raise RuntimeError(str(error)) from None
    shutil.rmtree(runs)


def main() -> int:
    parser = argparse.ArgumentParser(prog="gsort.parts", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="+", metavar="FILE")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--runs", required=True, help="a folder for this sort alone, on the shared file system")
    parser.add_argument("--shares", type=int, required=True)
    parser.add_argument("--parts", type=int, required=True)
    parser.add_argument("--memory", help="-S of every process")
    parser.add_argument("--cpus", type=float, default=1, help="of a host, for each process (1)")
    parser.add_argument("--gsort", default="gsort", help="the program, on every host")
    arguments = sys.argv[1:]
    split = arguments.index("--") if "--" in arguments else len(arguments)
    asked = parser.parse_args(arguments[:split])
    try:
        sort_on_ray(asked.inputs, asked.output, asked.runs, asked.shares, asked.parts, arguments[split + 1:],
                    gsort=asked.gsort, memory=asked.memory, cpus=asked.cpus)
    except (RuntimeError, ValueError, ImportError, OSError) as error:
        print(f"gsort.parts: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
