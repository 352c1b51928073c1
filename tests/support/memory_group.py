"""A memory cgroup for a command, where this machine lets one be made: as root, with control groups of version 1."""

import os
from contextlib import contextmanager
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup/memory")


@contextmanager
def memory_group(mib: int):
    """The words to put before a command, which then runs in a group of so many MiB. Throws: OSError where none can be made."""
    group = GROUPS / f"gsort-test-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(mib << 20))
        yield ["bash", "-c", f'echo $$ > {group}/tasks; exec "$@"', "bash"]
    finally:
        group.rmdir()
