#include "python/device_arrays.hpp"

#include <initializer_list>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "base/error.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/widths/float_pairs.hpp"

namespace gsort::python {
namespace {

namespace any_width = gpu::any_width;
using gpu::check_cuda;
using gpu::CudaCall;
using gpu::CurrentDevice;

constexpr const char* kOperation = "sorting in device memory";

template <class T>
T* pointer_to(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr): Python's form of it
}

cudaStream_t stream_of(std::uintptr_t handle) {
  return reinterpret_cast<cudaStream_t>(handle);  // NOLINT(performance-no-int-to-ptr)
}

// An argument of a call, as errors name it.
struct Argument {
  std::uintptr_t address = 0;
  const char* name = nullptr;
};

cudaPointerAttributes facts_of(std::uintptr_t address) {
  cudaPointerAttributes facts{};
  check_cuda(cudaPointerGetAttributes(&facts, pointer_to<void>(address)), CudaCall::kQuery,
             kOperation);
  if (facts.type == cudaMemoryTypeDevice || facts.type == cudaMemoryTypeManaged) return facts;
  throw Error(ErrorKind::kUsage, kOperation, "the array is not in device memory");
}

// The current device for an empty array, which may have no address.
int device_of(std::uintptr_t address) {
  if (address == 0) {
    int device = 0;
    check_cuda(cudaGetDevice(&device), CudaCall::kQuery, kOperation);
    return device;
  }
  return facts_of(address).device;
}

// The device of the keys. Every device can use managed memory. Throws: Error(kUsage) for other
// arrays on another device.
int common_device(std::uintptr_t keys, std::initializer_list<Argument> others) {
  const int device = device_of(keys);
  for (const auto& [address, name] : others) {
    if (address == 0) continue;
    const cudaPointerAttributes facts = facts_of(address);
    if (facts.type == cudaMemoryTypeManaged || facts.device == device) continue;
    throw Error(ErrorKind::kUsage, kOperation,
                fmt::format("{} on device {}, keys on device {}", name, facts.device, device))
        .hint("copy all arrays of a call to one device");
  }
  return device;
}

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

  [[nodiscard]] gpu::ScratchMemory all() const { return {memory_, bytes_}; }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_;
  cudaStream_t stream_;
};

// Calls f(Key{}) with the unsigned type of the keys' width.
template <class F>
void with_device_key(const KeyFormat& format, const F& f) {
  switch (bytes_of(format.type)) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
    default:
      throw Error(ErrorKind::kUsage, kOperation, "keys have 8 to 64 bits there")
          .hint("copy the array to the host");
  }
}

// The same for values and indices.
template <class F>
void with_word(const DeviceWords& words, const F& f) {
  if (words.bytes != 4 && words.bytes != 8) {
    throw Error(ErrorKind::kUsage, kOperation, "values have 4 or 8 bytes there")
        .hint("sort indices (argsort), and take the values by them");
  }
  words.bytes == 4 ? f(std::uint32_t{}) : f(std::uint64_t{});
}

bool is_empty(const DeviceKeys& keys) {
  return keys.rows == 0 || keys.row_keys == 0;
}

bool is_one_row(const DeviceKeys& keys) {
  return keys.rows == 1 && keys.offsets == 0;
}

gpu::ArrayPlaces places_of(const DeviceKeys& keys) {
  if (keys.offsets == 0) return {.array_count = keys.rows, .array_keys = keys.row_keys};
  return {.array_count = keys.rows,
          .offsets = pointer_to<const std::uint64_t>(keys.offsets),
          .count = keys.row_keys};
}

template <class Key>
void sort_row(const DeviceKeys& keys, std::uintptr_t output, cudaStream_t stream) {
  const auto map = KeyMap<Key>::of(keys.format);
  const StreamMemory scratch(any_width::sort_keys_by_distribution_scratch_bytes<Key>(keys.row_keys),
                             stream);
  any_width::sort_keys_by_distribution<Key>(
      gpu::KeySort<Key>{.input = pointer_to<const Key>(keys.address),
                        .output = pointer_to<Key>(output),
                        .count = keys.row_keys,
                        .load_map = map,
                        .store_map = map,
                        .scratch = scratch.all(),
                        .stream = stream});
}

template <class Key>
void sort_even_rows(const DeviceKeys& keys, std::uintptr_t output, cudaStream_t stream) {
  const auto map = KeyMap<Key>::of(keys.format);
  const StreamMemory scratch(any_width::sort_batch_scratch_bytes<Key>(keys.rows, keys.row_keys),
                             stream);
  any_width::sort_batch<Key>(gpu::BatchSort<Key>{.input = pointer_to<const Key>(keys.address),
                                                 .output = pointer_to<Key>(output),
                                                 .array_count = keys.rows,
                                                 .array_keys = keys.row_keys,
                                                 .load_map = map,
                                                 .store_map = map,
                                                 .scratch = scratch.all(),
                                                 .stream = stream});
}

template <class Key>
void sort_rows_by_offsets(const DeviceKeys& keys, std::uintptr_t output, cudaStream_t stream) {
  const auto map = KeyMap<Key>::of(keys.format);
  const StreamMemory scratch(any_width::sort_segmented_batch_scratch_bytes<Key>(
                                 keys.rows, keys.row_keys, gpu::kUnknownLongest),
                             stream);
  any_width::sort_segmented_batch<Key>(
      gpu::SegmentedSort<Key>{.input = pointer_to<const Key>(keys.address),
                              .output = pointer_to<Key>(output),
                              .offsets = pointer_to<const std::uint64_t>(keys.offsets),
                              .array_count = keys.rows,
                              .count = keys.row_keys,
                              .load_map = map,
                              .store_map = map,
                              .scratch = scratch.all(),
                              .stream = stream});
}

