#include "python/device_arrays.hpp"

#include <limits>

#include <cuda_runtime_api.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/records/device_pairs.hpp"
#include "gpu/records/launch.hpp"
#include "gpu/segmented/device_batch.hpp"

namespace gsort::python {
namespace {

using gpu::check_cuda;
using gpu::CudaCall;

constexpr const char* kOperation = "sorting in device memory";

template <class T>
T* pointer_to(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr): Python's form of it
}

cudaStream_t stream_of(std::uintptr_t handle) {
  return reinterpret_cast<cudaStream_t>(handle);  // NOLINT(performance-no-int-to-ptr)
}

// Makes the device that holds `address` the current one, until the end of the scope.
class DeviceOf {
 public:
  explicit DeviceOf(std::uintptr_t address) {
    cudaPointerAttributes facts{};
    check_cuda(cudaPointerGetAttributes(&facts, pointer_to<void>(address)), CudaCall::kQuery,
               kOperation);
    if (facts.type != cudaMemoryTypeDevice && facts.type != cudaMemoryTypeManaged) {
      throw Error(ErrorKind::kUsage, kOperation, "the array is not in device memory");
    }
    check_cuda(cudaGetDevice(&before_), CudaCall::kQuery, kOperation);
    check_cuda(cudaSetDevice(facts.device), CudaCall::kQuery, kOperation);
  }
  ~DeviceOf() { static_cast<void>(cudaSetDevice(before_)); }
  DeviceOf(const DeviceOf&) = delete;
  DeviceOf& operator=(const DeviceOf&) = delete;

 private:
  int before_ = 0;
};

// Memory of the current device that goes back when the stream has passed its use.
class StreamMemory {
 public:
  StreamMemory(std::size_t bytes, cudaStream_t stream) : bytes_(bytes), stream_(stream) {
    if (bytes == 0) return;
    check_cuda(cudaMallocAsync(&memory_, bytes, stream), CudaCall::kMemory,
               "reserving device memory");
  }
  ~StreamMemory() {
    if (memory_ != nullptr) static_cast<void>(cudaFreeAsync(memory_, stream_));
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_); }
  [[nodiscard]] gpu::ScratchMemory from(std::size_t begin) const {
    return {data() + begin, bytes_ - begin};
  }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_;
  cudaStream_t stream_;
};

// Calls f(Key{}) with the unsigned type of the keys' width.
template <class F>
void with_device_key(const KeyFormat& format, const F& f) {
  if (bytes_of(format.type) < 4) {
    throw Error(ErrorKind::kUsage, kOperation, "keys have 32 or 64 bits there")
        .hint("convert the array, or copy it to the host");
  }
  bytes_of(format.type) == 4 ? f(std::uint32_t{}) : f(std::uint64_t{});
}

template <class Key>
void sort_rows(const DeviceKeys& keys, std::uintptr_t output, cudaStream_t stream) {
  const auto map = KeyMap<Key>::of(keys.format);
  const StreamMemory scratch(gpu::sort_batch_scratch_bytes<Key>(keys.rows, keys.row_keys), stream);
  gpu::sort_batch<Key>({.input = pointer_to<const Key>(keys.address),
                        .output = pointer_to<Key>(output),
                        .array_count = keys.rows,
                        .array_keys = keys.row_keys,
                        .load_map = map,
                        .store_map = map,
                        .scratch = scratch.from(0),
                        .stream = stream});
}

// The sorted keys are scratch, too.
template <class Key>
void sort_indices(const DeviceKeys& keys, std::uint32_t* indices, cudaStream_t stream) {
  const std::uint64_t count = keys.row_keys;
  const std::uint64_t sorted_bytes =
      round_up(checked_product(count, sizeof(Key)), gpu::kScratchAlignment);
  const std::uint64_t more = gpu::sort_pairs_scratch_bytes<Key, std::uint32_t>(count);
  const StreamMemory memory(checked_sum(sorted_bytes, more), stream);
  gpu::launch_count_up(indices, count, stream);
  gpu::check_launch(kOperation);
  gpu::sort_pairs<Key, std::uint32_t>({.input = {pointer_to<const Key>(keys.address), indices},
                                       .output = {reinterpret_cast<Key*>(memory.data()), indices},
                                       .count = count,
                                       .load_map = KeyMap<Key>::of(keys.format),
                                       .store_map = {},
                                       .scratch = memory.from(sorted_bytes),
                                       .stream = stream});
}

}  // namespace

void sort_on_device(const DeviceKeys& keys, std::uintptr_t output, std::uintptr_t stream) {
  with_device_key(keys.format, [&](auto key) {
    if (keys.rows == 0 || keys.row_keys == 0) return;
    const DeviceOf device(keys.address);
    sort_rows<decltype(key)>(keys, output, stream_of(stream));
  });
}

void argsort_on_device(const DeviceKeys& keys, std::uintptr_t indices, std::uintptr_t stream) {
  if (keys.rows > 1 || keys.row_keys > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorKind::kUsage, kOperation, "too many keys for indices of 32 bits, or rows")
        .hint("give one row of fewer than 2^32 keys, or copy the array to the host");
  }
  with_device_key(keys.format, [&](auto key) {
    if (keys.rows == 0 || keys.row_keys == 0) return;
    const DeviceOf device(keys.address);
    sort_indices<decltype(key)>(keys, pointer_to<std::uint32_t>(indices), stream_of(stream));
  });
}

}  // namespace gsort::python
