"""The sources of a sort: files and arrays as the words and arrays of the native module."""

from __future__ import annotations

import ast
import math
import os
import stat
import sys
import warnings
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import numpy
import numpy.ma  # here, not at its first use: a process that is forked during an import would wait for it forever
from numpy.lib.recfunctions import repack_fields

from . import _native
from ._arrays import is_path, listed, with_article
from ._errors import file_errors, has_type, usage, with_arguments
from ._outputs import mapped_at, reserving

_LONGEST_PATH = 4095  # of Linux
_ORDER = b"order="  # a field, which is no word of a command line
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


def is_raw(name: str) -> bool:
    return not name.lower().endswith((".txt", ".npy", *_COMPRESSED))


def _is_npy(name: str) -> bool:
    return name.lower().endswith((".npy", *(f".npy{suffix}" for suffix in _COMPRESSED)))


def path_word(path: Any) -> bytes:
    """A name as an operand: "-" is a file of that name, not standard input."""
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError:
        raise usage(f"path {path!r}", "cannot be encoded", "check the path") from None
    if b"\0" in name or len(name) > _LONGEST_PATH:
        why = "has a null byte" if b"\0" in name else f"has {len(name):,} bytes"
        raise usage(f"path {os.fsdecode(name)[:20]!r}...", why, "check the path; elements in bytes are given as memoryview(...)")
    return b"./" + name if name == b"-" or name.startswith(b"<") else name


def path_name(path: Any) -> str:
    return os.fsdecode(path_word(path))


def key_type(dtype: numpy.dtype) -> Optional[str]:
    """gsort's name of the type of a number; None if it is none that gsort has."""
    if dtype.kind in "mM":
        return "time64"
    name = f"{dtype.kind}{8 * dtype.itemsize}"
    if dtype.kind in "ui" or (dtype.kind == "f" and dtype.itemsize in (2, 4, 8)):
        return name
    return "u8" if dtype.kind == "b" else None


def is_big_endian(dtype: numpy.dtype) -> bool:
    return dtype.byteorder == ">" or (dtype.byteorder == "=" and not numpy.little_endian)


def bytes_of(array: numpy.ndarray) -> numpy.ndarray:
    """The memory of a contiguous array."""
    return numpy.asarray(array).reshape(-1).view(numpy.uint8)


def _is_mapped(address: int, path: str) -> bool:
    """Whether the file of this name is what is mapped at an address: it may have been replaced."""
    found, mapped = os.stat(path), mapped_at(address, 1)
    return mapped is not None and mapped.file == (found.st_dev, found.st_ino)


def _file_of(array: numpy.ndarray) -> Tuple[Optional[bytes], int]:
    """The file that a contiguous array is mapped from, and where in it; None if only memory has its elements."""
    root = array
    while isinstance(root.base, numpy.ndarray):
        root = root.base
    if not isinstance(root, numpy.memmap) or root.mode == "c" or not root.filename or array.size == 0:
        return None, 0
    try:
        if not _is_mapped(array.ctypes.data, root.filename):
            return None, 0
    except OSError:
        return None, 0
    return os.fsencode(root.filename), root.offset + array.ctypes.data - root.ctypes.data


def _dictionary(array: numpy.ndarray) -> str:
    """The header that a .npy file of the array would have; arrays of more than two dimensions are rows, too."""
    shape = array.shape if array.ndim < 2 else (math.prod(array.shape[:-1]), array.shape[-1])
    descr = numpy.lib.format.dtype_to_descr(array.dtype)
    return repr({"descr": descr, "fortran_order": False, "shape": shape})


def has_elements(dtype: numpy.dtype) -> bool:
    """Whether bytes of a fixed number are all that an element is."""
    return dtype.itemsize > 0 and not dtype.hasobject and dtype.subdtype is None


def wanted_dtype(dtype: Any) -> Optional[numpy.dtype]:
    if dtype is None:
        return None
    try:
        wanted: numpy.dtype = numpy.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        raise usage("dtype", f"NumPy has no dtype {dtype!r}", "give one of NumPy's, as numpy.uint64 or 'f8'") from None
    if not has_elements(wanted):
        raise usage("dtype", f"elements of {dtype!r} have no fixed size, or are objects",
                    "give a dtype with a size, as 'S8'")
    return wanted


def is_text(dtype: numpy.dtype) -> bool:
    return dtype.kind in "SU"


def mapped_npy(name: str) -> numpy.ndarray:
    with file_errors("reading", name):
        array: numpy.ndarray = numpy.load(name, mmap_mode="r")
        if not isinstance(array, numpy.memmap) or array.offset + array.nbytes != os.path.getsize(name):
            raise ValueError("there is more than one array in it")
        return array


def mapped_raw(name: str, dtype: numpy.dtype) -> numpy.ndarray:
    with file_errors("reading", name):
        return numpy.memmap(name, dtype, mode="r") if os.path.getsize(name) else numpy.empty(0, dtype)


def require_regular(name: str) -> None:
    with file_errors("reading", name):
        mode = os.stat(name).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise usage(f"reading {name}", "is not a regular file, which can be mapped", "copy it into one")
        open(name, "rb").close()  # says what else is wrong


