// Sorting keys, or pairs of keys of 32 bits, by one distribution: what sort_keys_by_distribution
// and sort_pairs_by_distribution do with few of them. The essay is in distribute_once.cpp. Host
// code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/distribute/device_distribute.hpp"
#include "gpu/records/device_pairs.hpp"
#include "gpu/records/elements.hpp"

namespace gsort::gpu {

template <class Key, class Value>
inline constexpr bool kAreDistributedOnce = !kHasValues<Value> || sizeof(Key) == 4;

// Whether this many elements are distributed once.
template <class Key, class Value = NoValue>
[[nodiscard]] bool are_distributed_once(std::uint64_t count, const DistributionChoice& choice);

// Whether the kernels fit the shared memory of a block.
template <class Key, class Value = NoValue>
[[nodiscard]] bool once_fits_block(std::uint64_t count, unsigned shared_bytes);

template <class Key, class Value = NoValue>
[[nodiscard]] std::size_t sort_once_scratch_bytes(std::uint64_t count,
                                                  const DistributionChoice& choice);

// Requires: the memory has been checked. For keys alone, the values are null. If output.keys
// is null, keys are not written. If input.values is null, the values are the numbers of the pairs.
template <class Key, class Value = NoValue>
void sort_once(const PairSort<Key, Value>& sort, const DistributionChoice& choice);

}  // namespace gsort::gpu
