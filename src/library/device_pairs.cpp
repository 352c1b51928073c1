#include "library/device_pairs.hpp"

#include "gpu/widths/float_pairs.hpp"
#include "library/device_bits.hpp"

namespace gsort {

namespace any_width = gpu::any_width;
namespace floats = gpu::floats;

using library::Bits;
using library::bits_at;
using library::class_map_of;
using library::complete_pairs;
using library::require_indices;

template <DeviceKey Key, DeviceWord Value>
std::size_t device_pairs_scratch_bytes(std::uint64_t count) {
  return floats::sort_pairs_scratch_bytes<Bits<Key>, Value>(count, kIsFloat<Key>);
}

template <DeviceKey Key, DeviceWord Value>
void sort_device_pairs(const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out,
                       std::uint64_t count, Order order, const DeviceScratch& scratch,
                       DeviceStream stream) {
  gpu::PairSort<Bits<Key>, Value> sort{.input = {bits_at(keys_in), values_in},
                                       .output = {bits_at(keys_out), values_out},
                                       .count = count};
  complete_pairs<Key>(sort, order, scratch, stream);
  floats::sort_pairs<Bits<Key>, Value>(sort);
}

template <DeviceKey Key, DeviceWord Value>
std::size_t device_pair_merge_scratch_bytes(std::uint64_t total) {
  return floats::merge_pair_arrays_scratch_bytes<Bits<Key>, Value>(total, kIsFloat<Key>);
}

template <DeviceKey Key, DeviceWord Value>
void merge_device_pairs(const Key* a_keys, const Value* a_values, std::uint64_t a_count,
                        const Key* b_keys, const Value* b_values, std::uint64_t b_count,
                        Key* keys_out, Value* values_out, Order order, const DeviceScratch& scratch,
                        DeviceStream stream) {
  gpu::PairArrayMerge<Bits<Key>, Value> merge{.a = {bits_at(a_keys), a_values},
                                              .a_count = a_count,
                                              .b = {bits_at(b_keys), b_values},
                                              .b_count = b_count,
                                              .output = {bits_at(keys_out), values_out}};
  complete_pairs<Key>(merge, order, scratch, stream);
  floats::merge_pair_arrays<Bits<Key>, Value>(merge);
}

template <DeviceKey Key, DeviceWord Value>
std::size_t device_pair_slices_scratch_bytes(std::uint64_t total, std::uint32_t slice_count) {
  return floats::merge_pair_slices_scratch_bytes<Bits<Key>, Value>(total, slice_count,
                                                                   kIsFloat<Key>);
}

template <DeviceKey Key, DeviceWord Value>
void merge_device_pair_slices(const Key* keys_in, const Value* values_in,
                              const std::uint64_t* slice_counts, std::uint32_t slice_count,
                              Key* keys_out, Value* values_out, Order order,
                              const DeviceScratch& scratch, DeviceStream stream) {
  gpu::PairSliceMerge<Bits<Key>, Value> merge{.input = {bits_at(keys_in), values_in},
                                              .slice_counts = slice_counts,
                                              .slice_count = slice_count,
                                              .output = {bits_at(keys_out), values_out}};
  complete_pairs<Key>(merge, order, scratch, stream);
  floats::merge_pair_slices<Bits<Key>, Value>(merge);
}

template <DeviceKey Key, DeviceIndex Index>
std::size_t device_argsort_scratch_bytes(std::uint64_t count) {
  require_indices<Index>(count);
  return any_width::argsort_scratch_bytes<Bits<Key>, WordOf<Index>>(count);
}

template <DeviceKey Key, DeviceIndex Index>
void argsort_device_keys(const Key* keys, Index* indices, std::uint64_t count, Order order,
                         const DeviceScratch& scratch, DeviceStream stream) {
  require_indices<Index>(count);
  any_width::argsort<Bits<Key>, WordOf<Index>>(gpu::KeyArgsort<Bits<Key>, WordOf<Index>>{
      .keys = bits_at(keys),
      .indices = reinterpret_cast<WordOf<Index>*>(indices),
      .count = count,
      .load_map = class_map_of<Key>(order),
      .scratch = {scratch.memory, scratch.bytes},
      .stream = stream});
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define GSORT_FOR_VALUE(Key, Value)                                                                \
  template std::size_t device_pair_merge_scratch_bytes<Key, Value>(std::uint64_t);                 \
  template void merge_device_pairs(const Key*, const Value*, std::uint64_t, const Key*,            \
                                   const Value*, std::uint64_t, Key*, Value*, Order,               \
                                   const DeviceScratch&, DeviceStream);                            \
  template std::size_t device_pair_slices_scratch_bytes<Key, Value>(std::uint64_t, std::uint32_t); \
  template void merge_device_pair_slices(const Key*, const Value*, const std::uint64_t*,           \
                                         std::uint32_t, Key*, Value*, Order, const DeviceScratch&, \
                                         DeviceStream);                                            \
                                                                                                   \
  template std::size_t device_pairs_scratch_bytes<Key, Value>(std::uint64_t);                      \
  template void sort_device_pairs(const Key*, Key*, const Value*, Value*, std::uint64_t, Order,    \
                                  const DeviceScratch&, DeviceStream);
#define GSORT_FOR_INDEX(Key, Index)                                             \
  template std::size_t device_argsort_scratch_bytes<Key, Index>(std::uint64_t); \
  template void argsort_device_keys(const Key*, Index*, std::uint64_t, Order,   \
                                    const DeviceScratch&, DeviceStream);
#define GSORT_FOR_KEY(Key)            \
  GSORT_FOR_VALUE(Key, std::uint32_t) \
  GSORT_FOR_VALUE(Key, std::uint64_t) \
  GSORT_FOR_INDICES(GSORT_FOR_INDEX, Key)
GSORT_FOR_DEVICE_KEYS(GSORT_FOR_KEY)
#undef GSORT_FOR_KEY
#undef GSORT_FOR_INDEX
#undef GSORT_FOR_VALUE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace gsort
