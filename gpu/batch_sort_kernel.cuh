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

#include "gpu/batch_pass.hpp"
#include "gpu/batch_tile.cuh"

namespace gsort::gpu {

// Threads x E is the tile; kListWords is the layout's list_words.
template <class Key, unsigned kThreads, unsigned kRowWords, unsigned kListWords,
          unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    batch_sort_kernel(const BatchSortPass<Key> pass) {
  constexpr unsigned kTileKeys = kThreads * kRowWords;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const TileWords<Key, kRowWords> tile{reinterpret_cast<Key*>(shared_bytes)};
  const unsigned row = threadIdx.x;
  const TileRow place = pass.layout.row_of(blockIdx.x, row);
  const std::uint64_t tile_begin = std::uint64_t{blockIdx.x} * kTileKeys;  // of a dense tile
  const std::uint64_t warp_begin = tile_begin + row / 32 * 32 * kRowWords;
  const bool vectors = pass.vectors && warp_begin + 32 * kRowWords <= pass.layout.total_keys;

  Key keys[kRowWords] = {};
  const bool works = __any_sync(kWholeWarp, place.count != 0);
  if (works) {
    const EndMaps<Key>& maps = pass.maps;
    if (vectors) {
      warp_load_vectors(tile, {pass.input + warp_begin, maps.loads_mapped, maps.load_map}, keys);
    } else {
      warp_load_rows<kListWords>(tile, {pass.input, maps.loads_mapped, maps.load_map}, place,
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
  if (vectors) {
    warp_store_tile(tile, TileTarget<Key>{pass.output + tile_begin, kTileKeys, nullptr, 0,
                                          pass.maps.stores_mapped, pass.maps.store_map});
  } else {
    warp_store_rows<kListWords>(
        tile, MappedKeys<Key*, Key>{pass.output, pass.maps.stores_mapped, pass.maps.store_map},
        place, pass.layout.array_keys);
  }
}

}  // namespace gsort::gpu