def refuse_compressed(call: _native.Call, name: str) -> None:
    if call.bytes is None:
        raise usage(f"reading {name}", "its content is compressed", "decompress it first")


def _mapped(path: Any, dtype: numpy.dtype) -> numpy.ndarray:
    """A raw file of a type that the command line has no name for."""
    name = path_name(path)
    if name.lower().endswith(_COMPRESSED):
        raise usage(f"reading {name}", f"elements of dtype {dtype} are not read from compressed files",
                    "decompress it first")
    require_regular(name)
    if name.lower().endswith(".npy"):
        array = mapped_npy(name)
        if array.dtype != dtype:
            raise usage(f"reading {name}", f"holds elements of dtype {array.dtype}, but {dtype} is asked for")
        return array
    if is_raw(name):  # a sort of bytes finds other forms
        refuse_compressed(_native.Call([b"--type=u8", b"--engine=cpu", b"--", path_word(path)], [], []), name)
    with file_errors("reading", name):
        size = os.path.getsize(name)
    if size % dtype.itemsize:
        raise usage(f"reading {name}", f"the size, {size} bytes, is not a multiple of the element size, "
                    f"{dtype.itemsize}", "check the dtype")
    return mapped_raw(name, dtype)


def _in_order(array: numpy.ndarray) -> numpy.ndarray:
    """A packed copy of records that no header can describe: fields overlap, or are not in order of their offsets."""
    try:
        numpy.lib.format.dtype_to_descr(array.dtype)
    except ValueError:
        return array.astype(repack_fields(array.dtype, recurse=True))
    return array


def contiguous(array: numpy.ndarray) -> numpy.ndarray:
    with reserving("a copy of a source", "give an array that is contiguous, as a file or a memmap"):
        return numpy.ascontiguousarray(_in_order(array))


