// Arrays in device memory of the caller, of CuPy or PyTorch say, sorted there and queued on the
// caller's stream. Nothing waits for the device, and no array is copied.
#pragma once

#include <cstdint>

#include "element/key.hpp"

namespace gsort::python {

// Rows of keys of 32 or 64 bits, one behind the other.
struct DeviceKeys {
  std::uintptr_t address = 0;
  std::uint64_t rows = 0;
  std::uint64_t row_keys = 0;
  KeyFormat format;
};

// Sorts each row into its place at `output`, which is the same memory or apart. `stream` is a
// cudaStream_t of the device that holds the keys. Scratch memory is taken from that device's pool,
// in the order of the stream.
// Throws: Error(kUsage) for keys of other sizes, overlap and misalignment; Error(kResource) where
// there is no scratch memory; Error(kDevice), also where the package was built without CUDA.
void sort_on_device(const DeviceKeys& keys, std::uintptr_t output, std::uintptr_t stream);

// Writes at `indices` the numbers, of 32 bits, of the keys of one row in their order, stably.
// Throws: as sort_on_device; Error(kUsage) for more than one row, or 2^32 keys and more.
void argsort_on_device(const DeviceKeys& keys, std::uintptr_t indices, std::uintptr_t stream);

}  // namespace gsort::python
