// The kernels' part of tile_lists.hpp: loading rows of many lists into a tile, sorting the lists,
// storing their words (batch_ends.hpp).
//
// Threads: thread t works on row t; a warp loads and stores its own 32 rows and no others, so that
// a warp barrier is enough, and so that a kernel may write over what it reads.
// Device memory: a row's keys lie end to end; lane l moves slot l of one row (of several rows, if
// rows are shorter than a warp) at a time. Where a tile has no fill, vectors of 16 bytes instead.
// Shared memory: free of conflicts, because of the pad word of each row.
#pragma once

#include <cstdint>

#include "gpu/merge/block_merge.cuh"
#include "gpu/merge/block_store.cuh"
#include "gpu/segmented/batch_ends.hpp"
#include "gpu/segmented/tile_lists.hpp"

namespace gsort::gpu {

// The same number, but unknown to the compiler, which then computes again what follows from it, and
// does not keep that in registers for as long.
__device__ inline unsigned thread_forget(unsigned number) {
  asm volatile("" : "+r"(number));
  return number;
}

// The row of the tile that lane holds in step i of moving the warp's rows, as one of these 32.
template <unsigned kRowWords>
__device__ int thread_row_of_step(unsigned step) {
  constexpr unsigned kRowsAStep = 32 / kRowWords;
  return static_cast<int>(step * kRowsAStep + threadIdx.x % 32 / kRowWords);
}

// The warp's own rows, as those of a tile of keys, which take less room than words or as much.
template <class Key, class Word, unsigned kRowWords>
__device__ TileWords<Key, kRowWords> warp_rows(TileWords<Word, kRowWords> tile) {
  static_assert(sizeof(Key) <= sizeof(Word));
  Word* const first = tile.words + tile.place_of(threadIdx.x / 32 * 32 * kRowWords);
  return {reinterpret_cast<Key*>(first)};
}

// Where a tile's first element is: in the input, and in its array, if the tile has no other.
struct TileOrigin {
  std::uint64_t position = 0;
  unsigned in_array = 0;
};

// Hands each thread the words of its own row, made of the keys in the warp's rows. Requires: these
// were written by the warp.
template <unsigned kListWords, class Ends, class Word, unsigned kRowWords, class Position>
__device__ void warp_make_words(TileWords<typename Ends::Key, kRowWords> rows, const Ends& ends,
                                const TileOrigin& origin, const TileRow<Position>& row,
                                unsigned array_keys, Word (&words)[kRowWords]) {
  using Place = typename Ends::Position;
  __syncwarp();
  const auto* const from = rows.words + rows.place_of(threadIdx.x % 32 * kRowWords);
  const unsigned first = ends.number(static_cast<Place>(origin.position + row.source),
                                     origin.in_array + row.list_row * kRowWords);
  const unsigned numbers_a_list = ends.number(array_keys, 0);
#pragma unroll
  for (unsigned j = 0; j < kRowWords; ++j) {
    words[j] = Ends::word(from[j], first + j / kListWords * numbers_a_list, j % kListWords);
  }
  if constexpr (sizeof(typename Ends::Key) < sizeof(Word)) __syncwarp();  // rows may be written
}

// Loads the warp's rows and leaves in `words` the thread's own, with fill behind its elements. All
// loads are under way before the first is waited for.
template <unsigned kListWords, class Ends, class Word, unsigned kRowWords, class Position>
__device__ void warp_load_rows(TileWords<Word, kRowWords> tile, const Ends& ends,
                               const TileOrigin& origin, const TileRow<Position>& row,
                               unsigned array_keys, Word (&words)[kRowWords]) {
  using Key = typename Ends::Key;
  const unsigned lane = threadIdx.x % 32;
  const unsigned slot_key = key_of_slot(lane % kRowWords, kListWords, array_keys);
  const Key* const input = ends.keys_in + origin.position;
  std::uint32_t loaded = 0;
  Key keys[kRowWords];
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) {
    const int owner = thread_row_of_step<kRowWords>(i);
    const Position source = __shfl_sync(kWholeWarp, row.source, owner);
    const unsigned count = __shfl_sync(kWholeWarp, row.count, owner);
    keys[i] = static_cast<Key>(~Key{0});
    if (slot_key < count) {
      keys[i] = input[source + slot_key];
      loaded |= 1U << i;
    }
  }
  if (ends.maps.loads_mapped) {
#pragma unroll
    for (unsigned i = 0; i < kRowWords; ++i) {
      if ((loaded >> i & 1U) != 0) keys[i] = ends.maps.load_map.to_ordered(keys[i]);
    }
  }
  const auto rows = warp_rows<Key>(tile);
  Key* const to = rows.words + rows.place_of(lane);
#pragma unroll
  for (unsigned i = 0; i < kRowWords; ++i) to[i * rows.kWarpStride] = keys[i];
  warp_make_words<kListWords>(rows, ends, origin, row, array_keys, words);
}

