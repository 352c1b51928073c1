"""What a type checker must understand, and what it must refuse, of the package's types."""

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
gsort.argsort(keys, progress=lambda progress: print(progress.seconds_left))

gsort.sort(keys, memori=1)  # type: ignore[call-overload]
gsort.sort(7)  # type: ignore[call-overload]
gsort.argsort(5)  # type: ignore[call-overload]
gsort.sort_pairs("a.u64", keys)  # type: ignore[type-var]
