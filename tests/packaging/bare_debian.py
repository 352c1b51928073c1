#!/usr/bin/env python3
"""Runs the README's first two commands, tools/quickstart and tools/test, in a Debian 12 or 13 with only the essential packages,
git and certificates. mmdebstrap makes it, in a folder of --scratch that is removed; the sources are those of HEAD. It takes
30 to 50 minutes on two cores, and some gigabytes.

Skips with status 77 and the reason where it is not run by root, where mmdebstrap is missing or the mirror cannot be reached."""

import argparse
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
SOURCE = Path(__file__).resolve().parents[2]
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
ENVIRONMENT = {"HOME": "/root", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
               "PIP_CERT": str(CERTIFICATES), "SSL_CERT_FILE": str(CERTIFICATES)}
# In a namespace, so that mounts and processes end with it. Nothing there can remove a device of this machine.
INSIDE = """
set -e
cd {root}
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t tmpfs -o mode=755 dev dev
for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
ln -s /proc/self/fd dev/fd
for link in 0:stdin 1:stdout 2:stderr; do ln -s /proc/self/fd/${{link%:*}} dev/${{link#*:}}; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o mode=1777 shm dev/shm
exec chroot . bash -c {command}
"""


def reason_to_skip() -> str | None:
    if os.geteuid() != 0:
        return "only root can make another Debian"
    return None if shutil.which("mmdebstrap") else "mmdebstrap is missing"


def make_debian(root: Path, suite: str) -> str | None:
    """Why there is none."""
    made = subprocess.run(["unshare", "--mount", "mmdebstrap", "--quiet", "--variant=minbase", "--include=git,ca-certificates",
                           "--dpkgopt=force-unsafe-io", suite, root], capture_output=True, text=True)
    if made.returncode != 0:
        return f"mmdebstrap makes no Debian {suite}: {made.stderr.strip()[-300:]}"
    (root / "etc/hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {socket.gethostname()}\n")
    shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
    if CERTIFICATES.exists():  # this machine may reach PyPI through a proxy that has its own
        shutil.copyfile(CERTIFICATES, root / CERTIFICATES.relative_to("/"))
    return None


def run_inside(root: Path, command: str, **more) -> int:
    script = INSIDE.format(root=shlex.quote(str(root)), command=shlex.quote(command))
    return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script], env=ENVIRONMENT,
                          **more).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("suite", choices=["bookworm", "trixie"])
    options = parser.parse_args()
    reason = reason_to_skip()
    with tempfile.TemporaryDirectory(prefix="bare-debian-", dir=options.scratch) as name:
        root = Path(name).resolve() / "root"
        reason = reason or make_debian(root, options.suite)
        if reason:
            print("skipped:", reason)
            return SKIPPED
        subprocess.run(["git", "clone", "--quiet", SOURCE, root / "root/gsort"], check=True)
        return run_inside(root, "cd /root/gsort && tools/quickstart </dev/null && tools/test </dev/null")


if __name__ == "__main__":
    sys.exit(main())
