// Sorting pairs of keys and values that lie in device memory by two distributions and a sort of
// tiles, or, if keys have 32 bits, by digits (gpu/records/device_digit_sort.hpp): what sort_pairs
// (gpu/records/device_pairs.hpp) does, with other kernels. The essay is in
// device_pair_distribute.cpp. Any host code may include this file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/distribute/device_distribute.hpp"
#include "gpu/records/device_pairs.hpp"

namespace gsort::gpu {

// This many pairs or more with keys of 64 bits are distributed twice; sort_pairs sorts fewer. On an
// H100, 2^22 random pairs of u64 with u32 take 0.32 ms instead of 0.38, of u64 with u64 0.34
// instead of 0.44; 2^28 take 14.9 instead of 19.8, and 17.3 instead of 24.9. Eleven distributions
// were measured at these counts; only sawtooth (u64 with u32, 1.05 times) takes longer.
inline constexpr std::uint64_t kLeastDistributedPairs = std::uint64_t{1} << 22;
// This many pairs or more with keys of 32 bits are sorted by digits; sort_pairs sorts fewer.
inline constexpr std::uint64_t kLeastPairsByDigits = std::uint64_t{1} << 16;

// Whether this many pairs with keys of 32 bits are sorted by digits.
[[nodiscard]] bool are_sorted_by_digits(std::uint64_t count, const DistributionChoice& choice);

// Device memory that sort_many_pairs needs for `count` pairs and the same choice: one more array of
// keys and one of values and, from 2^23 pairs on, at most 6% of both. By default: never less for a
// larger count.
// Throws: as sort_pairs_scratch_bytes.
template <class Key, class Value>
[[nodiscard]] std::size_t sort_many_pairs_scratch_bytes(std::uint64_t count,
                                                        const DistributionChoice& choice = {});

// Does what sort_pairs does, with the same arguments, requirements and errors; scratch of
// sort_many_pairs_scratch_bytes. The output is the same bytes, whatever the seed. The call may be
// captured in a CUDA graph; replays take the sample at the same places. Cards whose blocks have
// less than 163 KB of shared memory sort keys of 64 bits as sort_pairs.
template <class Key, class Value>
void sort_many_pairs(const PairSort<Key, Value>& sort, const DistributionChoice& choice = {});

}  // namespace gsort::gpu
