// TileGroups: finds the bin of each word of a tile after the tile has been arranged bin by bin in
// shared memory.
//
// Problem. In a tile, a bin has about as many keys as a warp has lanes, some bins more and some
// fewer. If a warp writes one bin after another, it has idle lanes and needs many instructions for
// each bin.
//
// Idea. Neighbouring lanes write neighbouring words. The keys of one bin are a group, and groups
// are numbered in order. A row is 32 words. For its first word, a row stores the number of the
// group. For each other word, it has a mark: a bit that is set if a group begins there. The group
// of a word is the row's number plus the count of marks up to that word.
//
// Example. Groups begin at words 0, 30, 33 and 40. Row 0 has group 0 and mark 30. Row 1 has group 1
// and marks 1 and 8, so word 41 is in group 1 + 2.
#pragma once

#include <cstdint>

#include "gpu/distribute/launch.hpp"
#include "gpu/merge/block_sum.cuh"
#include "gpu/merge/find_last.hpp"

namespace gsort::gpu {

// Place: the destination of a group's words.
template <class Place, unsigned kTileKeys>
struct TileGroups {
  static constexpr unsigned kRows = kTileKeys / 32;

  std::uint32_t marks[kRows];
  std::uint16_t row_groups[kRows];  // of first words
  std::uint16_t begins[kMostBins];
  Place places[kMostBins];
  bool is_final[kMostBins];  // not sorted any more
  unsigned warp_sums[32];

  // The group of the word in `row` at the lane's index.
  [[nodiscard]] __device__ unsigned group_of(unsigned row) const {
    const std::uint32_t up_to_lane = (2U << threadIdx.x % 32) - 1;
    return row_groups[row] +
           static_cast<unsigned>(__popc(static_cast<int>(marks[row] & up_to_lane)));
  }
};

// The group of the bin whose index is the thread's.
struct ThreadGroup {
  unsigned count;  // its words; 0: there is no such group
  unsigned begin;  // its first word, or that of the next group
  unsigned number;
  unsigned groups;  // of the tile
};

// Numbers the groups and marks where they begin; thread t has `count` words of bin t. Does not end
// with a barrier. Requires: the marks are clear. All threads of the block call this.
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

// Sets the group of the row whose index is the thread's, in a tile of `words` words with this
// number of groups. Requires: all threads can see where groups begin.
template <class Groups>
__device__ void thread_find_row_group(unsigned group_count, unsigned words, Groups& groups) {
  const unsigned row = threadIdx.x;
  if (32 * row >= words) return;
  groups.row_groups[row] = static_cast<std::uint16_t>(
      find_last(group_count, 32 * row, [&](std::uint64_t group) { return groups.begins[group]; }));
}

// The compiler cannot see that a pointer read from shared memory points to device memory.
template <class Word>
__device__ Word* assume_global(Word* pointer) {
#ifdef __CUDA_ARCH__
  __builtin_assume(__isGlobal(pointer) != 0);
#endif
  return pointer;
}

}  // namespace gsort::gpu
