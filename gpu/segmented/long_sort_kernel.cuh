// long_sort_kernel: sorts each tile of arrays that are longer than a tile. listed_tile_sort_kernel:
// the same for listed arrays, and those of them that take one tile of their own.
// long_arrays.hpp says which tile belongs to which array.
//
// Threads: block b sorts tile b, or those that it takes (taken_jobs.cuh), thread t makes row t.
// Shared memory: the tile, rows of E words and a pad; one co-rank a thread.
// Device memory: each key is read once, and each word is written once; the elements of an array of
// one tile are stored as batch_ends.hpp says.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/segmented/batch_tile.cuh"
#include "gpu/segmented/launch.hpp"

namespace gsort::gpu {

// Sorts tile `number`, if it exists.
template <unsigned kThreads, unsigned kRowWords, class Ends>
__device__ void block_sort_long_tile(const Ends& ends,
                                     const LongSortPass<typename Ends::Word>& tiles,
                                     std::uint64_t number) {
  using Key = typename Ends::Key;
  using Word = typename Ends::Word;
  constexpr unsigned kTileKeys = kThreads * kRowWords;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ unsigned co_ranks[kThreads + 1];
  const TileWords<Word, kRowWords> tile{reinterpret_cast<Word*>(shared_bytes)};
  __shared__ SortedTile found;
  if (threadIdx.x == 0) found = sorted_tile(tiles.arrays, tiles.passes, number);
  __syncthreads();  // the tile's place is known
  const unsigned count = found.count;
  if (count == 0) return;

  const unsigned row = threadIdx.x;
  const unsigned warp_word = row / 32 * 32 * kRowWords;
  const TileRow<std::uint32_t> place = row_of_list(0U, count, row, kRowWords);
  const Key* const from = ends.keys_in + found.begin;
  const bool vectors = warp_word + 32 * kRowWords <= count &&
                       reinterpret_cast<std::uintptr_t>(from) % sizeof(KeyVector<Key>) == 0;
  Word words[kRowWords] = {};
  if (warp_word < count) {
    const TileOrigin origin{found.begin, static_cast<unsigned>(found.in_array)};
    if (vectors) {
      warp_load_vectors<kRowWords>(tile, ends, found.begin + warp_word, origin, place, kRowWords,
                                   words);
    } else {
      warp_load_rows<kRowWords>(tile, ends, origin, place, kRowWords, words);
    }
    thread_sort(words);
  }
  block_sort_lists(tile, row, place, (count + kRowWords - 1) / kRowWords, true, co_ranks, words);
  if (warp_word >= count) return;
  thread_store_row(tile, row, words);

  if (found.passes == 0) {
    warp_store_array(tile, ends, found.begin, count);
    return;
  }
  Word* const to = found.passes % 2 == 0 ? tiles.after_even_passes : tiles.after_odd_passes;
  Word* const samples =
      tiles.samples + samples_of_tile(found.number, kTileKeys, kWrittenSampleShift<Word>);
  warp_store_tile(tile, TileTarget<Word>{to + found.begin, count, samples, 0, false, {}});
}

template <class Ends, unsigned kThreads, unsigned kRowWords, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    long_sort_kernel(const __grid_constant__ LongTilesPass<Ends> pass) {
  grid_begin();
  block_sort_long_tile<kThreads, kRowWords>(pass.ends, pass.tiles, blockIdx.x);
}

template <class Ends, unsigned kThreads, unsigned kRowWords, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    listed_tile_sort_kernel(const __grid_constant__ LongTilesPass<Ends> pass) {
  grid_begin();
  const LongArrays& arrays = pass.tiles.arrays;
  block_take_jobs(arrays.listed_tiles(), &arrays.counts->taken_tiles, [&](std::uint64_t tile) {
    block_sort_long_tile<kThreads, kRowWords>(pass.ends, pass.tiles, tile);
  });
}

}  // namespace gsort::gpu
