"""Arrays that take a result: new ones, and those of the caller. An array of the caller must have the right dtype and be
writable. It must not overlap a source, because an error would destroy the source."""

from __future__ import annotations

import os
from typing import Any, Iterable, List, NamedTuple, Optional, Tuple, Type, Union

import numpy

from ._errors import ResourceError, usage


class reserving:
    """Turns NumPy's errors for too little memory into errors of this package. A generator would add a microsecond."""

    __slots__ = "_what", "_hint", "_errors"

    def __init__(self, what: str, hint: str, errors: Tuple[Type[Exception], ...] = (MemoryError,)):
        self._what, self._hint, self._errors = what, hint, errors

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: Any, error: Optional[BaseException], _trace: Any) -> None:
        if isinstance(error, self._errors):
            raise ResourceError(f"reserving memory for {self._what}: {error}\n  {self._hint}", str(error), None,
                                self._hint) from None


def new_array(shape: Union[int, Tuple[int, ...]], dtype: numpy.dtype) -> numpy.ndarray:
    errors = MemoryError, ValueError  # ValueError: more bytes than there are addresses
    with reserving("the result", "give a path or a memmap as output", errors):
        return numpy.empty(shape, dtype)


class _Stretch(NamedTuple):
    """The bytes of a file from which an array is mapped."""

    file: Tuple[int, int]  # device and inode
    begin: int
    end: int
    is_shared: bool        # what is written into the array goes into the file

    def overlaps(self, other: "_Stretch") -> bool:
        return self.file == other.file and self.begin < other.end and other.begin < self.end


def mapped_at(address: int, size: int) -> Optional[_Stretch]:
    """The stretch of a file that is mapped at an address; None if no file is mapped there."""
    with open("/proc/self/maps", "rb") as maps:
        for line in maps:
            place, access, offset, device, inode = line.split()[:5]
            begin, end = (int(number, 16) for number in place.split(b"-"))
            if not begin <= address < end:
                continue
            if inode == b"0":
                return None
            major, minor = (int(number, 16) for number in device.split(b":"))
            first = int(offset, 16) + address - begin
            return _Stretch((os.makedev(major, minor), int(inode)), first, first + size, access.endswith(b"s"))
    return None


def _bounds(array: numpy.ndarray) -> Tuple[int, int]:
    """The address of the lowest byte, and the number of bytes to the highest one."""
    steps = [(length - 1) * stride for length, stride in zip(array.shape, array.strides)]
    first = array.ctypes.data + sum(step for step in steps if step < 0)
    return first, sum(abs(step) for step in steps) + array.dtype.itemsize


def _stretches_of(array: numpy.ndarray) -> List[_Stretch]:
    """As the kernel numbers the file, and as os.stat does: some file systems have two numbers for a device."""
    root: Any = array
    while isinstance(root.base, numpy.ndarray):
        root = root.base
    found = mapped_at(*_bounds(array)) if array.size and not root.flags.owndata else None
    if found is None:
        return []
    name = getattr(root, "filename", None)
    return [found] + ([found._replace(file=file) for file in _file_named(name)] if name else [])


def _file_named(path: Any) -> List[Tuple[int, int]]:
    try:
        facts = os.stat(path)
    except (OSError, ValueError):  # opening it says why
        return []
    return [(facts.st_dev, facts.st_ino)]


def _whole_file(path: Any) -> List[_Stretch]:
    return [_Stretch(file, 0, 1 << 64, True) for file in _file_named(path)]


def refuse_overlap(output: numpy.ndarray, sources: Iterable[Any], hint: str = "give another array, or None") -> None:
    """Raises UsageError if one of the sources, paths and arrays, is also the output."""
    written = [stretch for stretch in _stretches_of(output) if stretch.is_shared]
    for source in sources:
        is_array = isinstance(source, numpy.ndarray)
        if is_array and numpy.may_share_memory(output, source):
            raise usage("output", "the array shares memory with a source", hint)
        read = _stretches_of(source) if is_array else _whole_file(source) if written else []
        if any(one.overlaps(other) for one in written for other in read):
            raise usage("output", "the array is mapped from the file of a source", hint)


def _overlaps_itself(array: numpy.ndarray) -> bool:
    """Whether a stride is shorter than the memory of the elements that shorter strides reach."""
    end = array.dtype.itemsize
    for step, length in sorted((abs(stride), length) for stride, length in zip(array.strides, array.shape) if length > 1):
        if step < end:
            return True
        end += step * (length - 1)
    return False


def require_usable(output: Any, dtype: numpy.dtype, sources: Iterable[Any], must_be_contiguous: bool = True) -> None:
    """Raises UsageError if a result of this dtype cannot be written into the output."""
    if not isinstance(output, numpy.ndarray) or isinstance(output, numpy.ma.MaskedArray):
        raise usage("output", f"has type {type(output).__name__}", "give an array, or None")
    if output.dtype != dtype:
        raise usage("output", f"the array has dtype {output.dtype}, the result {dtype}",
                    f"give an array of dtype {dtype}")
    if must_be_contiguous and not output.flags.c_contiguous:
        raise usage("output", "the array is not contiguous", "give numpy.empty(...), or a memmap")
    if not output.flags.c_contiguous and _overlaps_itself(output):
        raise usage("output", "elements of the array share memory", "give another array, or None")
    if not output.flags.writeable:
        raise usage("output", "the array is read-only", "give a writable array, or a memmap of mode r+ or w+")
    refuse_overlap(output, sources)


def require_room(output: numpy.ndarray, elements: int) -> None:
    if output.size < elements:
        raise usage("output", f"the array holds {output.size:,} elements, the result has {elements:,}",
                    "give an array of as many elements")
