from dataclasses import dataclass
from array import array
from mmap import mmap
from typing import Any, Iterator, Literal, Optional, Protocol, Sequence, Tuple, TypedDict, TypeVar, Union, overload

import numpy
from numpy.typing import DTypeLike
from typing_extensions import Unpack

from ._errors import (CorruptError as CorruptError, DataError as DataError, DeniedFileError as DeniedFileError,
                      DeviceError as DeviceError, Error as Error, FileError as FileError,
                      MissingFileError as MissingFileError, ResourceError as ResourceError, UsageError as UsageError)
from ._arrays import Path as Path
from ._progress import Progress as Progress, Watch as Watch
from ._results import Summary as Summary

__version__: str

Array = numpy.ndarray
Size = Union[int, str, None]
Kind = Literal["quicksort", "mergesort", "heapsort", "stable", None]
_Order = Union[str, int, Sequence[Union[str, int]], None]

class HoldsArray(Protocol):
    def __array__(self, *arguments: Any, **named: Any) -> Any: ...

class DescribesArray(Protocol):
    @property
    def __array_interface__(self) -> Any: ...

class HoldsArrow(Protocol):
    def __arrow_c_array__(self, *arguments: Any, **named: Any) -> Any: ...

class StreamsArrow(Protocol):
    def __arrow_c_stream__(self, *arguments: Any, **named: Any) -> Any: ...

Buffer = Union["array[Any]", memoryview, bytearray, mmap]
Source = Union[Path, Array, Buffer, HoldsArray, DescribesArray, HoldsArrow, StreamsArrow]
Sources = Union[Source, Sequence[Any], Iterator[Any]]
Folders = Union[Path, Sequence[Path], None]

class OnDevice(Protocol):
    @property
    def __cuda_array_interface__(self) -> Any: ...

class OnDeviceByDlpack(Protocol):
    def __dlpack__(self, *, stream: Any = None) -> Any: ...
    def __dlpack_device__(self) -> Tuple[Any, int]: ...

_OnDevice = TypeVar("_OnDevice", bound=Union[OnDevice, OnDeviceByDlpack])
_Values = TypeVar("_Values", bound=Union[OnDevice, OnDeviceByDlpack])
_Offsets = Union[OnDevice, OnDeviceByDlpack, None]

class _Work(TypedDict, total=False):
    out: Optional[Union[Array, Buffer]]
    float_order: str
    memory: Size
    buffer_size: Size
    S: Size
    threads: Optional[int]
    parallel: Optional[int]
    temporary: Folders
    temporary_directory: Folders
    progress: Union[bool, Watch, None]

class _Engine(_Work, total=False):
    gpu_memory: Size
    engine: str

class _Merge(_Work, total=False):
    dtype: Optional[DTypeLike]
    order: _Order
    descending: bool
    reverse: bool
    r: bool
    unique: bool
    top: Optional[int]

class _Argsort(_Engine, total=False):
    axis: Optional[int]
    kind: Kind
    dtype: Optional[DTypeLike]
    order: _Order
    descending: bool
    reverse: bool
    r: bool
    top: Optional[int]

class _Sort(_Argsort, total=False):
    unique: bool

class _Unique(_Engine, total=False):
    dtype: Optional[DTypeLike]

class _Shuffle(_Engine, total=False):
    seed: Optional[int]
    dtype: Optional[DTypeLike]
    top: Optional[int]

class _Sets(_Work, total=False):
    assume_sorted: bool
    dtype: Optional[DTypeLike]

@dataclass(frozen=True)
class Checked:
    in_order: bool
    elements: Optional[int]
    distinct: Optional[int]
    fingerprint: Optional[str]
    position: Optional[int]
    value: Optional[str]
    value_before: Optional[str]
    def __bool__(self) -> bool: ...

@overload
def sort(source: Sources, output: Optional[Union[Array, Buffer]] = None, **options: Unpack[_Sort]) -> Array: ...
@overload
def sort(source: Sources, output: Path, **options: Unpack[_Sort]) -> Summary: ...
@overload
def sort(source: _OnDevice, output: Optional[_OnDevice] = None, *, descending: bool = False,
         float_order: str = "numeric", stream: Any = None) -> _OnDevice: ...
