// Sorting keys by one distribution: what sort_keys_by_distribution does with few of them. The essay
// is in distribute_once.cpp. Host code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/distribute/device_distribute.hpp"

namespace gsort::gpu {

// Whether this many keys are distributed once.
template <class Key>
[[nodiscard]] bool are_distributed_once(std::uint64_t count, const DistributionChoice& choice);

// Whether the kernels fit the shared memory of a block.
template <class Key>
[[nodiscard]] bool once_fits_block(std::uint64_t count, unsigned shared_bytes);

template <class Key>
[[nodiscard]] std::size_t sort_once_scratch_bytes(std::uint64_t count,
                                                  const DistributionChoice& choice);

// Requires: the memory has been checked.
template <class Key>
void sort_once(const KeySort<Key>& sort, const DistributionChoice& choice);

}  // namespace gsort::gpu
