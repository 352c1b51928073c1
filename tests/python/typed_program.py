"""Calls that a type checker must accept, and calls that it must reject, by the package's types."""

import array
from typing import assert_type

import numpy

import gsort


class Tensor:
    __cuda_array_interface__: dict[str, object]


class Array:
    def __dlpack__(self, *, stream: object = None) -> object:
        return stream

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


class Column:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return requested_schema


keys = numpy.arange(10)
assert_type(gsort.sort(Tensor(), descending=True), Tensor)
assert_type(gsort.sort_pairs(Tensor(), Array(), descending=True), tuple[Tensor, Array])
assert_type(gsort.segmented_argsort(Array(), Tensor(), stream=7), Array)
assert_type(gsort.sort(keys), numpy.ndarray)
assert_type(gsort.sort("a.u64", "b.u64", memory="1G").memmap(), numpy.ndarray)
assert_type(gsort.merge([keys, "a.npy"], "out.npy"), gsort.Summary)
assert_type(gsort.unique(keys, counts=True), tuple[numpy.ndarray, numpy.ndarray])
assert_type(gsort.unique(keys, "out.npy", counts=True), gsort.Summary)
assert_type(gsort.argsort(["a.u64", keys], "order.u32"), gsort.Summary)
assert_type(gsort.check(keys).position, int | None)
assert_type(gsort.sort([3, 1, 2], out=keys, axis=None, kind="stable", reverse=True, parallel=2, S="1G"), numpy.ndarray)
assert_type(gsort.argsort(Column(), descending=True, top=3, axis=0), numpy.ndarray)
assert_type(gsort.sort(array.array("i", [2, 1]), bytearray(8)), numpy.ndarray)
assert_type(gsort.intersect1d((key for key in (2, 1)), range(3), "both.npy"), gsort.Summary)
assert_type(gsort.unique(Column(), return_counts=True), tuple[numpy.ndarray, numpy.ndarray])
assert_type(gsort.unique(keys, return_index=True, return_counts=True), tuple[numpy.ndarray, ...])
assert_type(gsort.check([1, 2], axis=0, parallel=1).elements, int | None)
gsort.argsort(keys, progress=lambda progress: print(progress.seconds_left))

gsort.sort(keys, memori=1)  # type: ignore[call-overload]
gsort.sort(7)  # type: ignore[call-overload]
gsort.sort(keys, kind="bubble")  # type: ignore[call-overload]
gsort.unique(keys, return_index=1)  # type: ignore[call-overload]
gsort.argsort(5)  # type: ignore[call-overload]
gsort.sort_pairs("a.u64", keys)  # type: ignore[type-var]
