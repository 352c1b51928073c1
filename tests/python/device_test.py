"""Arrays in device memory: on a GPU by CUDA's driver alone, and what is refused without one."""

import ctypes
import math
import sys
import types
from contextlib import contextmanager, nullcontext

import numpy
import pytest
from fake_device import DlpackArray, FakeArray, HostDevice
from support import assert_same, random_array, skip_without_gpu, sorted_by_numpy

import gsort
from gsort import _device, _native

DTYPES = [numpy.dtype(name) for name in "u1 i1 u2 i2 f2 u4 i4 f4 u8 i8 f8 >u2 >u4 >f8 M8[s]".split()]


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


def array_on(driver, array, dtype=None):
    """A copy on the device, with the driver's stream."""
    address = ctypes.c_uint64()
    driver.cuMemAlloc_v2(ctypes.byref(address), max(array.nbytes, 1))
    driver.cuMemcpyHtoDAsync_v2(address, array.ctypes.data_as(ctypes.c_void_p), array.nbytes, driver.stream)
    driver.cuStreamSynchronize(driver.stream)
    return FakeArray(dtype or array.dtype, array.shape, address.value, driver.stream.value)


def on_host(driver, array):
    """The content of the array when its stream has done all work."""
    facts = array.__cuda_array_interface__
    driver.cuStreamSynchronize(ctypes.c_void_p(facts["stream"]))
    result = numpy.empty(facts["shape"], facts["typestr"])
    driver.cuMemcpyDtoHAsync_v2(result.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(facts["data"][0]),
                                result.nbytes, driver.stream)
    driver.cuStreamSynchronize(driver.stream)
    return result


@pytest.fixture
def host_device(monkeypatch):
    device = HostDevice()
    for name in "sort_on_device", "argsort_on_device", "sort_pairs_on_device", "order_streams", "DeviceMemory":
        monkeypatch.setattr(_native, name, getattr(device, name))
    return device


def on_fake(array, **more):
    """A copy of a NumPy array as one on the HostDevice."""
    kept = array.copy()
    fake = FakeArray(array.dtype, array.shape, kept.ctypes.data, 7, **more)
    fake.kept = kept
    return fake


def from_fake(array):
    facts = array.__cuda_array_interface__
    size = math.prod(facts["shape"])
    return HostDevice.at(facts["data"][0], facts["typestr"], size).reshape(facts["shape"]).copy()


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


OFFSETS = numpy.array([0, 3, 3, 5_003, 5_004, 20_000], "i8")


def segments_of(array):
    return [array[begin:end] for begin, end in zip(OFFSETS, OFFSETS[1:])]


def stable_order(array, descending=False):
    """The indices of each segment, from 0 on."""
    ranks = [numpy.unique(segment, return_inverse=True)[1].astype("i8") for segment in segments_of(array)]
    return numpy.concatenate([numpy.argsort(-rank if descending else rank, kind="stable") for rank in ranks])


def in_order(array, order):
    return numpy.concatenate([segment[order[begin:end]] for segment, begin, end in
                              zip(segments_of(array), OFFSETS, OFFSETS[1:])]).astype(array.dtype)


def few_numbers(dtype, count=20_000):
    """Numbers whose order NumPy has, too."""
    return (random_array("u1", count) % 97).astype(dtype)


@pytest.mark.parametrize("dtype", "u1 i1 u2 >i2 f2 u4 i4 f4 u8 >i8 f8".split())
@pytest.mark.parametrize("descending", [False, True])
def test_segments_and_pairs(driver, dtype, descending):
    check_segments_and_pairs(lambda array: array_on(driver, array), lambda array: on_host(driver, array),
                             few_numbers(dtype), descending)


@pytest.mark.parametrize("dtype", "u1 i1 u2 >i2 f2 u4 i4 f4 u8 >i8 f8".split())
@pytest.mark.parametrize("descending", [False, True])
def test_segments_and_pairs_on_a_fake(host_device, dtype, descending):
    check_segments_and_pairs(on_fake, from_fake, few_numbers(dtype), descending)
    assert set(host_device.streams) == {7}


