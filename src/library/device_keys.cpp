#include "library/device_keys.hpp"

#include "gpu/distribute/device_distribute.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/segmented/device_batch.hpp"
#include "gpu/sort/host_array_sort.hpp"
#include "library/key_types.hpp"

namespace gsort {
namespace {

template <class Key>
KeyMap<library::Bits<Key>> map_of(Order order) {
  return KeyMap<library::Bits<Key>>::of(library::format_of<Key>(order));
}

template <class Key>
const library::Bits<Key>* bits(const Key* keys) {
  return reinterpret_cast<const library::Bits<Key>*>(keys);
}

template <class Key>
library::Bits<Key>* bits(Key* keys) {
  return reinterpret_cast<library::Bits<Key>*>(keys);
}

}  // namespace

template <DeviceKey Key>
std::size_t device_sort_scratch_bytes(std::uint64_t count) {
  return gpu::sort_keys_by_distribution_scratch_bytes<library::Bits<Key>>(count);
}

template <DeviceKey Key>
void sort_device_keys(const Key* input, Key* output, std::uint64_t count, Order order,
                      const DeviceScratch& scratch, DeviceStream stream) {
  const auto map = map_of<Key>(order);
  gpu::sort_keys_by_distribution<library::Bits<Key>>({.input = bits(input),
                                                      .output = bits(output),
                                                      .count = count,
                                                      .load_map = map,
                                                      .store_map = map,
                                                      .scratch = {scratch.memory, scratch.bytes},
                                                      .stream = stream});
}

template <UnsignedDeviceKey Key>
std::size_t device_merge_scratch_bytes(std::uint64_t total) {
  return gpu::merge_arrays_scratch_bytes<Key>(total);
}

template <UnsignedDeviceKey Key>
void merge_device_keys(const Key* a, std::uint64_t a_count, const Key* b, std::uint64_t b_count,
                       Key* output, const DeviceScratch& scratch, DeviceStream stream) {
  gpu::merge_arrays<Key>({.a = a,
                          .a_count = a_count,
                          .b = b,
                          .b_count = b_count,
                          .output = output,
                          .scratch = {scratch.memory, scratch.bytes},
                          .stream = stream});
}

template <DeviceKey Key>
std::size_t device_batch_scratch_bytes(std::uint64_t array_count, std::uint64_t array_keys) {
  return gpu::sort_batch_scratch_bytes<library::Bits<Key>>(array_count, array_keys);
}

template <DeviceKey Key>
void sort_device_batch(const Key* input, Key* output, std::uint64_t array_count,
                       std::uint64_t array_keys, Order order, const DeviceScratch& scratch,
                       DeviceStream stream) {
  const auto map = map_of<Key>(order);
  gpu::sort_batch<library::Bits<Key>>({.input = bits(input),
                                       .output = bits(output),
                                       .array_count = array_count,
                                       .array_keys = array_keys,
                                       .load_map = map,
                                       .store_map = map,
                                       .scratch = {scratch.memory, scratch.bytes},
                                       .stream = stream});
}

template <DeviceKey Key>
std::size_t host_sort_scratch_bytes(std::uint64_t count) {
  return gpu::sort_host_array_scratch_bytes<library::Bits<Key>>(count);
}

template <DeviceKey Key>
void sort_host_keys(const Key* input, Key* output, std::uint64_t count, Order order,
                    const DeviceScratch& scratch, DeviceStream stream) {
  const auto map = map_of<Key>(order);
  gpu::sort_host_array<library::Bits<Key>>({.input = bits(input),
                                            .output = bits(output),
                                            .count = count,
                                            .load_map = map,
                                            .store_map = map,
                                            .scratch = {scratch.memory, scratch.bytes},
                                            .stream = stream});
}

// All that is there for every type of key.
// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define GSORT_FOR_KEY(Key)                                                                     \
  template std::size_t device_sort_scratch_bytes<Key>(std::uint64_t);                          \
  template void sort_device_keys(const Key*, Key*, std::uint64_t, Order, const DeviceScratch&, \
                                 DeviceStream);                                                \
  template std::size_t device_batch_scratch_bytes<Key>(std::uint64_t, std::uint64_t);          \
  template void sort_device_batch(const Key*, Key*, std::uint64_t, std::uint64_t, Order,       \
                                  const DeviceScratch&, DeviceStream);                         \
  template std::size_t host_sort_scratch_bytes<Key>(std::uint64_t);                            \
  template void sort_host_keys(const Key*, Key*, std::uint64_t, Order, const DeviceScratch&,   \
                               DeviceStream);
GSORT_FOR_KEY(std::uint32_t)
GSORT_FOR_KEY(std::int32_t)
GSORT_FOR_KEY(std::uint64_t)
GSORT_FOR_KEY(std::int64_t)
GSORT_FOR_KEY(float)
GSORT_FOR_KEY(double)
#undef GSORT_FOR_KEY
// NOLINTEND(bugprone-macro-parentheses)

template std::size_t device_merge_scratch_bytes<std::uint32_t>(std::uint64_t);
template std::size_t device_merge_scratch_bytes<std::uint64_t>(std::uint64_t);
template void merge_device_keys(const std::uint32_t*, std::uint64_t, const std::uint32_t*,
                                std::uint64_t, std::uint32_t*, const DeviceScratch&, DeviceStream);
template void merge_device_keys(const std::uint64_t*, std::uint64_t, const std::uint64_t*,
                                std::uint64_t, std::uint64_t*, const DeviceScratch&, DeviceStream);

}  // namespace gsort