@overload
def merge(sources: Sources, output: Optional[Union[Array, Buffer]] = None, *, counts: "Literal[False]" = False,
          **options: Unpack[_Merge]) -> Array: ...
@overload
def merge(sources: Sources, output: Path, *, counts: bool = False, **options: Unpack[_Merge]) -> Summary: ...
@overload
def merge(sources: Sources, output: None = None, *, counts: "Literal[True]",
          **options: Unpack[_Merge]) -> Tuple[Array, Array]: ...
@overload
def merge(sources: Sources, output: None = None, *, return_counts: "Literal[True]",
          **options: Unpack[_Merge]) -> Tuple[Array, Array]: ...
def check(source: Sources, *, axis: Optional[int] = -1, dtype: Optional[DTypeLike] = None, order: _Order = None,
          descending: bool = False, reverse: bool = False, r: bool = False, float_order: str = "numeric", unique: bool = False,
          threads: Optional[int] = None, parallel: Optional[int] = None, progress: Union[bool, Watch, None] = None) -> Checked: ...
@overload
def argsort(source: Sources, output: Optional[Union[Array, Buffer]] = None, **options: Unpack[_Argsort]) -> Array: ...
@overload
def argsort(source: Sources, output: Path, **options: Unpack[_Argsort]) -> Summary: ...
@overload
def argsort(source: _OnDevice, output: Optional[_OnDevice] = None, *, descending: bool = False,
            float_order: str = "numeric", stream: Any = None) -> _OnDevice: ...
def segmented_sort(array: _OnDevice, offsets: _Offsets, output: Optional[_OnDevice] = None, *,
                   descending: bool = False, float_order: str = "numeric", stream: Any = None) -> _OnDevice: ...
def segmented_argsort(array: _OnDevice, offsets: _Offsets, output: Optional[_OnDevice] = None, *,
                      descending: bool = False, float_order: str = "numeric", stream: Any = None) -> _OnDevice: ...
def sort_pairs(array: _OnDevice, values: _Values, output: Optional[Tuple[_OnDevice, _Values]] = None, *,
               offsets: _Offsets = None, descending: bool = False, float_order: str = "numeric",
               stream: Any = None) -> Tuple[_OnDevice, _Values]: ...
def searchsorted(source: Source, values: Any, side: Literal["left", "right"] = "left", *,
                 dtype: Optional[DTypeLike] = None, descending: bool = False, reverse: bool = False, r: bool = False) -> Any: ...
@overload
def shuffle(source: Sources, output: Optional[Union[Array, Buffer]] = None, **options: Unpack[_Shuffle]) -> Array: ...
@overload
def shuffle(source: Sources, output: Path, **options: Unpack[_Shuffle]) -> Summary: ...
@overload
def intersect1d(a: Sources, b: Sources, output: Optional[Union[Array, Buffer]] = None, **options: Unpack[_Sets]) -> Array: ...
@overload
def intersect1d(a: Sources, b: Sources, output: Path, **options: Unpack[_Sets]) -> Summary: ...
@overload
def setdiff1d(a: Sources, b: Sources, output: Optional[Union[Array, Buffer]] = None, **options: Unpack[_Sets]) -> Array: ...
@overload
def setdiff1d(a: Sources, b: Sources, output: Path, **options: Unpack[_Sets]) -> Summary: ...
@overload
def unique(source: Sources, output: Optional[Union[Array, Buffer]] = None, *, counts: "Literal[False]" = False,
           **options: Unpack[_Unique]) -> Array: ...
@overload
def unique(source: Sources, output: Path, *, counts: bool = False, **options: Unpack[_Unique]) -> Summary: ...
@overload
def unique(source: Sources, output: None = None, *, counts: "Literal[True]",
           **options: Unpack[_Unique]) -> Tuple[Array, Array]: ...
@overload
def unique(source: Sources, output: None = None, *, return_counts: "Literal[True]",
           **options: Unpack[_Unique]) -> Tuple[Array, Array]: ...
@overload
def unique(source: Sources, output: None = None, *, return_index: bool = False, return_inverse: bool = False,
           counts: bool = False, return_counts: bool = False, **options: Unpack[_Unique]) -> Tuple[Array, ...]: ...
