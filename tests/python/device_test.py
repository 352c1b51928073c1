"""Arrays in device memory: on a GPU by CUDA's driver alone, and what is refused without one."""

import ctypes

import numpy
import pytest
from support import assert_same, random_array, skip_without_gpu, sorted_by_numpy

import gsort

DTYPES = [numpy.dtype(name) for name in "u4 i4 f4 u8 i8 f8 >u4 >f8 M8[s]".split()]


class Driver:
    """The calls of CUDA's driver that the tests need; each must succeed."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.cuInit(0)
        self.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
        self.cuCtxSetCurrent(context)
        self.stream = ctypes.c_void_p()
        self.cuStreamCreate(ctypes.byref(self.stream), 1)  # that waits for no other

    def __getattr__(self, name):
        def call(*arguments):
            result = getattr(self.library, name)(*arguments)
            assert result == 0, f"{name}: {result}"
        return call


@pytest.fixture(scope="module")
def driver():
    try:
        found = Driver()
    except (OSError, AssertionError) as error:
        skip_without_gpu(error)
    try:
        gsort.sort(array_on(found, numpy.zeros(1, "u4")), array_on(found, numpy.zeros(1, "u4")))
    except gsort.DeviceError as error:
        skip_without_gpu(error)
    return found


class FakeArray:
    """An array of a library that nobody knows."""

    def __init__(self, dtype, shape, address=0, stream=None, **more):
        self.dtype, self.shape, self.address = numpy.dtype(dtype), shape, address
        self.more = {"stream": stream, **more}

    @property
    def __cuda_array_interface__(self):
        return {"version": 3, "typestr": self.dtype.str, "shape": self.shape, "data": (self.address, False),
                **self.more}


def array_on(driver, array, dtype=None):
    """A copy on the device, with the driver's stream."""
    address = ctypes.c_uint64()
    driver.cuMemAlloc_v2(ctypes.byref(address), max(array.nbytes, 1))
    driver.cuMemcpyHtoDAsync_v2(address, array.ctypes.data_as(ctypes.c_void_p), array.nbytes, driver.stream)
    driver.cuStreamSynchronize(driver.stream)
    return FakeArray(dtype or array.dtype, array.shape, address.value, driver.stream.value)


def on_host(driver, array):
    """What the array holds when its stream has passed all work."""
    result = numpy.empty(array.shape, array.dtype)
    driver.cuMemcpyDtoHAsync_v2(result.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(array.address), result.nbytes,
                                driver.stream)
    driver.cuStreamSynchronize(driver.stream)
    return result


def expected_order(array, descending):
    return numpy.sort(array)[..., ::-1] if array.dtype.kind == "M" and descending else sorted_by_numpy(array, descending)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(0,), (1,), (100_001,), (7, 1_000), (3, 20_000), (2, 3, 500)], ids=str)
def test_sorts_as_on_the_host(driver, dtype, shape):
    array = random_array(dtype, numpy.prod(shape, dtype=int)).reshape(shape)
    for descending in False, True:
        source, output = array_on(driver, array), array_on(driver, numpy.zeros_like(array))
        assert gsort.sort(source, output, descending=descending) is output
        assert_same(on_host(driver, output), expected_order(array, descending))
        assert_same(on_host(driver, source), array)
        gsort.sort(source, source, descending=descending)
        assert_same(on_host(driver, source), expected_order(array, descending))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("count", [0, 1, 5_000, 300_000])
def test_argsort_is_stable(driver, dtype, count):
    array = random_array(dtype, 97)[random_array("u1", count) % 97]
    source, indices = array_on(driver, array), array_on(driver, numpy.zeros(count, "u4"))
    gsort.argsort(source, indices)
    found = on_host(driver, indices)
    assert_same(array[found], sorted_by_numpy(array))
    equal = array[found][1:].tobytes() and array[found].view(f"u{dtype.itemsize}")
    if count > 1:
        assert (numpy.diff(found.astype("i8"))[equal[1:] == equal[:-1]] > 0).all()
    assert_same(on_host(driver, source), array)


def test_what_is_refused():
    keys = FakeArray("u4", (10,))
    for call in (lambda: gsort.sort(keys), lambda: gsort.argsort(keys), lambda: gsort.sort(keys, top=3),
                 lambda: gsort.sort(keys, FakeArray("u4", (9,))), lambda: gsort.sort(keys, FakeArray("i4", (10,))),
                 lambda: gsort.sort(FakeArray("u4", (10,), strides=(8,)), keys),
                 lambda: gsort.sort(FakeArray("c8", (10,)), FakeArray("c8", (10,))),
                 lambda: gsort.argsort(FakeArray("u4", (2, 5)), keys),
                 lambda: gsort.argsort(keys, FakeArray("i8", (10,)))):
        with pytest.raises(ValueError):
            call()


def test_contiguous_strides_are_not_refused():
    from gsort._device import DeviceArray
    for shape, strides in ((10,), (4,)), ((2, 5), (20, 4)), ((1, 5), (99, 4)), ((2, 5), None), ((0, 5), (1, 1)):
        assert DeviceArray(FakeArray("u4", shape, strides=strides), "sort").shape == shape


def test_arrays_of_a_library_come_back_as_its_own(monkeypatch):
    """A new array of the library; torch's indices are signed, and its stream is the current one."""
    import sys
    import types

    calls = []
    from gsort import _native
    monkeypatch.setattr(_native, "sort_on_device", lambda *words: calls.append(words))
    monkeypatch.setattr(_native, "argsort_on_device", lambda *words: calls.append(words))

    class Tensor(FakeArray):
        device = "cuda:1"

    Tensor.__module__ = "torch"
    stream = types.SimpleNamespace(cuda_stream=77)
    torch = types.SimpleNamespace(
        __name__="torch", Tensor=Tensor, int32="i4", cuda=types.SimpleNamespace(current_stream=lambda device: stream),
        empty_like=lambda array: Tensor(array.dtype, array.shape, 55),
        empty=lambda size, dtype, device: Tensor(dtype, (size,), 66))
    monkeypatch.setitem(sys.modules, "torch", torch)
    keys = Tensor("<f8", (3, 4), 44)
    assert gsort.sort(keys, descending=True).address == 55
    assert gsort.argsort(Tensor("<u4", (12,), 44, 2)).address == 66
    assert calls == [(44, 3, 4, "f64", False, True, 55, 77), (44, 1, 12, "u32", False, 66, 2)]
