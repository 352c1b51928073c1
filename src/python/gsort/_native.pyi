import builtins
from typing import Any, Callable, Optional, Sequence

import numpy

class Array:
    def __init__(self, name: bytes, header: str, bytes: numpy.ndarray, path: Optional[builtins.bytes],
                 offset: int, in_numpy_order: bool) -> None: ...

class Report:
    output_elements: int
    output_bytes: int

class Outcome:
    in_order: bool
    elements: int
    distinct: int
    fingerprint: str
    position: int
    value: str
    value_before: str

class Call:
    bytes: Optional[int]
    memory_bytes: int
    dtype: str
    row_elements: int
    columns: int
    empty_rows: Optional[int]
    warning: str
    def __init__(self, words: Sequence[builtins.bytes], arrays: Sequence[Array], order: Sequence[builtins.bytes]) -> None: ...
    def sort(self, room: Optional[numpy.ndarray], watch: Optional[Callable[..., Any]]) -> Report: ...
    def sort_into(self, descriptor: int, place: builtins.bytes, watch: Optional[Callable[..., Any]]) -> Report: ...
    def check(self, watch: Optional[Callable[..., Any]]) -> Outcome: ...

def sort_numbers(source: numpy.ndarray, result: numpy.ndarray, row_keys: int, type: str, descending: bool, total: bool,
                 threads: int) -> None: ...
def argsort_numbers(source: numpy.ndarray, result: numpy.ndarray, row_keys: int, type: str, descending: bool, total: bool,
                    index_bytes: int, threads: int) -> None: ...
def sort_on_device(address: int, rows: int, row_keys: int, type: str, big_endian: bool, descending: bool, total: bool,
                   offsets: int, output: int, stream: int) -> None: ...
def argsort_on_device(address: int, rows: int, row_keys: int, type: str, big_endian: bool, descending: bool, total: bool,
                      offsets: int, indices: int, index_bytes: int, stream: int) -> None: ...
def sort_pairs_on_device(address: int, rows: int, row_keys: int, type: str, big_endian: bool, descending: bool, total: bool,
                         offsets: int, keys_output: int, values: int, value_bytes: int, values_output: int,
                         stream: int) -> None: ...

def order_streams(neighbour: int, earlier: int, later: int) -> None: ...

class DeviceMemory:
    address: int
    device: int
    def __init__(self, bytes: int, neighbour: int) -> None: ...
    def tensor(self, shape: Sequence[int], kind: str, bits: int) -> Any: ...
