// Merging two small sorted arrays of 8- or 16-bit keys, with values or without: every element finds
// its place in the output by itself, which is its own number and how many elements of the other
// array come before it. One search an element, all at the same time; where there are fewer elements
// than a table has entries, that is less than counting (counted_merge.hpp).
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "base/key.hpp"

namespace gsort::gpu {

// Larger merges are counted: on an H200 that is faster from 2^20 keys of 8 bits on (0.020 ms for
// 0.022) and from 2^21 of 16 bits.
inline constexpr std::uint64_t kMostRankedKeys = std::uint64_t{1} << 19;

template <class Key, class Value>
struct RankedMerge {
  const Key* first = nullptr;
  const Key* second = nullptr;
  Key* output = nullptr;
  std::uint32_t first_count = 0;
  std::uint32_t second_count = 0;
  KeyMap<Key> store_map;
  const Value* first_values = nullptr;
  const Value* second_values = nullptr;
  Value* values_out = nullptr;  // nullptr: there are no values
};

// Queues the merge. Throws: Error(kDevice) naming the kernel.
template <class Key, class Value>
void launch_ranked_merge(const RankedMerge<Key, Value>& merge, unsigned architecture,
                         cudaStream_t stream);

}  // namespace gsort::gpu