def check_segments_and_pairs(put, get, keys, descending):
    source, offsets = put(keys), put(OFFSETS)
    order = stable_order(keys, descending)
    assert_same(get(gsort.segmented_sort(source, offsets, descending=descending)), in_order(keys, order))
    assert_same(get(gsort.segmented_argsort(source, offsets, descending=descending)), order)
    for dtype in "u4 i4 u8".split():
        found = gsort.segmented_argsort(source, offsets, put(numpy.zeros(keys.size, dtype)), descending=descending)
        assert_same(get(found), order.astype(dtype))
    for values in numpy.arange(keys.size, dtype="f8"), numpy.arange(keys.size, dtype=">i4"):
        found = gsort.sort_pairs(source, put(values), offsets=offsets, descending=descending)
        assert_same(get(found[0]), in_order(keys, order))
        assert_same(get(found[1]), in_order(values, order))
    rows = keys.reshape(4, 50, 100)
    ranks = numpy.unique(rows, return_inverse=True)[1].reshape(rows.shape).astype("i8")
    order = numpy.argsort(-ranks if descending else ranks, axis=-1, kind="stable")
    assert_same(get(gsort.segmented_argsort(put(rows), None, descending=descending)), order)
    found = gsort.sort_pairs(put(rows), put(numpy.arange(keys.size, dtype="u4").reshape(rows.shape)),
                             descending=descending)
    assert_same(get(found[0]), numpy.take_along_axis(rows, order, -1))
    whole = put(keys), put(numpy.arange(keys.size, dtype="i8"))
    assert gsort.sort_pairs(*whole, whole, descending=descending) == whole
    ranks = ranks.ravel()
    order = numpy.argsort(-ranks if descending else ranks, kind="stable")
    assert_same(get(whole[0]), keys[order])
    assert_same(get(whole[1]), order)
    assert_same(get(source), keys)
    assert_same(get(gsort.argsort(put(rows))), numpy.argsort(rows, axis=-1, kind="stable"))
    backwards = numpy.argsort(-ranks.reshape(rows.shape), axis=-1, kind="stable")
    assert_same(get(gsort.argsort(put(rows), descending=True)), backwards)


@pytest.mark.parametrize("dtype", "f2 f4 >f4 f8".split())
@pytest.mark.parametrize("descending", [False, True])
def test_pairs_of_equal_floats_keep_their_order(driver, dtype, descending):
    check_equal_floats(lambda array: array_on(driver, array), lambda array: on_host(driver, array), dtype, descending)


@pytest.mark.parametrize("dtype", "f2 f4 >f4 f8".split())
@pytest.mark.parametrize("descending", [False, True])
def test_pairs_of_equal_floats_on_a_fake(host_device, dtype, descending):
    check_equal_floats(on_fake, from_fake, dtype, descending)


def check_equal_floats(put, get, dtype, descending):
    numbers = numpy.array([0.0, -0.0, numpy.nan, numpy.copysign(numpy.nan, -1), 1, -2], dtype)
    keys = numbers[random_array("u1", 20_000) % 6]
    values = numpy.arange(keys.size, dtype="u4")
    order = stable_order(keys, descending)
    found = gsort.sort_pairs(put(keys), put(values), offsets=put(OFFSETS), descending=descending)
    assert get(found[0]).tobytes() == in_order(keys, order).tobytes()
    assert_same(get(found[1]), in_order(values, order))
    ranks = numpy.unique(keys, return_inverse=True)[1].astype("i8")
    order = numpy.argsort(-ranks if descending else ranks, kind="stable")
    whole = put(keys), put(values)
    for output in None, whole:
        found = gsort.sort_pairs(*whole, output, descending=descending)
        assert get(found[0]).tobytes() == keys[order].tobytes()
        assert_same(get(found[1]), values[order])


@pytest.mark.parametrize("versioned", [False, True])
def test_dlpack_alone_is_enough(driver, versioned):
    source = array_on(driver, few_numbers("f4"))
    given = DlpackArray(source, versioned)
    result = gsort.sort(given, stream=driver.stream.value)
    assert given.streams == [driver.stream.value]
    assert_same(on_host(driver, result), numpy.sort(few_numbers("f4")))
    capsule = result.__dlpack__(stream=driver.stream.value)  # of the module itself
    tensor = _device._Tensor.from_address(_device._pointer_of(capsule, b"dltensor"))
    assert (tensor.device_type, tensor.code, tensor.bits, tensor.shape[0]) == (2, 2, 32, 20_000)
    assert tensor.data == result.__cuda_array_interface__["data"][0]


