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
// sort_keys and distributed: 2^18 keys 0.041 and 0.046 (u32), 0.050 and 0.057 (u64); 2^19 0.050 and
// 0.041, 0.062 and 0.055; 2^20 0.070 and 0.048, 0.107 and 0.064. With 600,000 keys, one of 15
// shapes takes longer, clustered times: 0.062 and 0.066 (u32), 0.077 and 0.083 (u64).
template <class Key>
inline constexpr std::uint64_t kLeastDistributedKeys = (std::uint64_t{1} << 18) + 1;
// At most this many keys are distributed at once: with more, many bins would be longer than a tile.
// Up to kMostPieces times as many are distributed in pieces, which are then merged; sort_keys sorts
// more than that. 2^31 random keys on an H200, ms, at once, in pieces, by sort_keys and by CUB's
// radix sort: u32 56.8, 39.2, 55.9, 43.2; u64 97.5, 62.0, 118, 131.
inline constexpr std::uint64_t kMostDistributedKeys = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kMostPieces = 8;  // one pass merges this many
// At most this many keys are distributed once. Random keys on an H200, ms, once and twice:
// 11 * 2^20 u32 0.194 and 0.271, 6 * 2^20 u64 0.203 and 0.260. With 2^23 u32, frequent and
// clustered keys take longer once: zipf 0.229 and 0.199, clustered times 0.338 and 0.294.
template <class Key>
inline constexpr std::uint64_t kMostDistributedOnce =
    std::uint64_t{sizeof(Key) == 8 ? 6 : 11} << 20;

// For tests and benchmarks; the defaults are for everything else.
struct DistributionChoice {
  // The seed of the sample's places; none: another one in every call.
  std::optional<std::uint64_t> seed = std::nullopt;
  // sort_keys sorts fewer keys, without an upper limit; none: the limits above. The same for pairs,
  // with their limits. Pairs with keys of 32 bits, which are sorted by digits, use no other choice.
  std::optional<std::uint64_t> least_keys = std::nullopt;
  unsigned first_bits = 0;  // log2 of the bins of each distribution, 1 to 9; 0: by the count
  unsigned second_bits = 0;
  // One distribution, then a sort of its buckets; for at most kMostDistributedOnce keys, if no bits
  // are chosen. Not for pairs.
  std::optional<bool> once = std::nullopt;
  // Tiles with more keys in a cell are merged; none: kMostOfCell (launch.hpp). Not for pairs.
  std::optional<unsigned> most_of_cell = std::nullopt;
  // More keys than this are distributed in pieces; none: the limit above, or no limit if
  // `least_keys` is set. Not for pairs.
  std::optional<std::uint64_t> most_keys = std::nullopt;
};

// Distributes any number of keys at once; pieces need 1% more memory.
inline constexpr DistributionChoice kNotInPieces{.most_keys = ~std::uint64_t{0}};

// Device memory that sort_keys_by_distribution needs for `count` keys and the same choice: one more
// array of keys and, from 2^23 keys on, at most 6% of it. By default: never less for a larger
// count. Throws: as sort_keys_scratch_bytes.
template <class Key>
[[nodiscard]] std::size_t sort_keys_by_distribution_scratch_bytes(
    std::uint64_t count, const DistributionChoice& choice = {});

// Does what sort_keys does, with the same arguments, requirements and errors; scratch of
// sort_keys_by_distribution_scratch_bytes. The output is the same bytes, whatever the seed. The
// call may be captured in a CUDA graph; replays take the sample at the same places. Keys of 8 bytes
// are sorted by sort_keys where a block cannot have 163 KB of shared memory, and at most 2^22 keys
// where it cannot have what bucket_sort_kernel takes.
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
