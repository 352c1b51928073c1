"""Arrays that say that they are in device memory, and a device whose memory is the host's."""

import ctypes

import numpy

from gsort import _device


class FakeArray:
    """An array of an unknown library."""

    def __init__(self, dtype, shape, address=0, stream=None, **more):
        self.dtype, self.shape, self.address = numpy.dtype(dtype), shape, address
        self.more = {"stream": stream, **more}

    @property
    def __cuda_array_interface__(self):
        return {"version": 3, "typestr": self.dtype.str, "shape": self.shape, "data": (self.address, False),
                **self.more}


class DlpackArray:
    """An array that has nothing but DLPack, of the form before version 1 or of that."""

    def __init__(self, array, versioned=True, read_only=False, strides=None, device=2):
        self.array, self.dtype, self.shape, self.address = array, array.dtype, array.shape, array.address
        self.versioned, self.read_only, self.strides, self.device = versioned, read_only, strides, device
        self.streams = []

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, *, stream=None, max_version=None):
        if max_version is not None and not self.versioned:
            raise TypeError("unexpected keyword argument")
        self.streams.append(stream)
        return capsule_of(self)


def capsule_of(array):
    """Its tensor in a capsule; what that points to is kept."""
    shape = (ctypes.c_int64 * len(array.shape))(*array.shape)
    strides = None if array.strides is None else (ctypes.c_int64 * len(array.shape))(*array.strides)
    tensor = _device._Tensor(array.address - 8, array.device, 0, len(array.shape), "iuf.V.b".index(array.dtype.kind),
                             8 * array.dtype.itemsize, 1, shape, strides, 8)
    name = b"dltensor"
    if array.versioned:
        name += b"_versioned"
        tensor = _device._Versioned(1, 0, None, None, int(array.read_only), tensor)
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule_of.kept.append((shape, strides, tensor, name))
    return make(ctypes.addressof(tensor), name, None)


capsule_of.kept = []


class HostDevice:
    """A device whose memory is the host's, so that arrays of NumPy can be on it, and whose sorts are NumPy's. It
    stands where the native module is, and notes the streams."""

    def __init__(self):
        self.streams = []
        self.orders = []

    @staticmethod
    def at(address, dtype, count):
        buffer = (ctypes.c_char * (count * numpy.dtype(dtype).itemsize)).from_address(address) if count else b""
        return numpy.frombuffer(buffer, dtype)

    def rows_of(self, address, rows, row_keys, kind, big_endian, descending, total, offsets):
        """Keys as they are compared, all rows, and their bounds."""
        dtype = numpy.dtype({"time64": "i8", "bf16": "u2"}.get(kind) or f"{kind[0]}{int(kind[1:]) // 8}")
        dtype = dtype.newbyteorder(">" if big_endian else "<")
        bounds = [row * row_keys for row in range(rows + 1)]
        if offsets:
            bounds = self.at(offsets, "i8", rows + 1).tolist()
            assert bounds[-1] == row_keys
        keys = self.at(address, dtype, bounds[-1] if rows else 0)
        return keys, list(zip(bounds, bounds[1:]))

    def order(self, words):
        """The numbers of each row's keys, stably."""
        keys, rows = self.rows_of(*words)
        for begin, end in rows:
            compared = keys[begin:end].astype(keys.dtype.newbyteorder("="))
            if words[3] == "bf16":
                compared = (compared.astype("u4") << 16).view("f4")
            ranks = numpy.unique(compared, return_inverse=True)[1].astype("i8")
            yield begin, end, numpy.argsort(-ranks if words[5] else ranks, kind="stable")

    def sort_on_device(self, *call):
        *words, output, stream = call
        self.streams.append(stream)
        keys = self.rows_of(*words)[0].copy()
        for begin, end, order in self.order(words):
            self.at(output, keys.dtype, keys.size)[begin:end] = keys[begin:end][order]

    def argsort_on_device(self, *call):
        *words, indices, index_bytes, stream = call
        self.streams.append(stream)
        found = self.at(indices, f"u{index_bytes}", self.rows_of(*words)[0].size)
        for begin, end, order in self.order(words):
            found[begin:end] = order

    def sort_pairs_on_device(self, *call):
        *words, keys_output, values, value_bytes, values_output, stream = call
        self.streams.append(stream)
        keys = self.rows_of(*words)[0].copy()
        data = self.at(values, f"V{value_bytes}", keys.size).copy()
        for begin, end, order in self.order(words):
            self.at(keys_output, keys.dtype, keys.size)[begin:end] = keys[begin:end][order]
            self.at(values_output, data.dtype, keys.size)[begin:end] = data[begin:end][order]

    def order_streams(self, neighbour, earlier, later):
        self.orders.append((earlier, later))

    @staticmethod
    def DeviceMemory(size, neighbour):
        return HostMemory(size)


class HostMemory:
    """The memory of a result."""

    device = 0

    def __init__(self, size):
        self.array = numpy.full(max(size, 1), 0xa5, "u1")
        self.address = self.array.ctypes.data

    def tensor(self, shape, kind, bits):
        return DlpackArray(FakeArray(f"{kind}{bits // 8}", shape, self.address), versioned=False).__dlpack__()
