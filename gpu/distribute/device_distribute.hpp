// Sorting keys that lie in device memory by two distributions and a sort of tiles: what sort_keys
// (device_sort.hpp) does, with other kernels. The essay is in device_distribute.cpp. Any host code
// may include this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "gpu/sort/device_sort.hpp"

namespace gsort::gpu {

// This many keys or more are distributed; sort_keys sorts fewer. On an H200, random keys, ms, by
// sort_keys and distributed: 2^19 keys 0.052 and 0.051 (u32), 0.062 and 0.064 (u64); 2^20 u32 0.072
// and 0.056; 2^21 0.116 and 0.078; 2^22 0.168 and 0.124 (u32), 0.255 and 0.160 (u64). Of 15 shapes
// of 2^21 u32 keys, clustered times (1.96 times) and keys of random width (1.16) take longer.
template <class Key>
inline constexpr std::uint64_t kLeastDistributedKeys = sizeof(Key) == 8 ? std::uint64_t{1} << 20
                                                                        : std::uint64_t{3} << 18;
// At most this many keys are distributed at once: with more u32 keys, bins would be longer than a
// tile. Up to kMostPieces times as many are distributed in pieces, which are then merged; sort_keys
// sorts more than that. 2^31 random u32 on an H100: at once 54 ms, in pieces 41, by sort_keys 57,
// by CUB's radix sort 44.
template <class Key>
inline constexpr std::uint64_t kMostDistributedKeys = sizeof(Key) == 8 ? ~std::uint64_t{0}
                                                                       : std::uint64_t{1} << 30;
inline constexpr std::uint64_t kMostPieces = 8;  // one pass merges so many
// At most this many keys are distributed once. 2^22 random u32 keys on an H200: 0.124 ms, twice
// 0.142; 6 * 2^20 keys: 0.239, twice 0.212.
inline constexpr std::uint64_t kMostKeysDistributedOnce = std::uint64_t{1} << 22;

// For tests and benchmarks; the defaults are for everything else.
struct DistributionChoice {
  // Of the sample's places; none: another one in every call.
  std::optional<std::uint64_t> seed = std::nullopt;
  // sort_keys sorts fewer keys, without an upper limit; none: the limits above. The same for pairs,
  // with their limits.
  std::optional<std::uint64_t> least_keys = std::nullopt;
  unsigned first_bits = 0;  // log2 of the bins of each distribution, 1 to 9; 0: by the count
  unsigned second_bits = 0;
  // One distribution, then a sort of its buckets; for at most kMostKeysDistributedOnce keys, if no
  // bits are chosen. Not for pairs.
  std::optional<bool> once = std::nullopt;
  // More keys than this are distributed in pieces; none: the limit above, or no limit if
  // `least_keys` is set. Not for pairs.
  std::optional<std::uint64_t> most_keys = std::nullopt;
};

// Device memory that sort_keys_by_distribution needs for `count` keys and the same choice: one more
// array of keys and, from 2^23 keys on, at most 6% of it. By default: never less for a larger
// count. Throws: as sort_keys_scratch_bytes.
template <class Key>
[[nodiscard]] std::size_t sort_keys_by_distribution_scratch_bytes(
    std::uint64_t count, const DistributionChoice& choice = {});

// Does what sort_keys does, with the same arguments, requirements and errors; scratch of
// sort_keys_by_distribution_scratch_bytes. The output is the same bytes, whatever the seed. The
// call may be captured in a CUDA graph; replays take the sample at the same places. Keys of 8 bytes
// are sorted by sort_keys where a block cannot have 163 KB of shared memory, and at most
// kMostKeysDistributedOnce keys where it cannot have what bucket_sort_kernel takes.
template <class Key>
void sort_keys_by_distribution(const KeySort<Key>& sort, const DistributionChoice& choice = {});

extern template std::size_t sort_keys_by_distribution_scratch_bytes<std::uint32_t>(
    std::uint64_t, const DistributionChoice&);
extern template std::size_t sort_keys_by_distribution_scratch_bytes<std::uint64_t>(
    std::uint64_t, const DistributionChoice&);
extern template void sort_keys_by_distribution(const KeySort<std::uint32_t>&,
                                               const DistributionChoice&);
extern template void sort_keys_by_distribution(const KeySort<std::uint64_t>&,
                                               const DistributionChoice&);

}  // namespace gsort::gpu
