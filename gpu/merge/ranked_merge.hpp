// Merging two small sorted arrays of 8- or 16-bit keys, with values or without: every element finds
// its place in the output by itself, which is its own number and how many elements of the other
// array come before it. One search an element, all at the same time, and one launch; counting
// (counted_merge.hpp) takes four, and a search for every key that there can be.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"

namespace gsort::gpu {

// Larger merges are counted. On an H200, keys alone, ms by ranks and by counting: 2^18 u8 keys
// 0.009 and 0.021, 2^20 0.022 and 0.020; 2^20 u16 keys 0.023 and 0.026, 2^22 0.081 and 0.045. Pairs
// were not compared.
template <class Key>
inline constexpr std::uint64_t kMostRankedKeys = std::uint64_t{1} << (sizeof(Key) == 1 ? 19 : 20);

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

  // Requires: a_count + b_count <= kMostRankedKeys.
  [[nodiscard]] static RankedMerge of_keys(const Key* a, std::uint64_t a_count, const Key* b,
                                           std::uint64_t b_count, Key* output,
                                           KeyMap<Key> store_map) {
    RankedMerge merge;
    merge.first = a;
    merge.second = b;
    merge.output = output;
    merge.first_count = static_cast<std::uint32_t>(a_count);
    merge.second_count = static_cast<std::uint32_t>(b_count);
    merge.store_map = store_map;
    return merge;
  }
};

// Queues the merge. Throws: Error(kDevice) naming the kernel.
template <class Key, class Value>
void launch_ranked_merge(const RankedMerge<Key, Value>& merge, unsigned architecture,
                         cudaStream_t stream);

}  // namespace gsort::gpu