// Sorts rows with their words, for both calls.
template <class Key, class Word>
void sort_rows_of_pairs(gpu::PairBatchSort<Key, Word> sort, const DeviceKeys& keys,
                        cudaStream_t stream) {
  sort.keys_in = pointer_to<const Key>(keys.address);
  sort.arrays = places_of(keys);
  sort.map = KeyMap<Key>::classes_of(keys.format);
  const StreamMemory scratch(any_width::sort_pair_batch_scratch_bytes<Key>(sort.arrays), stream);
  sort.scratch = scratch.all();
  sort.stream = stream;
  any_width::sort_pair_batch<Key, Word>(sort);
}

template <class Key, class Index>
void argsort_rows(const DeviceKeys& keys, Index* indices, cudaStream_t stream) {
  if (!is_one_row(keys)) {
    return sort_rows_of_pairs<Key, Index>({.values_out = indices, .takes_numbers = true}, keys,
                                          stream);
  }
  const StreamMemory scratch(any_width::argsort_scratch_bytes<Key, Index>(keys.row_keys), stream);
  any_width::argsort<Key, Index>(
      gpu::KeyArgsort<Key, Index>{.keys = pointer_to<const Key>(keys.address),
                                  .indices = indices,
                                  .count = keys.row_keys,
                                  .load_map = KeyMap<Key>::classes_of(keys.format),
                                  .scratch = scratch.all(),
                                  .stream = stream});
}

template <class Key, class Value>
void sort_row_pairs(const DeviceKeys& keys, gpu::Pairs<Key, Value> output, const Value* values,
                    cudaStream_t stream) {
  const auto map = KeyMap<Key>::classes_of(keys.format);
  const StreamMemory scratch(
      gpu::floats::sort_pairs_scratch_bytes<Key, Value>(keys.row_keys, map.folds_classes), stream);
  gpu::floats::sort_pairs<Key, Value>(
      gpu::PairSort<Key, Value>{.input = {pointer_to<const Key>(keys.address), values},
                                .output = output,
                                .count = keys.row_keys,
                                .load_map = map,
                                .store_map = gpu::keeping_bits(map),
                                .scratch = scratch.all(),
                                .stream = stream});
}

}  // namespace

void sort_on_device(const DeviceKeys& keys, std::uintptr_t output, std::uintptr_t stream) {
  with_device_key(keys.format, [&](auto key) {
    using Key = decltype(key);
    if (is_empty(keys)) return;
    const CurrentDevice current(
        common_device(keys.address, {{keys.offsets, "offsets"}, {output, "output"}}));
    if (keys.offsets != 0) return sort_rows_by_offsets<Key>(keys, output, stream_of(stream));
    if (is_one_row(keys)) return sort_row<Key>(keys, output, stream_of(stream));
    sort_even_rows<Key>(keys, output, stream_of(stream));
  });
}

void argsort_on_device(const DeviceKeys& keys, const DeviceWords& indices, std::uintptr_t stream) {
  with_device_key(keys.format, [&](auto key) {
    with_word(indices, [&](auto index) {
      if (is_empty(keys)) return;
      const CurrentDevice current(
          common_device(keys.address, {{keys.offsets, "offsets"}, {indices.address, "output"}}));
      argsort_rows<decltype(key)>(keys, pointer_to<decltype(index)>(indices.address),
                                  stream_of(stream));
    });
  });
}

void sort_pairs_on_device(const DeviceKeys& keys, std::uintptr_t keys_output,
                          const DeviceWords& values, std::uintptr_t values_output,
                          std::uintptr_t stream) {
  with_device_key(keys.format, [&](auto key) {
    with_word(values, [&](auto value) {
      using Key = decltype(key);
      using Value = decltype(value);
      if (is_empty(keys)) return;
      const CurrentDevice current(
          common_device(keys.address, {{keys.offsets, "offsets"},
                                       {values.address, "values"},
                                       {keys_output, "output"},
                                       {values_output, "output of values"}}));
      const auto* const from = pointer_to<const Value>(values.address);
      const gpu::Pairs<Key, Value> to{pointer_to<Key>(keys_output),
                                      pointer_to<Value>(values_output)};
      if (is_one_row(keys)) return sort_row_pairs(keys, to, from, stream_of(stream));
      sort_rows_of_pairs<Key, Value>(
          {.keys_out = to.keys, .values_in = from, .values_out = to.values}, keys,
          stream_of(stream));
    });
  });
}

DeviceMemory::DeviceMemory(std::size_t bytes, std::uintptr_t neighbour)
    : device_(device_of(neighbour)) {
  const CurrentDevice current(device_);
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, bytes > 0 ? bytes : 1), CudaCall::kMemory,
             "reserving device memory");
  address_ = reinterpret_cast<std::uintptr_t>(memory);
}

DeviceMemory::~DeviceMemory() {
  static_cast<void>(cudaFree(pointer_to<void>(address_)));
}

void order_streams(std::uintptr_t neighbour, std::uintptr_t earlier, std::uintptr_t later) {
  const CurrentDevice current(device_of(neighbour));
  gpu::order_streams(stream_of(earlier), stream_of(later), kOperation);
}

}  // namespace gsort::python
