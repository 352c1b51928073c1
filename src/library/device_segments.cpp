#include "library/device_segments.hpp"

#include "gpu/widths/any_width.hpp"
#include "library/device_bits.hpp"

namespace gsort {
namespace {

namespace any_width = gpu::any_width;

using library::Bits;
using library::bits_at;
using library::class_map_of;
using library::complete;

static_assert(kUnknownLength == gpu::kUnknownLongest);

gpu::ArrayPlaces places_of(const DeviceSegments& segments) {
  return {.array_count = segments.array_count,
          .array_keys = segments.array_keys,
          .offsets = segments.offsets,
          .count = segments.count,
          .longest = segments.longest};
}

template <DeviceKey Key, DeviceWord Value>
gpu::PairBatchSort<Bits<Key>, Value> pair_batch_of(const Key* keys, const DeviceSegments& segments,
                                                   Order order, const DeviceScratch& scratch,
                                                   DeviceStream stream) {
  gpu::PairBatchSort<Bits<Key>, Value> sort;
  sort.keys_in = bits_at(keys);
  sort.arrays = places_of(segments);
  sort.map = class_map_of<Key>(order);
  sort.scratch = {scratch.memory, scratch.bytes};
  sort.stream = stream;
  return sort;
}

}  // namespace

template <DeviceKey Key>
std::size_t device_segments_scratch_bytes(const DeviceSegments& segments) {
  const auto& [array_count, array_keys, offsets, count, longest] = segments;
  if (offsets == nullptr) {
    return any_width::sort_batch_scratch_bytes<Bits<Key>>(array_count, array_keys);
  }
  return any_width::sort_segmented_batch_scratch_bytes<Bits<Key>>(array_count, count, longest);
}

template <DeviceKey Key>
void sort_device_segments(const Key* input, Key* output, const DeviceSegments& segments,
                          Order order, const DeviceScratch& scratch, DeviceStream stream) {
  const auto& [array_count, array_keys, offsets, count, longest] = segments;
  if (offsets == nullptr) {
    sort_device_batch(input, output, array_count, array_keys, order, scratch, stream);
    return;
  }
  gpu::SegmentedSort<Bits<Key>> sort{.input = bits_at(input),
                                     .output = bits_at(output),
                                     .offsets = offsets,
                                     .array_count = array_count,
                                     .count = count,
                                     .longest = longest};
  complete<Key>(sort, order, scratch, stream);
  any_width::sort_segmented_batch<Bits<Key>>(sort);
}

template <DeviceKey Key>
std::size_t device_segment_pairs_scratch_bytes(const DeviceSegments& segments) {
  return any_width::sort_pair_batch_scratch_bytes<Bits<Key>>(places_of(segments));
}

template <DeviceKey Key, DeviceWord Value>
void sort_device_segment_pairs(const Key* keys_in, Key* keys_out, const Value* values_in,
                               Value* values_out, const DeviceSegments& segments, Order order,
                               const DeviceScratch& scratch, DeviceStream stream) {
  auto sort = pair_batch_of<Key, Value>(keys_in, segments, order, scratch, stream);
  sort.keys_out = bits_at(keys_out);
  sort.values_in = values_in;
  sort.values_out = values_out;
  sort.takes_numbers = false;
  any_width::sort_pair_batch<Bits<Key>, Value>(sort);
}

template <DeviceKey Key, DeviceIndex Index>
void argsort_device_segments(const Key* keys, Index* indices, const DeviceSegments& segments,
                             Order order, const DeviceScratch& scratch, DeviceStream stream) {
  using Word = WordOf<Index>;
  auto sort = pair_batch_of<Key, Word>(keys, segments, order, scratch, stream);
  sort.values_out = reinterpret_cast<Word*>(indices);
  sort.takes_numbers = true;
  any_width::sort_pair_batch<Bits<Key>, Word>(sort);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define GSORT_FOR_VALUE(Key, Value)                                                           \
  template void sort_device_segment_pairs(const Key*, Key*, const Value*, Value*,             \
                                          const DeviceSegments&, Order, const DeviceScratch&, \
                                          DeviceStream);
#define GSORT_FOR_INDEX(Key, Index)                                                       \
  template void argsort_device_segments(const Key*, Index*, const DeviceSegments&, Order, \
                                        const DeviceScratch&, DeviceStream);
#define GSORT_FOR_KEY(Key)                                                             \
  template std::size_t device_segments_scratch_bytes<Key>(const DeviceSegments&);      \
  template void sort_device_segments(const Key*, Key*, const DeviceSegments&, Order,   \
                                     const DeviceScratch&, DeviceStream);              \
  template std::size_t device_segment_pairs_scratch_bytes<Key>(const DeviceSegments&); \
  GSORT_FOR_VALUE(Key, std::uint32_t)                                                  \
  GSORT_FOR_VALUE(Key, std::uint64_t)                                                  \
  GSORT_FOR_INDICES(GSORT_FOR_INDEX, Key)
GSORT_FOR_DEVICE_KEYS(GSORT_FOR_KEY)
#undef GSORT_FOR_KEY
#undef GSORT_FOR_INDEX
#undef GSORT_FOR_VALUE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace gsort
