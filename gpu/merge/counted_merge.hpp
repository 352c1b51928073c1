// Merging sorted slices of 8- or 16-bit keys by counting: what such a merge's output looks like is
// known once it is known how many keys of each value there are, and a sorted slice tells that to a
// search for every value. So the input is hardly read, and the output is written from a table.
//
// Cost. 256 or 65,536 searches a slice, and sizeof(Key) bytes written an element. On an H200, two
// halves of 2^30 keys: 0.295 ms (u8) and 0.597 (u16), where CUB's merge takes 1.90 and 2.40 and a
// copy 0.51 and 1.01; of 2^22 keys 0.020 and 0.040, where it takes 0.030 and 0.032. Few keys lie
// far apart among the values: 2^10 take 0.020 and 0.056, and where they are two slices they are
// merged otherwise (ranked_merge.hpp).
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"

namespace gsort::gpu {

// More slices are refused: each costs a search for every value.
inline constexpr std::uint32_t kMostCountedSlices = std::uint32_t{1} << 20;

// Keys of 8 or 16 bits have so many values.
template <class Key>
inline constexpr std::uint32_t kKeyValues = std::uint32_t{1} << (8 * sizeof(Key));

template <class Key>
struct CountedMerge {
  const Key* input = nullptr;
  Key* output = nullptr;
  KeyMap<Key> store_map;
  // Where each slice begins, in keys behind `input` modulo 2^64, then how many keys each has:
  // 2 * slice_count numbers in device memory.
  const std::uint64_t* slices = nullptr;
  std::uint32_t slice_count = 0;
  std::uint64_t total = 0;  // > 0
  // Scratch: where each value's keys begin in the output, and the end: kKeyValues + 1 numbers.
  std::uint64_t* starts = nullptr;
  // The same in the first slice, or nullptr: not wanted. first_starts[0] == 0.
  std::uint64_t* first_starts = nullptr;
};

// Queues the merge. Throws: Error(kDevice) naming the kernel.
template <class Key>
void launch_counted_merge(const CountedMerge<Key>& merge, unsigned architecture,
                          cudaStream_t stream);

}  // namespace gsort::gpu
