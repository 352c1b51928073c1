// packed_sort_kernel: sorts the packed tiles that cell_sort_kernel has left, each as one list,
// where they lie, and the tiles of long arrays (long_sort_kernel.cuh).
//
// Threads: a block sorts the tiles that it takes (taken_jobs.cuh), thread t makes row t.
// Shared memory: the tile, rows of E words and a pad; one co-rank a thread.
// Device memory: each key is read and written once. A tile begins anywhere: it is loaded and stored
// as vectors from the last multiple of 16 bytes on; what is not its own becomes the greatest key.
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

// The reverse: key i of the tile, a list, goes to to[begin + i].
template <unsigned kThreads, class Key, unsigned kRowWords>
__device__ void block_store_window(TileWords<Key, kRowWords> tile, Key* to, unsigned begin,
                                   unsigned count, const EndMaps<Key>& maps) {
  using Vector = KeyVector<Key>;
  auto* const vectors = reinterpret_cast<Vector*>(to);
  const auto stored = [&](unsigned word) {
    const Key key = tile.words[tile.place_of(word)];
    return maps.stores_mapped ? maps.store_map.to_raw(key) : key;
  };
  __syncthreads();  // all rows are written: a vector may have keys of two warps
#pragma unroll 4
  for (unsigned i = 0; i < kRowWords / Vector::kKeys; ++i) {
    const unsigned word = (i * kThreads + threadIdx.x) * Vector::kKeys;
    if (word >= begin && word + Vector::kKeys <= begin + count) {
      Vector vector;
#pragma unroll
      for (unsigned j = 0; j < Vector::kKeys; ++j) vector.keys[j] = stored(word - begin + j);
      vectors[i * kThreads + threadIdx.x] = vector;
    } else {
#pragma unroll
      for (unsigned j = 0; j < Vector::kKeys; ++j) {
        const bool is_own = word + j >= begin && word + j < begin + count;
        if (is_own) to[word + j] = stored(word + j - begin);
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
  const Key* const from = pass.input + array.begin;
  Key* const to = pass.after_even_passes + array.begin;
  const auto skipped = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) %
                                             sizeof(KeyVector<Key>) / sizeof(Key));
  Key keys[kRowWords];
  thread_load_window<Key, kThreads>(from - skipped, skipped, count, keys);
  block_sort_rows<kThreads>(tile, co_ranks, keys);
  block_store_window<kThreads>(tile, to - skipped, skipped, count, pass.maps);
}

template <class Key, unsigned kThreads, unsigned kRowWords, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    packed_sort_kernel(const __grid_constant__ PackedSortPass<Key> pass) {
  __shared__ unsigned co_ranks[kThreads + 1];
  grid_begin();
  const LongSortPass<Key>& tiles = pass.buckets;
  const KeyEnds<Key> ends{tiles.input, tiles.after_even_passes, tiles.maps};
  const std::uint64_t long_tiles = LongTicket::tiles(pass.counts->lists.long_ticket);
  block_take_jobs(tiles.arrays.listed_tiles(), &pass.counts->lists.taken_tiles,
                  [&](std::uint64_t tile) {
                    if (tile < long_tiles) {
                      block_sort_long_tile<kThreads, kRowWords>(ends, tiles, tile);
                    } else {
                      block_sort_packed_tile<kThreads, kRowWords>(
                          tiles, tiles.arrays.tile_arrays[tile - long_tiles], co_ranks);
                    }
                  });
}

}  // namespace gsort::gpu
