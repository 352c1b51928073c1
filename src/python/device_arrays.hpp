// Arrays in device memory of the caller, of CuPy or PyTorch say, sorted there and queued on the
// caller's stream. Nothing waits for the device, and no array is copied.
//
// Holds for all calls. `stream` is a cudaStream_t of the device that holds the keys. Scratch memory
// is taken from that device's pool, in the order of the stream. Throws: Error(kUsage) for keys and
// words of other sizes, arrays on another device than the keys, overlap and misalignment;
// Error(kResource) where there is no scratch memory; Error(kDevice), also where the package was
// built without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#include "element/key.hpp"

namespace gsort::python {

// Rows of keys of 8 to 64 bits, one behind the other.
struct DeviceKeys {
  std::uintptr_t address = 0;
  std::uint64_t rows = 0;
  std::uint64_t row_keys = 0;  // of each row; with offsets: of all rows
  KeyFormat format;
  std::uintptr_t offsets = 0;  // 0, or where rows + 1 numbers of 64 bits say where rows begin
};

// As many values or numbers as keys, of 4 or 8 bytes.
struct DeviceWords {
  std::uintptr_t address = 0;
  std::size_t bytes = 4;  // of each
};

// Sorts each row into its place at `output`, which is the same memory or apart.
void sort_on_device(const DeviceKeys& keys, std::uintptr_t output, std::uintptr_t stream);

// Writes at `indices` the numbers of each row's keys, from 0 on, in their order, stably.
// Throws: Error(kUsage) also for numbers that do not fit, and for several rows with more than 2^32
// keys together.
void argsort_on_device(const DeviceKeys& keys, const DeviceWords& indices, std::uintptr_t stream);

// Sorts the keys and values of each row into their places at `keys_output` and `values_output`,
// stably. A single row may be sorted in place.
// Throws: Error(kUsage) also for several rows with more than 2^32 keys together.
void sort_pairs_on_device(const DeviceKeys& keys, std::uintptr_t keys_output,
                          const DeviceWords& values, std::uintptr_t values_output,
                          std::uintptr_t stream);

// Device memory for a result, on the device that holds `neighbour`. Freeing it waits for the
// device.
class DeviceMemory {
 public:
  DeviceMemory(std::size_t bytes, std::uintptr_t neighbour);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  [[nodiscard]] std::uintptr_t address() const { return address_; }
  [[nodiscard]] int device() const { return device_; }

 private:
  std::uintptr_t address_ = 0;
  int device_ = 0;
};

// Work that is queued on `later` from now on comes after that on `earlier`. Both are streams of the
// device that holds `neighbour`.
void order_streams(std::uintptr_t neighbour, std::uintptr_t earlier, std::uintptr_t later);

}  // namespace gsort::python
