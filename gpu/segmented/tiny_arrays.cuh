// Arrays so short that a thread sorts one in its registers, a warp 32 neighbours.
//
// Threads: lane l has the warp's array l.
// Shared memory: rows of kMost words and a pad, one a thread.
// Device memory: each key is read once and written once. The arrays of a warp lie end to end, so
// if all are tiny their keys are moved as one, lane l the keys l, l + 32, ... of them. Where a
// longer one lies between them each is moved by itself, as batch_tile.cuh moves rows.
#pragma once

#include <cstdint>

#include "gpu/merge/thread_sort.hpp"
#include "gpu/segmented/batch_tile.cuh"
#include "gpu/segmented/launch.hpp"

namespace gsort::gpu {

// One of a warp's arrays.
struct TinyArray {
  std::uint64_t begin = 0;
  unsigned length = 0;
  bool is_tiny = false;  // of kMost keys at most
};

// The warp's keys, end to end, in its rows of the tile; pads lie in between.
template <class Key, unsigned kMost>
struct WarpKeys {
  Key* words;  // the warp's first row

  static __device__ WarpKeys in(TileWords<Key, kMost> tile) {
    return {tile.words + tile.place_of(threadIdx.x / 32 * 32 * kMost)};
  }
  __device__ Key& operator[](unsigned key) const {
    return words[TileWords<Key, kMost>::place_of(key)];
  }
};

// Requires: all arrays of the warp are tiny, so that they have at most 32 * kMost keys.
template <unsigned kMost, class Key>
__device__ void warp_sort_neighbours(const SegmentedPass<Key>& pass, TileWords<Key, kMost> tile,
                                     const TinyArray& array) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t first = __shfl_sync(kWholeWarp, array.begin, 0);
  const auto place = static_cast<unsigned>(array.begin - first);
  const unsigned count = __shfl_sync(kWholeWarp, place + array.length, 31);
  const auto warp_keys = WarpKeys<Key, kMost>::in(tile);

  Key keys[kMost];
#pragma unroll
  for (unsigned i = 0; i < kMost; ++i) {
    if (lane + 32 * i < count) keys[i] = pass.input[first + lane + 32 * i];
  }
#pragma unroll
  for (unsigned i = 0; i < kMost; ++i) {
    if (lane + 32 * i < count) {
      warp_keys[lane + 32 * i] =
          pass.maps.loads_mapped ? pass.maps.load_map.to_ordered(keys[i]) : keys[i];
    }
  }
  __syncwarp();
#pragma unroll
  for (unsigned i = 0; i < kMost; ++i) {
    keys[i] = i < array.length ? warp_keys[place + i] : static_cast<Key>(~Key{0});
  }
  thread_sort(keys);
#pragma unroll
  for (unsigned i = 0; i < kMost; ++i) {
    if (i < array.length) warp_keys[place + i] = keys[i];
  }
  __syncwarp();
#pragma unroll
  for (unsigned i = 0; i < kMost; ++i) {
    if (lane + 32 * i < count) {
      const Key key = warp_keys[lane + 32 * i];
      pass.output[first + lane + 32 * i] =
          pass.maps.stores_mapped ? pass.maps.store_map.to_raw(key) : key;
    }
  }
}

// Sorts the tiny ones of the warp's arrays.
template <unsigned kMost, class Key>
__device__ void warp_sort_tiny_arrays(const SegmentedPass<Key>& pass, TileWords<Key, kMost> tile,
                                      const TinyArray& array) {
  if (__all_sync(kWholeWarp, array.is_tiny)) {
    warp_sort_neighbours<kMost>(pass, tile, array);
    return;
  }
  const TileRow<std::uint64_t> row{array.begin, array.is_tiny ? array.length : 0};
  if (!__any_sync(kWholeWarp, row.count != 0)) return;
  Key keys[kMost];
  warp_load_rows<kMost>(tile, {pass.input, pass.maps.loads_mapped, pass.maps.load_map}, row, kMost,
                        keys);
  thread_sort(keys);
  thread_store_row(tile, threadIdx.x, keys);
  warp_store_rows<kMost>(
      tile, MappedKeys<Key*, Key>{pass.output, pass.maps.stores_mapped, pass.maps.store_map}, row,
      kMost);
}

}  // namespace gsort::gpu
