// Arrays so short that a thread sorts one in its registers, a warp 32 neighbours.
//
// Threads: lane l has the warp's array l.
// Shared memory: rows of kMost words and a pad, one a thread.
// Device memory: each key is read once and written once, and so is each value. The arrays of a warp
// lie end to end, so if all are tiny their keys are moved as one, lane l the keys l, l + 32, ... of
// them; if all have half of the most keys at most, half of the network sorts them. Where a longer
// one lies between them each is moved by itself, as batch_tile.cuh moves rows.
#pragma once

#include <cstdint>

#include "gpu/merge/thread_sort.hpp"
#include "gpu/segmented/batch_tile.cuh"

namespace gsort::gpu {

// One of a warp's arrays.
struct TinyArray {
  std::uint64_t begin = 0;
  unsigned length = 0;
  bool is_tiny = false;  // of kMost keys at most
};

// Requires: all arrays of the warp have at most kKeys keys.
template <unsigned kKeys, class Ends, unsigned kMost>
__device__ void warp_sort_neighbours(const Ends& ends, TileWords<typename Ends::Word, kMost> tile,
                                     const TinyArray& array) {
  using Key = typename Ends::Key;
  using Word = typename Ends::Word;
  using Position = typename Ends::Position;
  const unsigned lane = threadIdx.x % 32;
  const std::uint64_t first = __shfl_sync(kWholeWarp, array.begin, 0);
  const auto place = static_cast<unsigned>(array.begin - first);
  const unsigned count = __shfl_sync(kWholeWarp, place + array.length, 31);
  // Elements end to end, with pads in between.
  const auto loaded = warp_rows<Key>(tile);
  const auto sorted = warp_rows<Word>(tile);

  Key keys[kKeys];
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    if (lane + 32 * i < count) keys[i] = ends.keys_in[first + lane + 32 * i];
  }
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    if (lane + 32 * i < count) {
      loaded.words[loaded.place_of(lane + 32 * i)] =
          ends.maps.loads_mapped ? ends.maps.load_map.to_ordered(keys[i]) : keys[i];
    }
  }
  __syncwarp();
  const unsigned number = ends.number(static_cast<Position>(array.begin), 0);
  Word words[kKeys];
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    const Key key =
        i < array.length ? loaded.words[loaded.place_of(place + i)] : static_cast<Key>(~Key{0});
    words[i] = Ends::word(key, number, i);
  }
  if constexpr (sizeof(Key) < sizeof(Word)) __syncwarp();  // all keys are read
  thread_sort(words);
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    if (i < array.length) sorted.words[sorted.place_of(place + i)] = words[i];
  }
  __syncwarp();
  const auto find = [&](unsigned i, Position& position) {
    position = static_cast<Position>(first + lane + 32 * i);
    return lane + 32 * i < count;
  };
  thread_store_words<kKeys>(
      ends, find, [&](unsigned i) { return sorted.words[sorted.place_of(lane + 32 * i)]; });
}

// Sorts the tiny ones of the warp's arrays.
template <unsigned kMost, class Ends>
__device__ void warp_sort_tiny_arrays(const Ends& ends, TileWords<typename Ends::Word, kMost> tile,
                                      const TinyArray& array) {
  if (__all_sync(kWholeWarp, array.is_tiny)) {
    if (__any_sync(kWholeWarp, array.length > kMost / 2)) {
      warp_sort_neighbours<kMost>(ends, tile, array);
    } else {
      warp_sort_neighbours<kMost / 2>(ends, tile, array);
    }
    return;
  }
  const TileRow<typename Ends::Position> row{static_cast<typename Ends::Position>(array.begin),
                                             array.is_tiny ? array.length : 0};
  if (!__any_sync(kWholeWarp, row.count != 0)) return;
  typename Ends::Word words[kMost];
  warp_load_rows<kMost>(tile, ends, {}, row, kMost, words);
  thread_sort(words);
  thread_store_row(tile, threadIdx.x, words);
  warp_store_rows<kMost>(tile, ends, 0, row, kMost);
}

}  // namespace gsort::gpu
