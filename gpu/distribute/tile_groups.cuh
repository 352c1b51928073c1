// TileGroups: which bin a word of a tile belongs to, once the tile lies bin by bin in shared
// memory.
//
// Problem. A bin has about as many keys of a tile as a warp has lanes, some more and some fewer. A
// warp that writes one bin after the other has idle lanes, and many instructions for each bin.
//
// Idea. Neighbouring lanes write neighbouring words. The keys of one bin are a group, and groups
// are numbered in order. 32 words are a row. A row has a mark, a bit, for each word where a group
// begins, but for its first word, whose group it has as a number. The group of any other word is
// that number and the marks up to the word, counted.
//
// Example. Groups begin at words 0, 30, 33 and 40. Row 0 has group 0 and mark 30. Row 1 has group 1
// and marks 1 and 8, so word 41 is of group 1 + 2.
#pragma once

#include <cstdint>

#include "gpu/distribute/block_sum.cuh"
#include "gpu/distribute/launch.hpp"
#include "gpu/merge/find_last.hpp"

namespace gsort::gpu {

// Place: where the words of a group go.
template <class Place, unsigned kTileKeys>
struct TileGroups {
  static constexpr unsigned kRows = kTileKeys / 32;

  std::uint32_t marks[kRows];
  std::uint16_t row_groups[kRows];  // of first words
  std::uint16_t begins[kMostBins];
  Place places[kMostBins];
  bool is_final[kMostBins];  // not sorted any more
  unsigned warp_sums[32];

  // The group of the word of `row` that has the lane's number.
  [[nodiscard]] __device__ unsigned group_of(unsigned row) const {
    const std::uint32_t up_to_lane = (2U << threadIdx.x % 32) - 1;
    return row_groups[row] +
           static_cast<unsigned>(__popc(static_cast<int>(marks[row] & up_to_lane)));
  }
};

// The group of the bin that has the thread's number.
struct ThreadGroup {
  unsigned count;  // its words; 0: there is no such group
  unsigned begin;  // its first word, or that of the next group
  unsigned number;
  unsigned groups;  // of the tile
};

// Numbers the groups and marks where they begin; thread t has `count` words of bin t. Ends with no
// barrier. Requires: the marks are clear. All threads of the block call this.
template <unsigned kThreads, class Groups>
__device__ ThreadGroup block_number_groups(unsigned count, Groups& groups) {
  static_assert(kThreads >= Groups::kRows && kThreads >= kMostBins);
  unsigned total = 0;  // groups << 16 | words
  const unsigned before =
      block_exclusive_sum<kThreads>(count | (count != 0 ? 1U << 16 : 0U), groups.warp_sums, total);
  const ThreadGroup own{count, before & 0xffffU, before >> 16, total >> 16};
  if (count != 0) {
    groups.begins[own.number] = static_cast<std::uint16_t>(own.begin);
    if (own.begin % 32 != 0) atomicOr(&groups.marks[own.begin / 32], 1U << own.begin % 32);
  }
  return own;
}

// Sets the group of the row that has the thread's number, in a tile of `words` words with so many
// groups. Requires: all know where groups begin.
template <class Groups>
__device__ void thread_find_row_group(unsigned group_count, unsigned words, Groups& groups) {
  const unsigned row = threadIdx.x;
  if (32 * row >= words) return;
  groups.row_groups[row] = static_cast<std::uint16_t>(
      find_last(group_count, 32 * row, [&](std::uint64_t group) { return groups.begins[group]; }));
}

// The compiler cannot see that a pointer from shared memory points to device memory.
template <class Word>
__device__ Word* assume_global(Word* pointer) {
#ifdef __CUDA_ARCH__
  __builtin_assume(__isGlobal(pointer) != 0);
#endif
  return pointer;
}

}  // namespace gsort::gpu
