"""Which message gsort may end with: what is a refusal, and what a call that fails may come out as.

A message of the proof ("verifying the output", "checking element", "damaged") is none of these, ever: no call that
fails, and no lack of memory, makes what was read or written wrong."""

import errno
import os
import re

TOO_SMALL = re.compile(r"gsort: -S [\d.]+ [KMG]iB(?: \(for \S+\))?: is too small for this sort\n  (.+)\n")
# The message of a decoder that needs more memory, by the header of the input.
TOO_SMALL_TO_DECODE = re.compile(
    r"gsort: reading \S+\.(?:xz|bz2|zst): its (?:dictionary|block|window) needs [\d.]+ [KMG]iB"
    r"(?:, all inputs of the merge together [\d.]+ [KMG]iB)?, more than -S [\d.]+ [KMG]iB leaves\n  (.+)\n")
LEAST = re.compile(r"^  (?:use at least|give -S) (\d+M)\b", re.MULTILINE)

OPENING = r"opening|creating a file in|making the folder"
READING = r"reading|decompressing|looking at"
WRITING = r"writing|compressing with \w+"
# The operation of the program when a call failed, as the beginning of its message.
OPERATIONS = {
    "open": rf"{OPENING}|listing the folder|putting in place",
    "read": READING,
    "pread": rf"{READING}|resuming",
    "write": WRITING,
    "pwrite": WRITING,
    "fsync": "syncing",
    "fdatasync": "syncing|writing",
    "sync_file_range": "syncing|writing",
    "close": "closing|syncing",
    "rename": "putting in place|writing|creating a file in",
    "link": "putting in place",
    "unlink": "putting in place|removing|creating a file in",
    "ftruncate": "setting the size of|making room for|writing",
    "fallocate": "making room for|writing",
    "fchmod": "setting the mode of",
    "fchown": "setting the mode of|setting the owner of",
    "stat": "looking at|opening|reading",
    "xattr": "(?:reading|setting) the access list of|looking at",
    "mmap": "reserving|asking the system|using a library|making room for",
    "malloc": r"reserving|reporting|asking the system|using a library|compressing with \w+|decompressing",
    "pthread_create": r"starting a thread for|asking the system|compressing with \w+|decompressing|reserving memory",
}
# The message with which oneTBB ends the process, if the system refuses a thread that it had just given.
OF_TASKS = re.compile(r"gsort: using a library: pthread_create has failed: Resource temporarily unavailable$", re.MULTILINE)
# pthread_create also fails with this error if there is no memory for a thread.
OF_THREADS = re.compile(r"gsort: starting a thread for [^:]+: Resource temporarily unavailable$", re.MULTILINE)
# Calls that CUDA's driver makes, too; it tries none of them again.
OF_DRIVER = ("open", "read", "write", "close", "stat", "mmap", "malloc", "pthread_create")
NO_GPU = re.compile(r"gsort: --engine cuda(?: \(for .*?\))?: (?:no NVIDIA GPU was found|no usable NVIDIA GPU\b|.*\(cudaError\w+\))")
OF_CUDA = re.compile(r"no usable NVIDIA GPU|\(cudaError\w+\)|\bCUDA\b|^gsort: pinning host memory")


def is_refusal(message: str) -> bool:
    """For lack of memory: that message, and nothing else."""
    return bool(TOO_SMALL.fullmatch(message) or TOO_SMALL_TO_DECODE.fullmatch(message))


def is_refusal_for_memory(message: str) -> bool:
    """The same, and also true for files in a tmpfs."""
    return is_refusal(message) or message.startswith("gsort: files in memory (tmpfs) in ")


def least_named(message: str) -> str | None:
    """The memory that a refusal says is enough, or all refusals of several sorts."""
    return max(LEAST.findall(message), key=lambda size: int(size.rstrip("M")), default=None)


def single_messages(text: str) -> list[str]:
    """The messages of several sorts, one by one."""
    return re.split("^(?=gsort: )", text, flags=re.MULTILINE)[1:]


def reason_of(fault) -> str:
    """Why, in the system's words."""
    if fault.call == "malloc":
        return "memory|bad_alloc|Cannot allocate"
    if fault.call == "pthread_create":  # the library of xz takes it for a lack of memory
        return "Resource temporarily unavailable|Cannot allocate memory"
    return re.escape(os.strerror(getattr(errno, fault.action)))


def problem_of(message: str, fault, on_gpu: bool) -> str | None:
    """The fault of a sort that ends with this message after that injected fault; None if it is right."""
    first = message.partition("\n")[0]
    if on_gpu and fault.call in OF_DRIVER and NO_GPU.match(first):
        return None
    if fault.must_be_survived():
        return f"{fault.call} with {fault.action} is to be survived"
    if on_gpu and OF_CUDA.search(first):
        return None
    if fault.call in ("malloc", "pthread_create") and OF_TASKS.match(first):
        return None
    if fault.call == "malloc" and OF_THREADS.match(first):
        return None
    if not re.match(rf"gsort: (?:{OPERATIONS[fault.call]})\b", first):
        return f"not what a failing {fault.call} is told as"
    if not re.search(reason_of(fault), first):
        return f"the reason is not that of {fault.action}"
    return None


def may_be_in_place(message: str, fault) -> bool:
    """Whether the new output may stand in its place although the sort failed: only a power cut could still take it away."""
    told = message.startswith("gsort: syncing") or "output is in place" in message
    return told and fault.call in ("fsync", "malloc")
