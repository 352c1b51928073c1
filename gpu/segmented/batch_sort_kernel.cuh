// batch_sort_kernel: sorts arrays of one length, of a tile at most; tile_lists.hpp says how tiles
// hold them.
//
// Threads: block b sorts the arrays of tile b; thread t sorts the lists of row t in registers, then
// makes row t in the merge levels that join the rows of an array; none for arrays of a row or less.
// Shared memory: the tile, rows of E words and a pad; one co-rank a thread if arrays have rows to
// join.
// Device memory: each key is read once and written once, and so is each value.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/segmented/batch_tile.cuh"
#include "gpu/segmented/launch.hpp"

namespace gsort::gpu {

// Threads x E is the tile; kListWords is the layout's list_words.
template <class Ends, unsigned kThreads, unsigned kRowWords, unsigned kListWords,
          unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    batch_sort_kernel(const __grid_constant__ BatchSortPass<Ends> pass) {
  using Word = typename Ends::Word;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const TileWords<Word, kRowWords> tile{reinterpret_cast<Word*>(shared_bytes)};
  const unsigned row = threadIdx.x;
  const std::uint64_t tile_begin = pass.layout.tile_begin(blockIdx.x);
  const unsigned count = pass.layout.keys_of_tile(blockIdx.x);
  const TileRow<std::uint32_t> place = pass.layout.row_of(count, row);
  const unsigned warp_word = row / 32 * 32 * kRowWords;
  const bool vectors = pass.vectors && warp_word + 32 * kRowWords <= count;

  grid_begin();
  Word words[kRowWords] = {};
  const bool works = __any_sync(kWholeWarp, place.count != 0);
  if (works) {
    const TileOrigin origin{tile_begin};
    const unsigned array_keys = pass.layout.array_keys;
    if (vectors) {
      warp_load_vectors<kListWords>(tile, pass.ends, tile_begin + warp_word, origin, place,
                                    array_keys, words);
    } else {
      warp_load_rows<kListWords>(tile, pass.ends, origin, place, array_keys, words);
    }
    thread_sort_lists<kListWords>(words);
  }
  if constexpr (kListWords == kRowWords) {
    __shared__ unsigned co_ranks[kThreads + 1];
    block_sort_lists(tile, row, place, pass.layout.item_rows, pass.layout.lists_in_warps, co_ranks,
                     words);
  }
  if (!works) return;
  thread_store_row(tile, row, words);
  if (vectors) {
    warp_store_array(tile, pass.ends, tile_begin, count);
  } else {
    warp_store_rows<kListWords>(tile, pass.ends, tile_begin,
                                pass.layout.row_of(count, thread_forget(row)),
                                pass.layout.array_keys);
  }
}

}  // namespace gsort::gpu
