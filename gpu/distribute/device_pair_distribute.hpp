// Sorting pairs of keys and values that lie in device memory by two distributions and a block sort:
// what sort_pairs (gpu/records/device_pairs.hpp) does, with other kernels. The essay is in
// device_pair_distribute.cpp. Any host code may include this file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/distribute/device_distribute.hpp"
#include "gpu/records/device_pairs.hpp"

namespace gsort::gpu {

// The least number of pairs that are distributed; sort_pairs sorts fewer. Until both are measured
// on a card, no count reaches it.
inline constexpr std::uint64_t kLeastDistributedPairs = ~std::uint64_t{0};

// Device memory that sort_pairs_by_distribution needs for `count` pairs and the same choice: one
// more array of keys and one of values and, from 2^22 pairs on, at most 6% of both. By default:
// never less for a larger count. Throws: as sort_pairs_scratch_bytes.
template <class Key, class Value>
[[nodiscard]] std::size_t sort_pairs_by_distribution_scratch_bytes(
    std::uint64_t count, const DistributionChoice& choice = {});

// Does what sort_pairs does, with the same arguments, requirements and errors; scratch of
// sort_pairs_by_distribution_scratch_bytes. The output is the same bytes, whatever the seed. The
// call may be captured in a CUDA graph; replays take the sample at the same places. Cards whose
// blocks have less than 227 KB of shared memory sort as sort_pairs.
template <class Key, class Value>
void sort_pairs_by_distribution(const PairSort<Key, Value>& sort,
                                const DistributionChoice& choice = {});

}  // namespace gsort::gpu