@pytest.mark.parametrize("versioned", [False, True])
def test_dlpack_alone_is_enough_on_a_fake(host_device, versioned):
    keys = few_numbers("f8").reshape(20, 1_000)
    given = DlpackArray(on_fake(keys), versioned, strides=(1_000, 1))
    result = gsort.sort(given, descending=True)
    assert given.streams == [1] and host_device.streams == [0]  # both are the default stream
    assert_same(from_fake(result), numpy.sort(keys)[:, ::-1])
    output = on_fake(numpy.zeros_like(keys))
    assert gsort.sort(given, DlpackArray(output, versioned), stream=9).address == output.address
    assert given.streams[1:] == [9] and host_device.streams[1:] == [9]
    assert_same(output.kept, numpy.sort(keys))
    handed = _device.DeviceArray(DlpackArrayOf(result, 5), "sort", 5)
    assert handed.address == result.__cuda_array_interface__["data"][0] and handed.dtype == keys.dtype
    assert host_device.orders == [(0, 5)]


class Bfloat16Array(DlpackArray):
    """As JAX has it: the interface raises an error of its own."""

    @property
    def __cuda_array_interface__(self):
        raise RuntimeError("bfloat16 is not supported")


@pytest.mark.parametrize("kind", [DlpackArray, Bfloat16Array])
@pytest.mark.parametrize("descending", [False, True])
def test_bfloat16_by_dlpack_on_a_fake(host_device, kind, descending):
    check_bfloat16(on_fake, from_fake, kind, descending)


@pytest.mark.parametrize("descending", [False, True])
def test_bfloat16_by_dlpack(driver, descending):
    check_bfloat16(lambda array: array_on(driver, array), lambda array: on_host(driver, array), Bfloat16Array,
                   descending)


def check_bfloat16(put, get, kind, descending):
    numbers = few_numbers("f4") - 48
    bits = (numbers.view("u4") >> 16).astype("u2").view("V2")
    source, offsets = kind(put(bits)), put(OFFSETS)
    values = numpy.arange(bits.size, dtype="u4")
    order = stable_order(numbers, descending)
    for result in (gsort.segmented_sort(source, offsets, descending=descending),
                   gsort.sort_pairs(source, put(values), offsets=offsets, descending=descending)[0]):
        assert_same(get(result).view("u2"), in_order(bits.view("u2"), order))
        assert result.__dlpack_device__() == (2, 0)
    assert_same(get(gsort.segmented_argsort(source, offsets, descending=descending)), order)
    result = gsort.sort(gsort.sort(source), descending=descending)
    assert_same(get(result).view("u2"), (sorted_by_numpy(numbers, descending).view("u4") >> 16).astype("u2"))


def test_empty_arrays_and_other_byte_orders(host_device):
    for result in gsort.sort(FakeArray("u4", (0,))), gsort.sort(FakeArray("u4", (3, 0))):
        assert from_fake(result).size == 0
    keys = few_numbers(">f8")
    result = gsort.sort(on_fake(keys))
    assert_same(from_fake(result), numpy.sort(keys))
    with pytest.raises(BufferError):
        result.__dlpack__()


class DlpackArrayOf:
    """The calls on a result of a library that takes it over on a stream."""

    def __init__(self, result, stream):
        self.result, self.stream = result, stream

    def __dlpack_device__(self):
        return self.result.__dlpack_device__()

    def __dlpack__(self, *, stream, max_version=None):
        return self.result.__dlpack__(stream=stream, max_version=max_version)


def test_streams_of_libraries_are_understood(host_device):
    keys = on_fake(few_numbers("u4"))
    pointer = ctypes.c_void_p(12)
    for stream in (12, types.SimpleNamespace(cuda_stream=12), types.SimpleNamespace(ptr=12),
                   types.SimpleNamespace(handle=pointer), types.SimpleNamespace(__cuda_stream__=lambda: (0, 12))):
        gsort.sort(keys, keys, stream=stream)
    assert host_device.streams == [12] * 5
    for call in (lambda: gsort.sort(keys, keys, stream="default"), lambda: gsort.sort(few_numbers("u4"), stream=1),
                 lambda: gsort.argsort(few_numbers("u4"), stream=1)):
        with pytest.raises(ValueError, match="stream"):
            call()


def test_a_stream_waits_for_those_of_the_arrays(host_device):
    def on_stream(stream, array):
        fake = on_fake(array)
        fake.more["stream"] = stream
        return fake

    keys, values, offsets = few_numbers("u4"), few_numbers("f8"), OFFSETS
    gsort.sort_pairs(on_stream(7, keys), on_stream(8, values), (on_stream(1, keys), on_stream(None, values)),
                     offsets=on_stream(5, offsets), stream=9)
    assert sorted(host_device.orders) == [(1, 9), (5, 9), (7, 9), (8, 9)]
    host_device.orders.clear()
    gsort.sort(on_stream(1, keys), on_stream(2, keys), stream=0)  # 0 and 1 are the default stream
    assert host_device.orders == [(2, 0)]
    gsort.sort(on_stream(9, keys[:0]), stream=3)  # nothing is written
    assert host_device.streams == [9, 0, 3]


