"""A memory cgroup for a command, if this machine allows it: as root, with control groups of version 1."""

import itertools
import os
from contextlib import contextmanager
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup/memory")
NUMBERS = itertools.count()  # of the groups of this process


class NoGroup(Exception):
    pass


@contextmanager
def memory_group(mib: int):
    """Makes a group of `mib` MiB; yields the words to put before a command so that it runs in the group."""
    group = GROUPS / f"gsort-test-{os.getpid()}-{next(NUMBERS)}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(mib << 20))
    except OSError as problem:
        if group.exists():
            group.rmdir()
        raise NoGroup(f"no memory cgroup can be made here: {problem.strerror}") from None
    try:
        yield ["bash", "-c", f'echo $$ > {group}/tasks; exec "$@"', "bash"]
    finally:
        group.rmdir()
