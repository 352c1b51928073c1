// batch_sort_kernel: sorts arrays of one length, of a tile at most; tile_lists.hpp says how tiles
// hold them.
//
// Threads: block b sorts the arrays of tile b; thread t sorts the lists of row t in registers, then
// makes row t in the merge levels that join the rows of an array; none for arrays of a row or less.
// Shared memory: the tile, rows of E words and a pad; one co-rank a thread if arrays have rows to
// join.
// Device memory: each key is read once and written once, 2 * sizeof(Key) bytes an element.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/segmented/batch_tile.cuh"
#include "gpu/segmented/launch.hpp"

namespace gsort::gpu {

// Threads x E is the tile; kListWords is the layout's list_words.
template <class Key, unsigned kThreads, unsigned kRowWords, unsigned kListWords,
          unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    batch_sort_kernel(const BatchSortPass<Key> pass) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const TileWords<Key, kRowWords> tile{reinterpret_cast<Key*>(shared_bytes)};
  const unsigned row = threadIdx.x;
  const std::uint64_t tile_begin = pass.layout.tile_begin(blockIdx.x);
  const unsigned count = pass.layout.keys_of_tile(blockIdx.x);
  const TileRow<std::uint32_t> place = pass.layout.row_of(count, row);
  const unsigned warp_word = row / 32 * 32 * kRowWords;
  const bool vectors = pass.vectors && warp_word + 32 * kRowWords <= count;

  grid_begin();
  Key keys[kRowWords] = {};
  const bool works = __any_sync(kWholeWarp, place.count != 0);
  if (works) {
    const EndMaps<Key>& maps = pass.maps;
    const Key* const from = pass.input + tile_begin;
    if (vectors) {
      warp_load_vectors(tile, {from + warp_word, maps.loads_mapped, maps.load_map}, keys);
    } else {
      warp_load_rows<kListWords>(tile, {from, maps.loads_mapped, maps.load_map}, place,
                                 pass.layout.array_keys, keys);
    }
    thread_sort_lists<kListWords>(keys);
  }
  if constexpr (kListWords == kRowWords) {
    __shared__ unsigned co_ranks[kThreads + 1];
    block_sort_lists(tile, row, place, pass.layout.item_rows, pass.layout.lists_in_warps, co_ranks,
                     keys);
  }
  if (!works) return;
  thread_store_row(tile, row, keys);
  Key* const to = pass.output + tile_begin;
  if (vectors) {
    warp_store_tile(
        tile, TileTarget<Key>{to, count, nullptr, 0, pass.maps.stores_mapped, pass.maps.store_map});
  } else {
    warp_store_rows<kListWords>(
        tile, MappedKeys<Key*, Key>{to, pass.maps.stores_mapped, pass.maps.store_map},
        pass.layout.row_of(count, thread_forget(row)), pass.layout.array_keys);
  }
}

}  // namespace gsort::gpu