def test_what_is_refused():
    keys = FakeArray("u4", (10,))
    offsets = FakeArray("i8", (3,))
    rows = FakeArray("u4", (2, 5))
    for call in (lambda: gsort.sort(keys, top=3),
                 lambda: gsort.sort(keys, FakeArray("u4", (9,))), lambda: gsort.sort(keys, FakeArray("i4", (10,))),
                 lambda: gsort.sort(keys, FakeArray("u4", (10,), data=(0, True))),
                 lambda: gsort.sort(keys, DlpackArray(keys, read_only=True)),
                 lambda: gsort.sort(FakeArray("u4", (10,), strides=(8,)), keys),
                 lambda: gsort.sort(DlpackArray(rows, strides=(1, 2)), rows),
                 lambda: gsort.sort(FakeArray("c8", (10,)), FakeArray("c8", (10,))),
                 lambda: gsort.sort(FakeArray("V2", (10,)), FakeArray("V2", (10,))),
                 lambda: gsort.sort(DlpackArray(FakeArray("V4", (10,))), FakeArray("V4", (10,))),
                 lambda: gsort.sort(FakeArray("u4", ()), FakeArray("u4", ())),
                 lambda: gsort.argsort(keys, FakeArray("i2", (10,))),
                 lambda: gsort.argsort(keys, FakeArray("i8", (9,))),
                 lambda: gsort.sort_pairs(keys, FakeArray("u4", (9,))),
                 lambda: gsort.sort_pairs(keys, FakeArray("u2", (10,))),
                 lambda: gsort.sort_pairs(keys, keys, (keys, FakeArray("u8", (10,)))),
                 lambda: gsort.sort_pairs(keys, numpy.arange(10)),
                 lambda: gsort.sort_pairs(numpy.arange(10), keys),
                 lambda: gsort.segmented_sort(numpy.arange(10), offsets),
                 lambda: gsort.segmented_sort(keys, numpy.array([0, 10])),
                 lambda: gsort.segmented_sort(keys, FakeArray("i4", (3,))),
                 lambda: gsort.segmented_sort(keys, FakeArray("i8", (1,))),
                 lambda: gsort.segmented_argsort(rows, offsets)):
        with pytest.raises(ValueError):
            call()


def test_dlpack_in_host_memory_is_no_device_array():
    assert not _device.is_on_device(numpy.arange(3))
    assert not _device.is_on_device(DlpackArray(FakeArray("u4", (3,)), device=1))
    assert _device.is_on_device(DlpackArray(FakeArray("u4", (3,)), device=13))


def test_contiguous_strides_are_not_refused():
    for shape, strides in ((10,), (4,)), ((2, 5), (20, 4)), ((1, 5), (99, 4)), ((2, 5), None), ((0, 5), (1, 1)):
        assert _device.DeviceArray(FakeArray("u4", shape, strides=strides), "sort", 0).shape == shape


def test_arrays_of_a_library_come_back_as_its_own(monkeypatch):
    """A new array of the library, on its current stream."""
    calls = []
    monkeypatch.setattr(_native, "sort_on_device", lambda *words: calls.append(words))
    monkeypatch.setattr(_native, "argsort_on_device", lambda *words: calls.append(words))
    monkeypatch.setattr(_native, "order_streams", lambda *words: None)

    class Tensor(FakeArray):
        device = "cuda:1"

    Tensor.__module__ = "torch"
    stream = types.SimpleNamespace(cuda_stream=77)
    cuda = types.SimpleNamespace(current_stream=lambda device: stream, stream=nullcontext,
                                 ExternalStream=lambda stream, device: stream)
    torch = types.SimpleNamespace(
        __name__="torch", Tensor=Tensor, int64="i8", cuda=cuda,
        empty_like=lambda array, dtype=None: Tensor(dtype or array.dtype, array.shape, 66 if dtype else 55))
    monkeypatch.setitem(sys.modules, "torch", torch)
    keys = Tensor("<f8", (3, 4), 44)
    assert gsort.sort(keys, descending=True).address == 55
    assert gsort.argsort(Tensor("<u4", (12,), 44, 2)).address == 66
    assert calls == [(44, 3, 4, "f64", False, True, False, 0, 55, 77), (44, 1, 12, "u32", False, False, False, 0, 66, 8, 2)]


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_new_arrays_are_made_on_the_stream_that_writes_them(monkeypatch, name):
    """A library gives out memory again when its own stream has passed all work on it."""
    made_on = [3]

    class Array(FakeArray):
        device = nullcontext()
        device.id = 1

    @contextmanager
    def external(stream, device):
        made_on.append((stream, device))
        yield
        made_on.pop()

    Array.__module__ = name
    cuda = types.SimpleNamespace(
        ExternalStream=external, stream=lambda stream: stream, get_current_stream=lambda: types.SimpleNamespace(ptr=3),
        current_stream=lambda device: types.SimpleNamespace(cuda_stream=3))
    arrays = []
    monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(
        cuda=cuda, empty_like=lambda array, dtype=None: arrays.append(made_on[-1]) or array))
    monkeypatch.setattr(_native, "sort_on_device", lambda *words: None)
    orders = set()
    monkeypatch.setattr(_native, "order_streams", lambda _, earlier, later: orders.add((earlier, later)))
    for stream in (None, 3, 9, 0, 1):  # 1: the default stream, as 0
        gsort.sort(Array("<f8", (5,), 44), stream=stream)
    device = Array.device if name == "torch" else 1
    assert arrays == [3, 3, (9, device), (0, device), (0, device)] and made_on == [3]
    assert orders == {(3, 9), (3, 0), (3, 1)}


