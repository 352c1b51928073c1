// One two-way merge level by a thread block, in shared memory without bank conflicts;
// gather_index.hpp explains the index arithmetic. A tile is rows of E words and one pad word;
// thread t works on row t.
//
// Threads: row t of a region makes the region's outputs [tE, (t+1)E) in registers.
// Shared memory a level and thread: about log2(rows) + log2(E) + 1 pairs of reads (search), E reads
// (gather), E writes (store), all but the search free of conflicts. Three barriers.
#pragma once

#include <cstdint>

#include "gpu/gather_index.hpp"
#include "gpu/thread_sort.hpp"

namespace gsort::gpu {

// The rows that merge two lists: a_words words of A ascending, then B descending to the region's
// end.
struct MergeRegion {
  unsigned first_row = 0;
  unsigned rows = 0;  // 0: this thread has nothing to do
  unsigned a_words = 0;
};

// A tile in shared memory. Words are counted without the pads.
template <class Key, unsigned kRowWords>
struct TileWords {
  static constexpr unsigned kRowStride = kRowWords + 1;
  static constexpr unsigned kWarpStride = 32 + 32 / kRowWords;  // 32 words further, in the array
  static_assert(32 % kRowWords == 0);

  Key* words;

  static __device__ constexpr unsigned place_of(unsigned word) { return word + word / kRowWords; }
  // One row more than the tile has: a search may read, and not use, the row after the last.
  static constexpr unsigned bytes(unsigned rows) { return (rows + 1) * kRowStride * sizeof(Key); }

  __device__ Key* row(unsigned index) const { return words + index * kRowStride; }
};

// Merges this thread's region and leaves row `row` of the result, ascending, in `keys`.
// Requires: the tile's words are visible to the block. Ensures: no thread still reads the tile.
// `co_ranks` is shared scratch, an entry a thread.
template <class Key, unsigned kRowWords>
__device__ void block_merge_level(TileWords<Key, kRowWords> tile, MergeRegion region, unsigned row,
                                  unsigned* co_ranks, Key (&keys)[kRowWords]) {
  const Key* const region_words = tile.row(region.first_row);
  const auto read = [&](unsigned r, unsigned residue) {
    return region_words[r * TileWords<Key, kRowWords>::kRowStride + residue];
  };
  unsigned a_begin = 0;
  if (region.rows != 0) {
    a_begin = row_co_rank<kRowWords>(row - region.first_row, region.rows, region.a_words, read);
  }
  co_ranks[row] = a_begin;
  __syncthreads();  // all co-ranks are written
  if (region.rows != 0) {
    const bool last = row + 1 == region.first_row + region.rows;
    const unsigned a_end = last ? region.a_words : co_ranks[row + 1];
    const GatherRows rows =
        gather_rows<kRowWords>(row - region.first_row, region.rows, a_begin, a_end);
    const Key* const first = &region_words[rows.first_row * (kRowWords + 1)];
    const Key* const second = &region_words[rows.second_row * (kRowWords + 1)];
    const Key* const third = &region_words[rows.third_row * (kRowWords + 1)];
#pragma unroll
    for (unsigned j = 0; j < kRowWords; ++j) {
      const Key* const from = j < rows.first_end ? first : (j < rows.second_end ? second : third);
      keys[j] = from[j];
    }
  }
  __syncthreads();  // all words are in registers: rows may be written
  if (region.rows != 0) thread_sort_bitonic(keys);
}

// Writes a thread's keys as row `row` of an ascending list.
template <class Key, unsigned kRowWords>
__device__ void thread_store_row(TileWords<Key, kRowWords> tile, unsigned row,
                                 const Key (&keys)[kRowWords]) {
  Key* const to = tile.row(row);
#pragma unroll
  for (unsigned j = 0; j < kRowWords; ++j) to[j] = keys[j];
}

// The same for a list that the next level reads reversed: its rows [first_row, first_row + rows)
// are mirrored, and so are the words of each.
template <class Key, unsigned kRowWords>
__device__ void thread_store_row_reversed(TileWords<Key, kRowWords> tile, unsigned row,
                                          unsigned first_row, unsigned rows,
                                          const Key (&keys)[kRowWords]) {
  Key* const to = tile.row(2 * first_row + rows - 1 - row);
#pragma unroll
  for (unsigned j = 0; j < kRowWords; ++j) to[kRowWords - 1 - j] = keys[j];
}

}  // namespace gsort::gpu
