// packed_pair_sort_kernel: packed_sort_kernel for pairs: sorts the packed tiles that
// cell_pair_sort_kernel has left stably, each as one list, and the tiles of long arrays.
// listed_pair_merge_kernel: a merge pass over long arrays.
//
// Threads: a block sorts the tiles that it takes (taken_jobs.cuh), as pair_sort_kernel does, or
// merges the tiles between the rows of cuts that it takes, as pair_merge_kernel does; what those
// say of memory holds here, too.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/distribute/launch.hpp"
#include "gpu/records/pair_merge_kernel.cuh"
#include "gpu/records/pair_sort_kernel.cuh"

namespace gsort::gpu {

// Where a tile lies and where it goes. It lies in shared memory.
template <class Key, class Value>
struct ListedPairPlace {
  const PairLongSortPass<Key, Value>* pass;
  SortedTile tile;
};

// As BlockPairTile.
template <class KeyType, class ValueType>
struct ListedPairTile {
  using Key = KeyType;
  using Value = ValueType;
  static constexpr bool kOftenShort = true;

  const ListedPairPlace<Key, Value>* place;

  [[nodiscard]] __device__ const LongSortPass<Key>& pass() const { return place->pass->keys; }
  [[nodiscard]] __device__ std::uint64_t begin() const { return place->tile.begin; }
  [[nodiscard]] __device__ bool is_even() const { return place->tile.passes % 2 == 0; }
  [[nodiscard]] __device__ const Key* keys() const { return pass().input + begin(); }
  [[nodiscard]] __device__ const Value* values() const { return place->pass->values_in + begin(); }
  [[nodiscard]] __device__ Value* values_out() const {
    return (is_even() ? place->pass->values_after_even_passes
                      : place->pass->values_after_odd_passes) +
           begin();
  }
  [[nodiscard]] __device__ bool loads_mapped() const { return pass().maps.loads_mapped; }
  [[nodiscard]] __device__ const KeyMap<Key>& load_map() const { return pass().maps.load_map; }
  [[nodiscard]] __device__ TileTarget<Key> target(unsigned count) const {
    const bool ends = place->tile.passes == 0;
    Key* const to = is_even() ? pass().after_even_passes : pass().after_odd_passes;
    TileTarget<Key> target{
        to + begin(), count, nullptr, 0, pass().maps.stores_mapped && ends, pass().maps.store_map};
    if (!ends) {
      target.samples = pass().samples + samples_of_tile(place->tile.number, pass().passes.tile_keys,
                                                        kWrittenSampleShift<Key>);
    }
    return target;
  }
};

template <class Key, class Value, unsigned kThreads, unsigned kRowWords, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    packed_pair_sort_kernel(const __grid_constant__ PackedPairSortPass<Key, Value> pass) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ unsigned co_ranks[kThreads + 1];
  __shared__ ListedPairPlace<Key, Value> place;
  grid_begin();
  const PairLongSortPass<Key, Value>& tiles = pass.buckets;
  const LongArrays& arrays = tiles.keys.arrays;
  block_take_jobs(arrays.listed_tiles(), &pass.counts->lists.taken_tiles, [&](std::uint64_t tile) {
    if (threadIdx.x == 0) {
      place = {&tiles, sorted_tile(arrays, tiles.keys.passes, tile)};
    }
    __syncthreads();  // the tile's place is known
    const unsigned count = place.tile.count;
    if (count == 0) return;
    block_sort_pair_tile<kThreads, kRowWords>(ListedPairTile<Key, Value>{&place}, count, co_ranks,
                                              shared_bytes);
  });
}

template <class Key, class Value, unsigned kThreads, unsigned kRowWords, unsigned kFanIn,
          unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    listed_pair_merge_kernel(const __grid_constant__ ListedPairMergePass<Key, Value> pass) {
  grid_begin();
  block_take_jobs(pass.arrays.listed_rows(), &pass.arrays.counts->taken_rows[pass.pass],
                  [&](std::uint64_t row) {
                    block_merge_pair_tile<WrittenCuts, kThreads, kRowWords, kFanIn, false>(
                        pass.merge, row);
                  });
}

}  // namespace gsort::gpu
