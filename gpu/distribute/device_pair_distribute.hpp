// Sorting pairs of keys and values that lie in device memory by two distributions, or one, and a
// sort of tiles: what sort_pairs (gpu/records/device_pairs.hpp) does, with other kernels. The
// essays are in device_pair_distribute.cpp and distribute_once.cpp. Any host code may include this
// file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/distribute/device_distribute.hpp"
#include "gpu/records/device_pairs.hpp"

namespace gsort::gpu {

// This many pairs or more are distributed twice, unless they are distributed once
// (kMostDistributedOnce). sort_pairs sorts fewer. On an H100, 2^22 random pairs of u64 with u32
// take 0.32 ms instead of 0.38, of u64 with u64 0.34 instead of 0.44; 2^23 of u32 with u32 0.41
// instead of 0.48; 2^28 take 14.9 instead of 19.8, 17.3 instead of 24.9, and 8.3 instead of 12.9.
// Eleven distributions were measured at these counts; only sawtooth (with u32 keys 1.14 times,
// u64 with u32 1.05) and zipf of u32 keys (1.04) take longer. On an H200, 7 * 2^20 pairs of u32
// with u32, and with u64, take so many ms (by sort_pairs): random 0.36 (0.42), 0.40 (0.49); few
// distinct keys 0.30 (0.40), 0.33 (0.48); clustered times 0.51 (0.51), 0.47 (0.59); sawtooth 0.42
// (0.36), 0.46 (0.43).
template <class Key>
inline constexpr std::uint64_t kLeastDistributedPairs =
    std::uint64_t{sizeof(Key) == 8 ? 4 : 6} << 20;
// At most this many pairs are distributed; sort_pairs sorts more. With u32 keys, more than 2^30
// pairs were not measured: these took 45 ms, merging 57.
template <class Key>
inline constexpr std::uint64_t kMostDistributedPairs = sizeof(Key) == 8 ? ~std::uint64_t{0}
                                                                        : std::uint64_t{1} << 30;

// Device memory that sort_pairs_by_distribution needs for `count` pairs and the same choice: one
// more array of keys and one of values and, from 2^23 pairs on, at most 6% of both. Fewer pairs
// with keys of 32 bits need up to half as much again. By default: never less for a larger count.
// Throws: as sort_pairs_scratch_bytes.
template <class Key, class Value>
[[nodiscard]] std::size_t sort_pairs_by_distribution_scratch_bytes(
    std::uint64_t count, const DistributionChoice& choice = {});

// Does what sort_pairs does, with the same arguments, requirements and errors; scratch of
// sort_pairs_by_distribution_scratch_bytes. The output is the same bytes, whatever the seed. The
// call may be captured in a CUDA graph; replays take the sample at the same places. Cards whose
// blocks have less than 163 KB of shared memory sort as sort_pairs.
template <class Key, class Value>
void sort_pairs_by_distribution(const PairSort<Key, Value>& sort,
                                const DistributionChoice& choice = {});

}  // namespace gsort::gpu
