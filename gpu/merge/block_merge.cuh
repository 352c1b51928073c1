// One two-way merge level by a thread block, in shared memory without bank conflicts;
// gather_index.hpp explains the index arithmetic. A tile is rows of E words and one pad word;
// thread t works on row t.
//
// Threads: row t of a region makes the region's outputs [tE, (t+1)E) in registers.
// Shared memory a level and thread: about log2(rows) + log2(E) + 1 pairs of reads (search), E reads
// (gather), E writes (store), all but the search free of conflicts. Three barriers, of the warp
// alone while regions have at most 32 rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "element/key.hpp"
#include "gpu/cuda/shared_memory.cuh"
#include "gpu/merge/gather_index.hpp"
#include "gpu/merge/merge_pass.hpp"
#include "gpu/merge/thread_sort.hpp"

namespace gsort::gpu {

// The rows that merge two lists: a_words words of A ascending, then B descending to the region's
// end.
struct MergeRegion {
  unsigned first_row = 0;
  unsigned rows = 0;  // 0: this thread has nothing to do
  unsigned a_words = 0;
};

// The words of a region, by 32-bit addresses: with pointers the search would take twice the
// instructions.
template <class Key, unsigned kRowWords>
struct RegionWords;

// A tile in shared memory. Words are counted without the pads, places with them.
template <class Key, unsigned kRowWords>
struct TileWords {
  static constexpr unsigned kRowStride = kRowWords + 1;
  static constexpr unsigned kWarpStride = 32 + 32 / kRowWords;  // 32 words further, in the array
  static_assert(32 % kRowWords == 0);

  Key* words;

  static __device__ TileWords in(unsigned char* memory, unsigned /*rows*/) {
    return {reinterpret_cast<Key*>(memory)};
  }
  static __device__ constexpr unsigned place_of(unsigned word) { return word + word / kRowWords; }
  // One row more than the tile has: a search may read, and not use, the row after the last.
  static constexpr unsigned bytes(unsigned rows) { return (rows + 1) * kRowStride * sizeof(Key); }

  // The words from `place` on; get() and put() count from there.
  __device__ TileWords at(std::ptrdiff_t place) const { return {words + place}; }
  __device__ Key get(int place) const { return words[place]; }
  __device__ void put(int place, Key key) const { words[place] = key; }
  __device__ RegionWords<Key, kRowWords> region(unsigned first_row) const {
    return {shared_address(words + first_row * kRowStride)};
  }
};

// The word that goes behind all others of its type.
template <class Key>
__device__ constexpr Key greatest_word() {
  if constexpr (std::is_integral_v<Key> || kIsWide<Key>) {
    return static_cast<Key>(~Key{0});
  } else {
    return Key::fill();
  }
}

// The threads that share a region: one warp, or the block. A region within one warp needs no
// barrier of the block.
enum class Sharers : std::uint8_t { kWarp, kBlock };

template <Sharers kSharers>
__device__ void sync_sharers() {
  if constexpr (kSharers == Sharers::kWarp) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

template <class Key, unsigned kRowWords>
struct RegionWords {
  unsigned origin;

  __device__ unsigned place_of(unsigned row) const {
    return origin + row * (TileWords<Key, kRowWords>::kRowStride * sizeof(Key));
  }
  __device__ Key read(unsigned place, unsigned residue) const {
    Key key;
    thread_load_shared(place + residue * static_cast<unsigned>(sizeof(Key)), key);
    return key;
  }
};

// Reads the words of residues 0 .. kRowWords - 1 of the thread's parts of A and B.
template <class Key, unsigned kRowWords>
__device__ void thread_gather(const RegionWords<Key, kRowWords>& region, const GatherRows& rows,
                              Key (&keys)[kRowWords]) {
  const GatherOffsets offsets = gather_offsets(rows, (kRowWords + 1) * sizeof(Key), region.origin);
  static_for<kRowWords>([&](auto residue) {
    constexpr unsigned kResidue = decltype(residue)::value;
    thread_load_shared<kResidue * sizeof(Key)>(offsets.row_offset(static_cast<float>(kResidue)),
                                               keys[kResidue]);
  });
}

// Merges this thread's region and leaves row `row` of the result, ascending, in `keys`.
// Requires: the tile's words are visible to the sharers of the region, and all of them call this.
// Ensures: none of them still reads the region. `co_ranks` is shared scratch, an entry a thread.
template <Sharers kSharers, class Key, unsigned kRowWords>
__device__ void block_merge_level(TileWords<Key, kRowWords> tile, MergeRegion region, unsigned row,
                                  unsigned* co_ranks, Key (&keys)[kRowWords]) {
  const RegionWords<Key, kRowWords> words = tile.region(region.first_row);
  const unsigned region_row = row - region.first_row;
  unsigned a_begin = 0;
  if (region.rows != 0) {
    a_begin = row_co_rank<kRowWords>(region_row, region.rows, region.a_words, words);
  }
  unsigned a_end = 0;
  if constexpr (kSharers == Sharers::kWarp) {
    a_end = __shfl_down_sync(kWholeWarp, a_begin, 1);
  } else {
    co_ranks[row] = a_begin;
    __syncthreads();  // all co-ranks are written
    a_end = co_ranks[row + 1];
  }
  if (region_row + 1 == region.rows) a_end = region.a_words;
  if (region.rows != 0) {
    thread_gather(words, gather_rows<kRowWords>(region_row, region.rows, a_begin, a_end), keys);
  }
  sync_sharers<kSharers>();  // all words are in registers: rows may be written
  if (region.rows != 0) thread_sort_bitonic(keys);
}

// Writes a thread's keys as row `row` of an ascending list.
template <class Key, unsigned kRowWords>
__device__ void thread_store_row(TileWords<Key, kRowWords> tile, unsigned row,
                                 const Key (&keys)[kRowWords]) {
  const auto to = tile.at(row * tile.kRowStride);
#pragma unroll
  for (int j = 0; j < int{kRowWords}; ++j) to.put(j, keys[j]);
}

// The same for a list that the next level reads reversed: its rows [first_row, first_row + rows)
// are mirrored, and so are the words of each.
template <class Key, unsigned kRowWords>
__device__ void thread_store_row_reversed(TileWords<Key, kRowWords> tile, unsigned row,
                                          unsigned first_row, unsigned rows,
                                          const Key (&keys)[kRowWords]) {
  const auto to = tile.at((2 * first_row + rows - 1 - row) * tile.kRowStride);
#pragma unroll
  for (int j = 0; j < int{kRowWords}; ++j) to.put(int{kRowWords} - 1 - j, keys[j]);
}

}  // namespace gsort::gpu
