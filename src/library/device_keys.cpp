#include "library/device_keys.hpp"

#include "gpu/widths/any_width.hpp"
#include "library/device_bits.hpp"

namespace gsort {

namespace any_width = gpu::any_width;

using library::Bits;
using library::bits_at;
using library::complete;

template <DeviceKey Key>
std::size_t device_sort_scratch_bytes(std::uint64_t count) {
  return any_width::sort_keys_by_distribution_scratch_bytes<Bits<Key>>(count);
}

template <DeviceKey Key>
void sort_device_keys(const Key* input, Key* output, std::uint64_t count, Order order,
                      const DeviceScratch& scratch, DeviceStream stream) {
  gpu::KeySort<Bits<Key>> sort{.input = bits_at(input), .output = bits_at(output), .count = count};
  complete<Key>(sort, order, scratch, stream);
  any_width::sort_keys_by_distribution<Bits<Key>>(sort);
}

template <DeviceKey Key>
std::size_t device_merge_scratch_bytes(std::uint64_t total) {
  return any_width::merge_arrays_scratch_bytes<Bits<Key>>(total);
}

template <DeviceKey Key>
void merge_device_keys(const Key* a, std::uint64_t a_count, const Key* b, std::uint64_t b_count,
                       Key* output, Order order, const DeviceScratch& scratch,
                       DeviceStream stream) {
  gpu::ArrayMerge<Bits<Key>> merge{.a = bits_at(a),
                                   .a_count = a_count,
                                   .b = bits_at(b),
                                   .b_count = b_count,
                                   .output = bits_at(output)};
  complete<Key>(merge, order, scratch, stream);
  any_width::merge_arrays<Bits<Key>>(merge);
}

template <DeviceKey Key>
std::size_t device_slices_scratch_bytes(std::uint64_t total, std::uint32_t slice_count) {
  return any_width::merge_slices_scratch_bytes<Bits<Key>>(total, slice_count);
}

template <DeviceKey Key>
void merge_device_slices(const Key* input, const std::uint64_t* slice_counts,
                         std::uint32_t slice_count, Key* output, Order order,
                         const DeviceScratch& scratch, DeviceStream stream) {
  gpu::SliceMerge<Bits<Key>> merge{.input = bits_at(input),
                                   .slice_counts = slice_counts,
                                   .slice_count = slice_count,
                                   .output = bits_at(output)};
  complete<Key>(merge, order, scratch, stream);
  any_width::merge_slices<Bits<Key>>(merge);
}

template <DeviceKey Key>
std::size_t device_batch_scratch_bytes(std::uint64_t array_count, std::uint64_t array_keys) {
  return any_width::sort_batch_scratch_bytes<Bits<Key>>(array_count, array_keys);
}

template <DeviceKey Key>
void sort_device_batch(const Key* input, Key* output, std::uint64_t array_count,
                       std::uint64_t array_keys, Order order, const DeviceScratch& scratch,
                       DeviceStream stream) {
  gpu::BatchSort<Bits<Key>> sort{.input = bits_at(input),
                                 .output = bits_at(output),
                                 .array_count = array_count,
                                 .array_keys = array_keys};
  complete<Key>(sort, order, scratch, stream);
  any_width::sort_batch<Bits<Key>>(sort);
}

// All functions for every type of key. NOLINTBEGIN(bugprone-macro-parentheses): a type
#define GSORT_FOR_KEY(Key)                                                                        \
  template std::size_t device_sort_scratch_bytes<Key>(std::uint64_t);                             \
  template void sort_device_keys(const Key*, Key*, std::uint64_t, Order, const DeviceScratch&,    \
                                 DeviceStream);                                                   \
  template std::size_t device_merge_scratch_bytes<Key>(std::uint64_t);                            \
  template void merge_device_keys(const Key*, std::uint64_t, const Key*, std::uint64_t, Key*,     \
                                  Order, const DeviceScratch&, DeviceStream);                     \
  template std::size_t device_slices_scratch_bytes<Key>(std::uint64_t, std::uint32_t);            \
  template void merge_device_slices(const Key*, const std::uint64_t*, std::uint32_t, Key*, Order, \
                                    const DeviceScratch&, DeviceStream);                          \
  template std::size_t device_batch_scratch_bytes<Key>(std::uint64_t, std::uint64_t);             \
  template void sort_device_batch(const Key*, Key*, std::uint64_t, std::uint64_t, Order,          \
                                  const DeviceScratch&, DeviceStream);
GSORT_FOR_DEVICE_KEYS(GSORT_FOR_KEY)
#undef GSORT_FOR_KEY
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace gsort
