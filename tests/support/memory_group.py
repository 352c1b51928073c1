"""A memory cgroup for a command, where this machine lets one be made: as root, with control groups of version 1."""

import os
from contextlib import contextmanager
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup/memory")


class NoGroup(Exception):
    pass


@contextmanager
def memory_group(mib: int):
    """A group of so many MiB, as the words in front of a command that runs in it."""
    group = GROUPS / f"gsort-test-{os.getpid()}"
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
