#include "library/device_shares.hpp"

#include <algorithm>
#include <vector>

#include "gpu/shares/host_segments.hpp"
#include "gpu/shares/host_shares.hpp"
#include "gpu/shares/shares_sort.hpp"
#include "library/device_bits.hpp"

namespace gsort {

using library::Bits;
using library::bits_at;
using library::class_map_of;
using library::map_of;
using library::require_indices;

namespace {

std::vector<gpu::SharingDevice> sharing(std::span<const HostSortDevice> devices) {
  std::vector<gpu::SharingDevice> sharing;
  for (const HostSortDevice& device : devices) {
    sharing.push_back({device.device, {device.scratch.memory, device.scratch.bytes}});
  }
  return sharing;
}

gpu::HostArrays arrays_of(const HostSegments& segments) {
  return {segments.array_count, segments.array_keys, segments.offsets};
}

// The longest array; 0 if offsets do not ascend, which is an error of the sort.
std::uint64_t longest_of(const HostSegments& segments) {
  const auto& [array_count, array_keys, offsets] = segments;
  if (array_count == 0) return 0;
  if (offsets == nullptr) return array_keys;
  std::uint64_t longest = 0;
  for (std::uint64_t array = 0; array < array_count; ++array) {
    if (offsets[array] > offsets[array + 1]) return 0;
    longest = std::max(longest, offsets[array + 1] - offsets[array]);
  }
  return longest;
}

}  // namespace

template <DeviceKeyOf32Or64Bits Key>
std::size_t device_share_scratch_bytes(std::uint64_t count, unsigned shares) {
  return gpu::sort_shares_scratch_bytes<Bits<Key>>(count, shares);
}

template <DeviceKeyOf32Or64Bits Key>
void sort_device_shares(std::span<const DeviceShare<Key>> shares, Order order) {
  std::vector<gpu::DeviceShare<Bits<Key>>> of_bits;
  for (const DeviceShare<Key>& share : shares) {
    of_bits.push_back({share.device,
                       bits_at(share.keys),
                       share.count,
                       {share.scratch.memory, share.scratch.bytes}});
  }
  gpu::sort_shares<Bits<Key>>(of_bits, map_of<Key>(order));
}

template <DeviceKeyOf32Or64Bits Key>
std::size_t host_sort_scratch_bytes(std::uint64_t count, unsigned devices) {
  return gpu::sort_host_shares_scratch_bytes<Bits<Key>>(count, devices);
}

template <DeviceKeyOf32Or64Bits Key>
void sort_host_keys(const Key* input, Key* output, std::uint64_t count, Order order,
                    std::span<const HostSortDevice> devices) {
  gpu::sort_host_shares<Bits<Key>>({bits_at(input), bits_at(output), count, map_of<Key>(order)},
                                   sharing(devices));
}

template <DeviceKeyOf32Or64Bits Key, DeviceWord Value>
std::size_t device_pair_share_scratch_bytes(std::uint64_t count, unsigned shares) {
  return gpu::sort_pair_shares_scratch_bytes<Bits<Key>, Value>(count, shares, kIsFloat<Key>);
}

template <DeviceKeyOf32Or64Bits Key, DeviceWord Value>
void sort_device_pair_shares(std::span<const DevicePairShare<Key, Value>> shares, Order order) {
  std::vector<gpu::PairShare<Bits<Key>, Value>> of_bits;
  for (const DevicePairShare<Key, Value>& share : shares) {
    of_bits.push_back({share.device,
                       bits_at(share.keys),
                       share.count,
                       {share.scratch.memory, share.scratch.bytes},
                       share.values});
  }
  gpu::sort_pair_shares<Bits<Key>, Value>(of_bits, class_map_of<Key>(order));
}

template <DeviceKeyOf32Or64Bits Key, DeviceWord Value>
std::size_t host_pairs_scratch_bytes(std::uint64_t count, unsigned devices) {
  return gpu::sort_host_pairs_scratch_bytes<Bits<Key>, Value>(count, devices);
}

template <DeviceKeyOf32Or64Bits Key, DeviceWord Value>
void sort_host_pairs(const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out,
                     std::uint64_t count, Order order, std::span<const HostSortDevice> devices) {
  gpu::sort_host_pairs<Bits<Key>, Value>({.input = {bits_at(keys_in), values_in},
                                          .output = {bits_at(keys_out), values_out},
                                          .count = count,
                                          .map = class_map_of<Key>(order)},
                                         sharing(devices));
}

template <DeviceKeyOf32Or64Bits Key, DeviceIndex Index>
void argsort_host_keys(const Key* keys, Index* indices, std::uint64_t count, Order order,
                       std::span<const HostSortDevice> devices) {
  require_indices<Index>(count);
  using Word = WordOf<Index>;
  gpu::sort_host_pairs<Bits<Key>, Word>({.input = {bits_at(keys), nullptr},
                                         .output = {nullptr, reinterpret_cast<Word*>(indices)},
                                         .count = count,
                                         .map = class_map_of<Key>(order),
                                         .takes_numbers = true},
                                        sharing(devices));
}

template <DeviceKeyOf32Or64Bits Key>
std::size_t host_segments_scratch_bytes(const HostSegments& segments, unsigned devices) {
  return gpu::host_segments_scratch_bytes<Bits<Key>, gpu::NoValue>(arrays_of(segments), devices);
}

template <DeviceKeyOf32Or64Bits Key>
void sort_host_segments(const Key* input, Key* output, const HostSegments& segments, Order order,
                        std::span<const HostSortDevice> devices) {
  gpu::sort_host_segments<Bits<Key>, gpu::NoValue>({.input = {bits_at(input), nullptr},
                                                    .output = {bits_at(output), nullptr},
                                                    .arrays = arrays_of(segments),
                                                    .map = map_of<Key>(order)},
                                                   sharing(devices));
}

template <DeviceKeyOf32Or64Bits Key, DeviceWord Value>
std::size_t host_segment_pairs_scratch_bytes(const HostSegments& segments, unsigned devices) {
  return gpu::host_segments_scratch_bytes<Bits<Key>, Value>(arrays_of(segments), devices);
}

template <DeviceKeyOf32Or64Bits Key, DeviceWord Value>
void sort_host_segment_pairs(const Key* keys_in, Key* keys_out, const Value* values_in,
                             Value* values_out, const HostSegments& segments, Order order,
                             std::span<const HostSortDevice> devices) {
  gpu::sort_host_segments<Bits<Key>, Value>({.input = {bits_at(keys_in), values_in},
                                             .output = {bits_at(keys_out), values_out},
                                             .arrays = arrays_of(segments),
                                             .map = class_map_of<Key>(order)},
                                            sharing(devices));
}

template <DeviceKeyOf32Or64Bits Key, DeviceIndex Index>
void argsort_host_segments(const Key* keys, Index* indices, const HostSegments& segments,
                           Order order, std::span<const HostSortDevice> devices) {
  require_indices<Index>(longest_of(segments));
  using Word = WordOf<Index>;
  gpu::sort_host_segments<Bits<Key>, Word>({.input = {bits_at(keys), nullptr},
                                            .output = {nullptr, reinterpret_cast<Word*>(indices)},
                                            .arrays = arrays_of(segments),
                                            .map = class_map_of<Key>(order),
                                            .takes_numbers = true},
                                           sharing(devices));
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define GSORT_FOR_VALUE(Key, Value)                                                           \
  template std::size_t device_pair_share_scratch_bytes<Key, Value>(std::uint64_t, unsigned);  \
  template void sort_device_pair_shares(std::span<const DevicePairShare<Key, Value>>, Order); \
  template std::size_t host_pairs_scratch_bytes<Key, Value>(std::uint64_t, unsigned);         \
  template void sort_host_pairs(const Key*, Key*, const Value*, Value*, std::uint64_t, Order, \
                                std::span<const HostSortDevice>);                             \
  template std::size_t host_segment_pairs_scratch_bytes<Key, Value>(const HostSegments&,      \
                                                                    unsigned);                \
  template void sort_host_segment_pairs(const Key*, Key*, const Value*, Value*,               \
                                        const HostSegments&, Order,                           \
                                        std::span<const HostSortDevice>);
#define GSORT_FOR_INDEX(Key, Index)                                                   \
  template void argsort_host_keys(const Key*, Index*, std::uint64_t, Order,           \
                                  std::span<const HostSortDevice>);                   \
  template void argsort_host_segments(const Key*, Index*, const HostSegments&, Order, \
                                      std::span<const HostSortDevice>);
#define GSORT_FOR_KEY(Key)                                                              \
  template std::size_t device_share_scratch_bytes<Key>(std::uint64_t, unsigned);        \
  template void sort_device_shares(std::span<const DeviceShare<Key>>, Order);           \
  template std::size_t host_sort_scratch_bytes<Key>(std::uint64_t, unsigned);           \
  template void sort_host_keys(const Key*, Key*, std::uint64_t, Order,                  \
                               std::span<const HostSortDevice>);                        \
  template std::size_t host_segments_scratch_bytes<Key>(const HostSegments&, unsigned); \
  template void sort_host_segments(const Key*, Key*, const HostSegments&, Order,        \
                                   std::span<const HostSortDevice>);                    \
  GSORT_FOR_VALUE(Key, std::uint32_t)                                                   \
  GSORT_FOR_VALUE(Key, std::uint64_t)                                                   \
  GSORT_FOR_INDICES(GSORT_FOR_INDEX, Key)
GSORT_FOR_KEYS_OF_32_AND_64_BITS(GSORT_FOR_KEY)
#undef GSORT_FOR_KEY
#undef GSORT_FOR_INDEX
#undef GSORT_FOR_VALUE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace gsort
