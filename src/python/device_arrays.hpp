// Sorts arrays in the caller's device memory, for example of CuPy or PyTorch. The work is queued on
// the caller's stream. No call waits for the device, and no array is copied.
//
// For all calls: `stream` is a cudaStream_t of the device that holds the keys. Scratch memory comes
// from that device's pool, in the order of the stream. Throws: Error(kUsage) for keys and words of
// other sizes, arrays on another device than the keys, overlap and misalignment; Error(kResource)
// if there is no scratch memory; Error(kDevice), also if the package was built without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#include "element/key.hpp"

namespace gsort::python {

// Rows of keys of 8 to 64 bits, back to back.
struct DeviceKeys {
  std::uintptr_t address = 0;
  std::uint64_t rows = 0;
  std::uint64_t row_keys = 0;  // of each row; with offsets: of all rows
  KeyFormat format;
  std::uintptr_t offsets = 0;  // 0, or the address of rows + 1 numbers of 64 bits: where rows begin
};

// As many values or indices as keys, of 4 or 8 bytes.
struct DeviceWords {
  std::uintptr_t address = 0;
  std::size_t bytes = 4;  // of each
};

// Sorts each row into its place at `output`, which is the same memory or disjoint.
void sort_on_device(const DeviceKeys& keys, std::uintptr_t output, std::uintptr_t stream);

// Writes to `indices` the indices, from 0 on, that sort each row's keys stably. Throws:
// Error(kUsage) also for indices that do not fit, and for several rows with more than 2^32 keys
// together.
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

// Makes work that is queued on `later` from now on wait for that on `earlier`. Both are streams of
// the device that holds `neighbour`.
void order_streams(std::uintptr_t neighbour, std::uintptr_t earlier, std::uintptr_t later);

}  // namespace gsort::python
