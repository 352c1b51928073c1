// The kernels' part of tile_lists.hpp: loading rows of many lists into a tile, sorting the lists,
// storing their keys.
//
// Threads: thread t works on row t; a warp loads and stores its own 32 rows and no others, so that
// a warp barrier is enough, and so that a kernel may write over what it reads.
// Device memory: a row's keys lie end to end; lane l moves slot l of one row (of several rows, if
// rows are shorter than a warp) at a time. Where a tile has no fill, vectors of 16 bytes instead.
// Shared memory: free of conflicts, because of the pad word of each row.
#pragma once

#include <cstdint>

#include "element/key.hpp"
#include "gpu/merge/block_merge.cuh"
#include "gpu/merge/block_store.cuh"
#include "gpu/segmented/tile_lists.hpp"

namespace gsort::gpu {

// The same number, but unknown to the compiler, which then computes again what follows from it, and
// does not keep that in registers for as long.
__device__ inline unsigned thread_forget(unsigned number) {
  asm volatile("" : "+r"(number));
  return number;
}

// Where keys come from or go to, and what happens to them on the way.
template <class Pointer, class Key>
struct MappedKeys {
  Pointer keys;  // where positions count from
  bool maps;
  KeyMap<Key> map;
};

// The row of the tile that lane holds in step i of moving the warp's rows, as one of these 32.
template <unsigned kRowWords>
__device__ int thread_row_of_step(unsigned step) {
  constexpr unsigned kRowsAStep = 32 / kRowWords;
  return static_cast<int>(step * kRowsAStep + threadIdx.x % 32 / kRowWords);
}

// Hands each thread its own row. Requires: the warp's rows were written by the warp.
template <class Key, unsigned kRowWords>
__device__ void warp_read_rows(TileWords<Key, kRowWords> tile, Key (&keys)[kRowWords]) {
  __syncwarp();
  const Key* const from = tile.words + tile.place_of(threadIdx.x * kRowWords);
#pragma unroll
  for (unsigned j = 0; j < kRowWords; ++j) keys[j] = from[j];
}

// Loads the warp's rows and leaves in `keys` the thread's own, with the greatest key as fill. All
// loads are under way before the first is waited for.
template <unsigned kListWords, class Key, unsigned kRowWords, class Position>
__device__ void warp_load_rows(TileWords<Key, kRowWords> tile,
                               const MappedKeys<const Key*, Key>& input,
                               const TileRow<Position>& row, unsigned array_keys,
                               Key (&keys)[kRowWords]) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned key = key_of_slot(lane % kRowWords, kListWords, array_keys);
  std::uint32_t loaded = 0;
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) {
    const int owner = thread_row_of_step<kRowWords>(i);
    const Position source = __shfl_sync(kWholeWarp, row.source, owner);
    const unsigned count = __shfl_sync(kWholeWarp, row.count, owner);
    keys[i] = static_cast<Key>(~Key{0});
    if (key < count) {
      keys[i] = input.keys[source + key];
      loaded |= 1U << i;
    }
  }
  if (input.maps) {
#pragma unroll
    for (unsigned i = 0; i < kRowWords; ++i) {
      if ((loaded >> i & 1U) != 0) keys[i] = input.map.to_ordered(keys[i]);
    }
  }
  constexpr unsigned kStep = TileWords<Key, kRowWords>::kWarpStride;
  Key* const to = tile.words + tile.place_of(threadIdx.x / 32 * 32 * kRowWords + lane);
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) to[i * kStep] = keys[i];
  warp_read_rows(tile, keys);
}