def test_arrays_of_jax_come_back_by_dlpack(host_device, monkeypatch):
    """They are never written."""
    class Array(DlpackArray):
        pass

    Array.__module__ = "jaxlib._jax"
    taken = []
    dlpack = types.SimpleNamespace(from_dlpack=lambda result: taken.append(result) or "an array of jax")
    monkeypatch.setitem(sys.modules, "jax", types.SimpleNamespace(dlpack=dlpack))
    keys = few_numbers("f4")
    given = Array(on_fake(keys))
    assert gsort.sort(given) == "an array of jax"
    assert_same(from_fake(taken[0]), numpy.sort(keys))
    with pytest.raises(ValueError, match="read-only"):
        gsort.sort(given, given)


@pytest.mark.parametrize("name", ["cupy", "torch", "jax"])
def test_a_library_that_is_here(driver, name):
    library = pytest.importorskip(name)
    keys, offsets = few_numbers("f4"), OFFSETS
    if name == "torch":
        put, get = (lambda array: library.from_numpy(array).cuda()), (lambda array: array.cpu().numpy())
    elif name == "cupy":
        put, get = library.asarray, library.asnumpy
    else:
        library.config.update("jax_enable_x64", True)
        put, get = library.numpy.asarray, numpy.asarray
    source = put(keys)
    for result in gsort.sort(source), gsort.argsort(source), *gsort.sort_pairs(source, source), \
            gsort.segmented_sort(source, put(offsets)), gsort.segmented_argsort(source, put(offsets)):
        assert type(result) is type(source)
    assert_same(get(gsort.sort(source)), numpy.sort(keys))
    assert_same(get(gsort.argsort(source)), numpy.argsort(keys, kind="stable"))
    assert_same(get(gsort.segmented_argsort(source, put(offsets))), stable_order(keys))
    found = gsort.sort_pairs(source, put(numpy.arange(keys.size)), descending=True)
    assert_same(get(found[0]), numpy.sort(keys)[::-1])
    assert_same(keys[get(found[1])], numpy.sort(keys)[::-1])


def test_a_stream_waits_for_the_current_one_of_torch(driver):
    torch = pytest.importorskip("torch")
    keys = few_numbers("f4", 1 << 20)
    source, other = torch.from_numpy(keys).cuda(), torch.cuda.Stream()
    late = torch.zeros_like(source)
    torch.cuda.synchronize()
    torch.cuda._sleep(1 << 28)  # cycles, about 0.15 s
    late.copy_(source)
    result = gsort.sort(late, stream=other)
    other.synchronize()
    assert_same(result.cpu().numpy(), numpy.sort(keys))


def test_arrays_of_a_call_are_on_one_gpu(driver):
    torch = pytest.importorskip("torch")
    if torch.cuda.device_count() < 2:
        pytest.skip("there is no second GPU")
    keys, values = (torch.from_numpy(few_numbers("f4")).to(f"cuda:{number}") for number in range(2))
    with pytest.raises(ValueError, match="values on device 1, keys on device 0"):
        gsort.sort_pairs(keys, values)
    assert gsort.sort(values).device == values.device
    assert torch.cuda.current_device() == 0