// The same for a warp whose rows are 32 * kRowWords keys end to end, the first at `position`.
// Requires: that is aligned to 16 bytes.
template <unsigned kListWords, class Ends, class Word, unsigned kRowWords, class Position>
__device__ void warp_load_vectors(TileWords<Word, kRowWords> tile, const Ends& ends,
                                  std::uint64_t position, const TileOrigin& origin,
                                  const TileRow<Position>& row, unsigned array_keys,
                                  Word (&words)[kRowWords]) {
  using Key = typename Ends::Key;
  using Vector = KeyVector<Key>;
  const unsigned lane = threadIdx.x % 32;
  const auto* const vectors = reinterpret_cast<const Vector*>(ends.keys_in + position) + lane;
  Key keys[kRowWords];
#pragma unroll
  for (unsigned i = 0; i < kRowWords / Vector::kKeys; ++i) {
    const Vector vector = vectors[i * 32];
#pragma unroll
    for (unsigned j = 0; j < Vector::kKeys; ++j) keys[i * Vector::kKeys + j] = vector.keys[j];
  }
  if (ends.maps.loads_mapped) {
#pragma unroll
    for (Key& key : keys) key = ends.maps.load_map.to_ordered(key);
  }
  constexpr unsigned kStep = 32 * Vector::kKeys + 32 * Vector::kKeys / kRowWords;
  const auto rows = warp_rows<Key>(tile);
  Key* const to = rows.words + rows.place_of(lane * Vector::kKeys);
#pragma unroll
  for (unsigned i = 0; i < kRowWords / Vector::kKeys; ++i) {
#pragma unroll
    for (unsigned j = 0; j < Vector::kKeys; ++j) to[i * kStep + j] = keys[i * Vector::kKeys + j];
  }
  warp_make_words<kListWords>(rows, ends, origin, row, array_keys, words);
}

// Stores kCount words of a thread, those that find(i, position) gives a position; read(i) reads
// word i. What some of them lead to is under way before the first is waited for.
template <unsigned kCount, class Ends, class Find, class Read>
__device__ void thread_store_words(const Ends& ends, const Find& find, const Read& read) {
  constexpr unsigned kAtOnce = Ends::kFetches < kCount ? Ends::kFetches : kCount;
  static_assert(kCount % kAtOnce == 0);
#pragma unroll 8 / kAtOnce
  for (unsigned first = 0; first < kCount; first += kAtOnce) {
    bool exist[kAtOnce];
    typename Ends::Position positions[kAtOnce];
    typename Ends::Word words[kAtOnce];
    typename Ends::Fetched fetched[kAtOnce];
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      exist[i] = find(first + i, positions[i]);
      if (!exist[i]) continue;
      words[i] = read(first + i);
      fetched[i] = ends.fetch(words[i]);
    }
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      if (exist[i]) ends.store(positions[i], words[i], fetched[i]);
    }
  }
}

// Stores the words of the warp's rows. Requires: each row was written by its thread.
template <unsigned kListWords, class Ends, class Word, unsigned kRowWords, class Position>
__device__ void warp_store_rows(TileWords<Word, kRowWords> tile, const Ends& ends,
                                std::uint64_t position, const TileRow<Position>& row,
                                unsigned array_keys) {
  __syncwarp();
  const unsigned lane = threadIdx.x % 32;
  const unsigned slot_key = key_of_slot(lane % kRowWords, kListWords, array_keys);
  const auto rows = warp_rows<Word>(tile);
  const Word* const from = rows.words + rows.place_of(lane);
  const auto find = [&](unsigned i, typename Ends::Position& place) {
    const int owner = thread_row_of_step<kRowWords>(i);
    const Position source = __shfl_sync(kWholeWarp, row.source, owner);
    const unsigned count = __shfl_sync(kWholeWarp, row.count, owner);
    place = static_cast<typename Ends::Position>(position + source + slot_key);
    return slot_key < count;
  };
  thread_store_words<kRowWords>(ends, find, [&](unsigned i) { return from[i * rows.kWarpStride]; });
}

// Stores the warp's words of a tile that are the array from `position` on, of `count` words.
// Requires: each row was written by its thread.
template <class Key, unsigned kRowWords>
__device__ void warp_store_array(TileWords<Key, kRowWords> tile, const KeyEnds<Key>& ends,
                                 std::uint64_t position, unsigned count) {
  warp_store_tile(tile, TileTarget<Key>{ends.keys_out + position, count, nullptr, 0,
                                        ends.maps.stores_mapped, ends.maps.store_map});
}
template <unsigned kRowWords>
__device__ void warp_store_array(TileWords<PairEnds::Word, kRowWords> tile, const PairEnds& ends,
                                 std::uint64_t position, unsigned count) {
  __syncwarp();
  const unsigned lane = threadIdx.x % 32;
  const unsigned first = threadIdx.x / 32 * 32 * kRowWords + lane;
  const auto rows = warp_rows<PairEnds::Word>(tile);
  const PairEnds::Word* const from = rows.words + rows.place_of(lane);
  const auto find = [&](unsigned i, PairEnds::Position& place) {
    place = static_cast<PairEnds::Position>(position + first + 32 * i);
    return first + 32 * i < count;
  };
  thread_store_words<kRowWords>(ends, find, [&](unsigned i) { return from[i * rows.kWarpStride]; });
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