// The same for a warp whose rows are 32 * kRowWords keys end to end, the first at input.keys.
// Requires: that is aligned to 16 bytes.
template <class Key, unsigned kRowWords>
__device__ void warp_load_vectors(TileWords<Key, kRowWords> tile,
                                  const MappedKeys<const Key*, Key>& input,
                                  Key (&keys)[kRowWords]) {
  using Vector = KeyVector<Key>;
  const unsigned lane = threadIdx.x % 32;
  const auto* const vectors = reinterpret_cast<const Vector*>(input.keys) + lane;
#pragma unroll
  for (unsigned i = 0; i < kRowWords / Vector::kKeys; ++i) {
    const Vector vector = vectors[i * 32];
#pragma unroll
    for (unsigned j = 0; j < Vector::kKeys; ++j) keys[i * Vector::kKeys + j] = vector.keys[j];
  }
  if (input.maps) {
#pragma unroll
    for (Key& key : keys) key = input.map.to_ordered(key);
  }
  constexpr unsigned kStep = 32 * Vector::kKeys + 32 * Vector::kKeys / kRowWords;
  const unsigned lane_word = threadIdx.x / 32 * 32 * kRowWords + lane * Vector::kKeys;
  Key* const to = tile.words + tile.place_of(lane_word);
#pragma unroll
  for (unsigned i = 0; i < kRowWords / Vector::kKeys; ++i) {
#pragma unroll
    for (unsigned j = 0; j < Vector::kKeys; ++j) to[i * kStep + j] = keys[i * Vector::kKeys + j];
  }
  warp_read_rows(tile, keys);
}

// Stores the keys of the warp's rows. Requires: each row was written by its thread.
template <unsigned kListWords, class Key, unsigned kRowWords, class Position>
__device__ void warp_store_rows(TileWords<Key, kRowWords> tile, const MappedKeys<Key*, Key>& output,
                                const TileRow<Position>& row, unsigned array_keys) {
  __syncwarp();
  const unsigned lane = threadIdx.x % 32;
  const unsigned slot_key = key_of_slot(lane % kRowWords, kListWords, array_keys);
  constexpr unsigned kStep = TileWords<Key, kRowWords>::kWarpStride;
  const Key* const from = tile.words + tile.place_of(threadIdx.x / 32 * 32 * kRowWords + lane);
#pragma unroll 8
  for (unsigned i = 0; i < kRowWords; ++i) {
    const int owner = thread_row_of_step<kRowWords>(i);
    const Position source = __shfl_sync(kWholeWarp, row.source, owner);
    const unsigned count = __shfl_sync(kWholeWarp, row.count, owner);
    if (slot_key < count) {
      const Key key = from[i * kStep];
      output.keys[source + slot_key] = output.maps ? output.map.to_raw(key) : key;
    }
  }
}

// Joins, in each list, its sorted lists of joined_rows rows two by two. `keys` is the thread's row
// before and after. Requires: only the sharers of a list touch its rows; the threads of the
// tile are the sharers' whole warps, or the block, and all call this.
template <Sharers kSharers, class Key, unsigned kRowWords, class Position>
__device__ void block_join_neighbours(TileWords<Key, kRowWords> tile, unsigned row,
                                      const TileRow<Position>& place, unsigned joined_rows,
                                      unsigned* co_ranks, Key (&keys)[kRowWords]) {
  const LevelLists lists = level_lists(place, joined_rows);
  const unsigned first_row = row - place.list_row + lists.first_row;
  if (lists.rows == 0) {
    // The row stays where it is, in registers.
  } else if (lists.in_second) {
    thread_store_row_reversed(tile, row, first_row + joined_rows, lists.rows - joined_rows, keys);
  } else {
    thread_store_row(tile, row, keys);
  }
  sync_sharers<kSharers>();  // the level's lists are written
  const MergeRegion region{first_row, lists.rows, joined_rows * kRowWords};
  block_merge_level<kSharers>(tile, region, row, co_ranks, keys);
}

// Sorts the lists of a tile whose rows are sorted. No list has more than list_rows rows, the same
// number in all threads. in_warps: lists of up to 32 rows that begin at a multiple of 32 of their
// own list's rows lie in one warp.
template <class Key, unsigned kRowWords, class Position>
__device__ void block_sort_lists(TileWords<Key, kRowWords> tile, unsigned row,
                                 const TileRow<Position>& place, unsigned list_rows, bool in_warps,
                                 unsigned* co_ranks, Key (&keys)[kRowWords]) {
  unsigned joined_rows = 1;
  if (in_warps) {
#pragma unroll 1
    for (; joined_rows < 32 && joined_rows < list_rows; joined_rows *= 2) {
      block_join_neighbours<Sharers::kWarp>(tile, row, place, joined_rows, co_ranks, keys);
    }
  }
#pragma unroll 1
  for (; joined_rows < list_rows; joined_rows *= 2) {
    block_join_neighbours<Sharers::kBlock>(tile, row, place, joined_rows, co_ranks, keys);
  }
}

}  // namespace gsort::gpu
