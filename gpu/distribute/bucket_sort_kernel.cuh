// bucket_sort_kernel: sorts the buckets of one distribution, each as a tile by its cells
// (cell_sort_kernel.cuh).
//
// If a bucket has too many keys in one cell, it is sorted by merging. A bucket that is
// longer than a tile is copied and listed as a long array (long_arrays.hpp), or only copied if its
// keys are equal.
//
// Threads: a block sorts or copies the tiles that it takes (taken_jobs.cuh). Shared memory: the
// tile, and one number per cell; or rows of E words and a pad, and one co-rank a thread. Device
// memory: each key is read and written once.
#pragma once

#include <cstdint>

#include "gpu/distribute/bucket_tiles.cuh"
#include "gpu/distribute/cell_sort_kernel.cuh"
#include "gpu/sort/block_sort_kernel.cuh"

namespace gsort::gpu {

// Sorts `count` keys, at most one tile, as one list. Not inlined, because it would take registers
// from the sort by cells.
template <unsigned kThreads, unsigned kRowWords, class Key>
__device__ __noinline__ void block_sort_list(const Key* from, Key* to, unsigned count,
                                             const EndMaps<Key>& maps, unsigned* co_ranks) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const TileWords<Key, kRowWords> tile{reinterpret_cast<Key*>(shared_bytes)};
  Key keys[kRowWords];
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) {
    const unsigned place = i * kThreads + threadIdx.x;
    keys[i] = place < count ? from[place] : static_cast<Key>(~Key{0});
  }
  block_sort_rows<kThreads>(tile, co_ranks, keys);
  __syncthreads();  // all rows are written
  for (unsigned place = threadIdx.x; place < count; place += kThreads) {
    const Key key = tile.words[tile.place_of(place)];
    to[place] = maps.stores_mapped ? maps.store_map.to_raw(key) : key;
  }
}

// Lists a long bucket.
template <class Key>
__device__ void thread_list_bucket(const BucketSortPass<Key>& pass, const BucketTile& place) {
  const std::uint64_t tiles = (place.bucket_keys + pass.sort_tile_keys - 1) / pass.sort_tile_keys;
  const std::uint64_t ticket =
      thread_add(&pass.counts->lists.long_ticket, LongTicket::of_array(tiles));
  pass.long_arrays[LongTicket::arrays(ticket)] = {place.bucket_begin, place.bucket_keys,
                                                  LongTicket::tiles(ticket)};
}

template <class Key>
__global__ void __launch_bounds__(kBucketSort<Key>.threads, 1)
    bucket_sort_kernel(const __grid_constant__ BucketSortPass<Key> pass) {
  constexpr CellSortTuning kTuning = kBucketSort<Key>;
  constexpr unsigned kTileKeys = kTuning.tile_keys();
  __shared__ KeyCellScratch<Key, kTuning.threads, kTuning.cells()> scratch;
  __shared__ BucketTile found;
  __shared__ unsigned co_ranks[kTuning.threads + 1];
  static_assert(TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.threads) <=
                kBucketSortBytes<Key>);
  grid_begin();
  const std::uint64_t tiles = pass.buckets[pass.bucket_count].first_tile;
  block_take_jobs(tiles, pass.taken, [&](std::uint64_t tile) {
    block_find_tile<kTileKeys>(pass, tile, found);
    const BucketTile place = found;
    const std::uint64_t begin = place.bucket_begin + place.position;
    const unsigned count = place.count<kTileKeys>();
    const Key* const from = pass.input + begin;
    Key* const to = pass.output + begin;
    if (place.bucket_keys <= kTileKeys) {
      if (!block_sort_by_cells<kTuning.threads, kTuning.keys_per_thread, kTuning.cells()>(
              from, to, count, pass.maps, pass.most_of_cell, scratch)) {
        block_sort_list<kTuning.threads, kTuning.keys_per_thread>(from, to, count, pass.maps,
                                                                  co_ranks);
      }
      return;
    }
    const BinTable<Key> table{pass.tables.splitters};
    const bool is_final = table.is_single_bin(pass.tables.heads[0], place.bucket);
    for (unsigned i = threadIdx.x; i < count; i += kTuning.threads) {
      to[i] = is_final && pass.maps.stores_mapped ? pass.maps.store_map.to_raw(from[i]) : from[i];
    }
    if (threadIdx.x == 0 && !is_final && place.position == 0) thread_list_bucket(pass, place);
  });
}

}  // namespace gsort::gpu