def _warn(line: str) -> None:
    """Issues the program's line as a warning about the line of code that calls this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "gsort":
        frame, level = frame.f_back, level + 1
    text = line.replace("gsort: ", "", 1).rstrip()
    name, source, why = text.rpartition(" (type from ")
    warnings.warn(name + source + with_arguments(why) if source else text, UserWarning, level)


def _other_dtype(dtype: numpy.dtype) -> str:
    """A way to sort elements of a dtype that gsort does not sort."""
    if dtype.kind == "c" and dtype.itemsize <= 16:
        part = f"f{dtype.itemsize // 2}"
        return f"sort the parts: gsort.sort(array.view([('real', '{part}'), ('imag', '{part}')])).view(array.dtype)"
    if dtype.kind == "V" and not dtype.hasobject:
        return f"view it as texts, or as records: array.view('S{dtype.itemsize}')"
    if dtype.kind == "f":
        return "convert it: array.astype('f8')"
    return "convert it: array.astype('U') of texts, array.astype(dtype) of numbers"


def is_sortable(dtype: numpy.dtype) -> bool:
    return has_elements(dtype) and bool(dtype.names or is_text(dtype) or key_type(dtype))


def require_sortable(array: numpy.ndarray) -> None:
    if isinstance(array, numpy.ma.MaskedArray):
        raise usage("sources", "the array has a mask", "give array.compressed(), or array.data")
    if array.ndim == 0:
        raise usage("sources", "the array has no dimensions", "give array.reshape(1)")
    if not is_sortable(array.dtype):
        raise usage("sources", f"an array of dtype {array.dtype} cannot be sorted", _other_dtype(array.dtype))


def require_dtype(array: numpy.ndarray, wanted: Optional[numpy.dtype]) -> None:
    if wanted is not None and array.dtype != wanted:
        raise usage("dtype", f"the array holds {array.dtype}, not {wanted}", "leave it out")


class Inputs:
    """The operands of a call, and the words that say what their elements are. With in_numpy_order, keys of arrays are
    ordered as NumPy orders them."""

    def __init__(self, source: Any, dtype: Any = None, in_numpy_order: bool = False) -> None:
        wanted = wanted_dtype(dtype)
        self.items = listed(source, wanted)
        self._in_numpy_order = in_numpy_order
        self.words: List[bytes] = []
        self.operands: List[bytes] = []
        self.held: List[numpy.ndarray] = []
        self.arrays: List[_native.Array] = []
        self._has_warned = False
        named = False
        if wanted is not None and wanted.kind in "uif" and key_type(wanted) is not None:
            named = True
            self.words += [b"--type=" + str(key_type(wanted)).encode()]
            self.words += [b"--endian=big"] * is_big_endian(wanted)
        for item in self.items:
            if is_path(item) and wanted is not None and not named:
                if wanted.kind == "V" and not is_sortable(wanted):
                    raise usage("dtype", f"elements of {wanted} have no order",
                                f"give 'S{wanted.itemsize}', or a dtype of records, with order")
                self._add_array(_mapped(item, wanted), wanted)
            elif is_path(item):
                self.operands.append(path_word(item))
            else:
                self._add_array(item, wanted)

    def _add_array(self, array: numpy.ndarray, wanted: Optional[numpy.dtype]) -> None:
        require_dtype(array, wanted)
        require_sortable(array)
        array = contiguous(array)
        name = b"<array>" if len(self.items) == 1 else b"<array %d>" % (len(self.operands) + 1)
        self.arrays.append(_native.Array(name, _dictionary(array), bytes_of(array), *_file_of(array),
                                          self._in_numpy_order))
        self.held.append(array)
        self.operands.append(name)

    @property
    def known_dtypes(self) -> List[numpy.dtype]:
        """The dtypes that arrays and .npy files (also compressed ones) give; raw files and text give none."""
        files = [item for item in self.items if is_path(item) and _is_npy(os.fsdecode(item)) and os.path.isfile(item)]
        return [array.dtype for array in self.held] + [dtype_of(Inputs(file).call([b"--engine=cpu"])) for file in files]

    @property
    def only_array(self) -> Optional[numpy.ndarray]:
        return self.held[0] if len(self.held) == len(self.items) == 1 else None

    def call(self, words: Sequence[bytes]) -> _native.Call:
        """`words` are options, as option_words makes them."""
        fields = [word[len(_ORDER):] for word in words if word.startswith(_ORDER)]
        options = [word for word in words if not word.startswith(_ORDER)]
        call = _native.Call([*self.words, *options, b"--", *self.operands], self.arrays, fields)
        if call.warning and not self._has_warned:
            self._has_warned = True  # the sources of sets may be opened twice
            _warn(call.warning)
        return call


def as_bool(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, numpy.bool_)):
        raise has_type(name, value, "give True or False")
    return bool(value)


def option_words(*, order: Any = None, descending: bool = False, float_order: str = "numeric", unique: bool = False,
                 top: Optional[int] = None,
                 memory: Union[int, str, None] = None, gpu_memory: Union[int, str, None] = None,
                 threads: Optional[int] = None, engine: str = "auto", temporary: Any = None) -> List[bytes]:
    """The options of a command line. Sizes are bytes, or texts such as "2G" and "50%"."""
    words = [as_word("engine", engine), as_word("float-order", float_order)]
    words += [b"--reverse"] * as_bool("descending", descending) + [b"--unique"] * as_bool("unique", unique)
    for name, size in (("buffer-size", memory), ("gpu-memory", gpu_memory)):
        if size is not None:
            words.append(as_word(name, size if isinstance(size, str) else f"{size}B"))
    for name, count in (("top", top), ("parallel", threads)):
        if count is not None:
            words.append(as_word(name, count))
    words += [b"--temporary-directory=" + path_word(folder) for folder in folders_of(temporary)]
    return words + [_ORDER + _encoded("order", field) for field in _fields_of(order)]


def _encoded(name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise usage(f"{name} {text!r}", "is not valid Unicode", "check its spelling") from None


def as_word(name: str, value: object) -> bytes:
    argument, text = with_arguments(f"--{name}"), str(value)
    if "\0" in text:
        raise usage(f"{argument} {text!r}", "has a null byte", "check its spelling")
    return f"--{name}=".encode() + _encoded(argument, text)


def folders_of(temporary: Any) -> List[Any]:
    if temporary is None or is_path(temporary):
        return [] if temporary is None else [temporary]
    return _list_of(temporary, "temporary", is_path, "give a folder, a list of folders, or None")


def _list_of(value: Any, name: str, is_item: Callable[[object], bool], hint: str) -> List[Any]:
    if not isinstance(value, (list, tuple)):
        raise has_type(name, value, hint)
    if not value:
        raise usage(name, "the list is empty", hint)
    for item in value:
        if not is_item(item):
            raise usage(name, f"the list holds {with_article(type(item).__name__)}", hint)
    return list(value)


def _fields_of(order: Any) -> List[str]:
    def is_field(field: object) -> bool:
        is_column = isinstance(field, (int, numpy.integer)) and not isinstance(field, bool)
        if is_column and field < 0:  # type: ignore[operator]
            raise usage(f"order {field}", "is not the number of a column", f"columns count from 0; '{field}' as a text is "
                        f"column {-field} in descending order")  # type: ignore[operator]
        return isinstance(field, str) or bool(is_column)

    if order is None or is_field(order):
        return [] if order is None else [str(order)]
    return [str(field) for field in _list_of(order, "order", is_field, "give a name or the number of a column, or a list of these")]


def dtype_of(call: _native.Call) -> numpy.dtype:
    """The dtype of the elements."""
    try:
        text = call.dtype
    except UnicodeDecodeError as error:  # the names of an older .npy file
        text = error.object.decode("latin-1")
    return numpy.lib.format.descr_to_dtype(ast.literal_eval(text))


def result_shape(inputs: Inputs, elements: int, call: _native.Call) -> Tuple[int, ...]:
    """The shape of the source if there is only one."""
    if call.columns:
        return elements, call.columns
    array = inputs.only_array
    if array is not None and array.ndim > 1 and array.size == elements:
        return array.shape
    if len(inputs.items) == 1 and call.row_elements and elements % call.row_elements == 0:
        return elements // call.row_elements, call.row_elements
    if len(inputs.items) == 1 and call.empty_rows is not None:
        return call.empty_rows, 0
    return (elements,)
