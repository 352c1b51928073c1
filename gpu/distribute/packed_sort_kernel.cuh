// packed_sort_kernel: sorts the packed tiles, each as one list, where they lie, and the tiles of
// long arrays (long_sort_kernel.cuh).
//
// Threads: a block sorts the tiles that it takes (taken_jobs.cuh), thread t makes row t.
// Shared memory: the tile, rows of E words and a pad; one co-rank a thread.
// Device memory: each key is read and written once. A tile begins anywhere: it is loaded as vectors
// from the last multiple of 16 bytes on, and what is not its own becomes the greatest key.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/distribute/launch.hpp"
#include "gpu/segmented/long_sort_kernel.cuh"
#include "gpu/sort/block_sort_kernel.cuh"

namespace gsort::gpu {

// Loads the keys [begin, begin + count) of `from` into registers, each into one thread, in any
// order. Requires: begin < the keys of a vector, begin + count <= those of a tile; `from` aligned.
template <class Key, unsigned kThreads, unsigned kRowWords>
__device__ void thread_load_window(const Key* from, unsigned begin, unsigned count,
                                   Key (&keys)[kRowWords]) {
  using Vector = KeyVector<Key>;
  const auto* const vectors = reinterpret_cast<const Vector*>(from);
  const unsigned end = begin + count;
#pragma unroll
  for (unsigned i = 0; i < kRowWords / Vector::kKeys; ++i) {
    const unsigned word = (i * kThreads + threadIdx.x) * Vector::kKeys;
    if (word >= begin && word + Vector::kKeys <= end) {
      const Vector vector = vectors[i * kThreads + threadIdx.x];
#pragma unroll
      for (unsigned j = 0; j < Vector::kKeys; ++j) keys[i * Vector::kKeys + j] = vector.keys[j];
    } else {
#pragma unroll
      for (unsigned j = 0; j < Vector::kKeys; ++j) {
        const bool is_own = word + j >= begin && word + j < end;
        keys[i * Vector::kKeys + j] = is_own ? from[word + j] : static_cast<Key>(~Key{0});
      }
    }
  }
}

template <unsigned kThreads, unsigned kRowWords, class Key>
__device__ void block_sort_packed_tile(const LongSortPass<Key>& pass, const LongArray& array,
                                       unsigned* co_ranks) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const TileWords<Key, kRowWords> tile{reinterpret_cast<Key*>(shared_bytes)};
  const auto count = static_cast<unsigned>(array.length);
  const Key* const first = pass.input + array.begin;
  const auto skipped = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(first) %
                                             sizeof(KeyVector<Key>) / sizeof(Key));
  Key keys[kRowWords];
  thread_load_window<Key, kThreads>(first - skipped, skipped, count, keys);
  block_sort_rows<kThreads>(tile, co_ranks, keys);
  warp_store_tile(tile, TileTarget<Key>{pass.after_even_passes + array.begin, count, nullptr, 0,
                                        pass.maps.stores_mapped, pass.maps.store_map});
}

template <class Key, unsigned kThreads, unsigned kRowWords, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    packed_sort_kernel(const __grid_constant__ PackedSortPass<Key> pass) {
  __shared__ unsigned co_ranks[kThreads + 1];
  grid_begin();
  const LongSortPass<Key>& tiles = pass.counts->merges != 0 ? pass.whole : pass.buckets;
  const std::uint64_t long_tiles = LongTicket::tiles(pass.counts->lists.long_ticket);
  block_take_jobs(tiles.arrays.listed_tiles(), &pass.counts->lists.taken_tiles,
                  [&](std::uint64_t tile) {
                    if (tile < long_tiles) {
                      block_sort_long_tile<kThreads, kRowWords>(tiles, tile);
                    } else {
                      block_sort_packed_tile<kThreads, kRowWords>(
                          tiles, tiles.arrays.tile_arrays[tile - long_tiles], co_ranks);
                    }
                  });
}

}  // namespace gsort::gpu
