// cell_sort_kernel: sorts packed tiles in place, each as one list. If a tile has too many keys in
// one cell, it is not sorted but listed for packed_sort_kernel.
//
// Problem. Merging a tile of 8,192 keys in shared memory takes thirteen levels, and hundreds of
// instructions per key. It would take longer than each of the two distributions before it.
//
// Idea. Splitters from a sample of all keys have made the tiles, so the keys of a tile lie in a
// narrow range, and nearly evenly there, whatever their distribution is. The range is divided into
// equal cells of two keys on average (key_cells.hpp). Atomic additions count the keys of each cell,
// a prefix sum of the counts says where each cell begins, and each key takes a place of its cell.
// Then each key is only a few places from its sorted place: threads sort windows of 16 neighbours
// in registers, and then windows that lie across the borders of these (sort_windows.cuh).
//
// A cell of a narrow range has one key value, so that it is sorted, however long it is. If another
// cell of u32 keys is too long for the windows, a warp sorts it before them. If there are many such
// cells, or one is very long, or keys are u64, the tile's keys are ranked within their cells, not
// sorted in windows. If the range has gaps, or a few keys are frequent, a cell can have too many
// keys to rank. Then the tile is read again. If keys are u32, its cells are divided again
// (key_cells.hpp); if keys are u64, or these cells have too many keys, too, the tile is divided by
// a sample of its own (sampled_cells.hpp). If that does not help, the tile is sorted by merging.
//
// Example. Keys 13 10 15 12 11, cells 2 0 3 1 0: 10 11 | 12 | 13 | 15 or 11 10 | 12 | 13 | 15.
//
// Cost. For 32 random keys in tiles that are 0.88 full, 57 warp instructions (u32, measured) or
// about 103 (u64, counted in the code), of which windows take 19 or 58.
//
// Threads: a block sorts the tiles that it takes (taken_jobs.cuh); thread t has every kThreads-th
// vector of the tile. Shared memory: the tile, and one number per cell. Device memory: each key is
// read and written once; keys of a crowded tile are read once more, those of a listed tile twice.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/distribute/crowded_cells.cuh"
#include "gpu/distribute/key_cells.hpp"
#include "gpu/distribute/launch.hpp"
#include "gpu/distribute/sort_windows.cuh"
#include "gpu/merge/block_store.cuh"
#include "gpu/merge/block_sum.cuh"
#include "gpu/merge/warp_sort.cuh"
#include "gpu/records/pair_code.hpp"
#include "gpu/records/warp_extremes.cuh"

namespace gsort::gpu {

// The shared memory of cell_sort_kernel; the tile and the cells are dynamic.
template <class Key, unsigned kThreads>
struct CellScratch {
  Key least[kThreads / 32];  // of each warp's keys
  Key greatest[kThreads / 32];
  unsigned warp_sums[kThreads / 32];
};
template <class Key, unsigned kThreads, unsigned kCells>
struct KeyCellScratch : CellScratch<Key, kThreads> {
  union {  // of a crowded tile
    NestedCells<Key, kCells> nested;
    SampledCells<Key, kCells> sampled;
  };
  LongCells long_cells;
};

// The vectors of 16 bytes within an array, and the elements before the first and behind the last
// one. These are fewer than two vectors have.
template <class Element>
struct VectorSpan {
  static constexpr auto kElements = static_cast<unsigned>(KeyVector<Element>::kKeys);

  unsigned before;  // elements
  unsigned vectors;
  unsigned singles;  // elements before and behind

  [[nodiscard]] static __device__ VectorSpan of(const Element* from, unsigned count) {
    const unsigned before = min((0 - skipped_of(from)) % kElements, count);
    const unsigned vectors = (count - before) / kElements;
    return {before, vectors, count - vectors * kElements};
  }
  // Elements between the last multiple of 16 bytes and `from`.
  [[nodiscard]] static __device__ unsigned skipped_of(const Element* from) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) / sizeof(Element)) %
           kElements;
  }
  [[nodiscard]] __device__ unsigned place_of_single(unsigned single) const {
    return single + (single < before ? 0 : vectors * kElements);
  }
};

// A thread's keys of a tile: vectors, and one of the keys that are in none.
template <class Key, unsigned kThreads, unsigned kKeys>
struct ThreadKeys {
  using Vector = KeyVector<Key>;
  static constexpr unsigned kVectors = kKeys / Vector::kKeys;

  Vector vectors[kVectors];
  Key single[1];
  VectorSpan<Key> span;  // of the tile

  __device__ void load(const Key* from, unsigned count) {
    span = VectorSpan<Key>::of(from, count);
    const auto* const first = reinterpret_cast<const Vector*>(from + span.before) + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i) {
      vectors[i] = has_vector(i) ? first[i * kThreads] : Vector{};
    }
    single[0] = has_single() ? from[span.place_of_single(threadIdx.x)] : Key{0};
  }
  [[nodiscard]] __device__ bool has_vector(unsigned i) const {
    return i * kThreads + threadIdx.x < span.vectors;
  }
  [[nodiscard]] __device__ bool has_single() const {
    return threadIdx.x < span.singles;
  }

  // Calls visit(keys, place, number) for the keys of each vector, and for the single key; `place`
  // is that of the first of them in the tile, `number` its number among the thread's kKeys + 1
  // keys.
  template <class Visit>
  __device__ void visit(const Visit& visit) const {
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i) {
      if (!has_vector(i)) continue;
      visit(vectors[i].keys, span.before + (i * kThreads + threadIdx.x) * Vector::kKeys,
            i * Vector::kKeys);
    }
    if (has_single()) visit(single, span.place_of_single(threadIdx.x), kKeys);
  }
};

// The range of the keys from what the warps have written. Requires: all warps have written.
template <class Part, class Key, unsigned kThreads>
__device__ KeyRange<Part> warp_join_ranges(const CellScratch<Key, kThreads>& scratch) {
  const unsigned warp = threadIdx.x % (kThreads / 32);
  return {warp_least(static_cast<Part>(scratch.least[warp])),
          warp_greatest(static_cast<Part>(scratch.greatest[warp]))};
}

// The range of the block's keys without their lower bits: of key >> kShift. Contains a barrier.
template <class Part, unsigned kShift, unsigned kThreads, class Key, class Keys>
__device__ KeyRange<Part> block_find_range_of(const Keys& keys,
                                              CellScratch<Key, kThreads>& scratch) {
  KeyRange<Part> range;
  keys.visit([&](const auto& some, unsigned /*place*/, unsigned /*number*/) {
#pragma unroll
    for (const Key key : some) {
      const auto part = static_cast<Part>(key >> kShift);
      range.least = min(range.least, part);
      range.greatest = max(range.greatest, part);
    }
  });
  range = {warp_least(range.least), warp_greatest(range.greatest)};
  if (threadIdx.x % 32 == 0) {
    scratch.least[threadIdx.x / 32] = range.least;
    scratch.greatest[threadIdx.x / 32] = range.greatest;
  }
  __syncthreads();  // each warp's range is written
  return warp_join_ranges<Part>(scratch);
}

// A range that includes the block's keys and is little wider. It has one key only if all keys are
// equal. Contains a barrier.
template <unsigned kThreads, class Key, class Keys>
__device__ KeyRange<Key> block_find_cell_range(const Keys& keys,
                                               CellScratch<Key, kThreads>& scratch) {
  if constexpr (sizeof(Key) == 8) {  // halves take fewer instructions than keys
    constexpr std::uint32_t kExactEnough = 1U << 12;
    const auto upper = block_find_range_of<std::uint32_t, 32>(keys, scratch);
    if (upper.greatest - upper.least >= kExactEnough) {
      return {Key{upper.least} << 32, Key{upper.greatest} << 32 | ~0U};
    }
    __syncthreads();  // the warps' ranges are read
  }
  return block_find_range_of<Key, 0>(keys, scratch);
}

// The cells of a thread's keys, by the keys' numbers: found once, where finding them is slow.
template <unsigned kKeys>
struct KnownCells {
  std::uint32_t halves[kKeys / 2 + 1] = {};

  template <class Keys, class Cells>
  __device__ void find(const Keys& keys, const Cells& cells) {
    keys.visit([&](const auto& some, unsigned /*place*/, unsigned number) {
#pragma unroll
      for (const auto key : some) {
        halves[number / 2] |= cells.of_key(key) << 16 * (number % 2);
        ++number;
      }
    });
  }
};

template <class Cells, class Key>
__device__ unsigned cell_of(const Cells& cells, Key key, unsigned /*number*/) {
  return cells.of_key(key);
}
template <unsigned kKeys, class Key>
__device__ unsigned cell_of(const KnownCells<kKeys>& known, Key /*key*/, unsigned number) {
  return known.halves[number / 2] >> 16 * (number % 2) & 0xffffU;
}

template <class Keys, class Cells>
__device__ void thread_count_cells(const Keys& keys, const Cells& cells, unsigned* counts) {
  keys.visit([&](const auto& some, unsigned /*place*/, unsigned number) {
#pragma unroll
    for (const auto key : some) atomicAdd(&counts[cell_of(cells, key, number++)], 1U);
  });
}

// Calls put(place, key, source) for each key, with the place that it takes in its cell and its
// place in the tile before. next[cell] is the cell's next free place.
template <class Keys, class Cells, class Put>
__device__ void thread_fill_cells(const Keys& keys, const Cells& cells, unsigned* next,
                                  const Put& put) {
  keys.visit([&](const auto& some, unsigned source, unsigned number) {
    constexpr unsigned kSome = sizeof(some) / sizeof(some[0]);
    unsigned places[kSome];  // all are taken before any is used, to wait less
#pragma unroll
    for (unsigned i = 0; i < kSome; ++i) {
      places[i] = atomicAdd(&next[cell_of(cells, some[i], number + i)], 1U);
    }
#pragma unroll
    for (unsigned i = 0; i < kSome; ++i) put(places[i], some[i], source + i);
  });
}

template <unsigned kThreads, unsigned kCells>
__device__ void thread_clear_cells(unsigned* cells) {
  using Vector = KeyVector<unsigned>;
  auto* const vectors = reinterpret_cast<Vector*>(cells) + threadIdx.x;
#pragma unroll
  for (unsigned i = 0; i < kCells / kThreads / Vector::kKeys; ++i) vectors[i * kThreads] = {};
}

// The maxima over the thread's cells.
struct GreatestCells {
  unsigned keys = 0;
  unsigned reach = 0;  // reach_of_cell
};

// Replaces the counts of the cells by the places where they begin; calls visit(cell, begin, count)
// for each cell of the thread. Requires: all keys are counted. Does not end with a barrier.
template <unsigned kThreads, unsigned kCells, class Visit>
__device__ GreatestCells block_place_cells(unsigned* cells, unsigned* warp_sums,
                                           const Visit& visit) {
  using Vector = KeyVector<unsigned>;
  constexpr unsigned kVectors = kCells / kThreads / Vector::kKeys;
  Vector own[kVectors];
  auto* const vectors = reinterpret_cast<Vector*>(cells) + kVectors * threadIdx.x;
  unsigned sum = 0;
  GreatestCells greatest;
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) {
    own[i] = vectors[i];
#pragma unroll
    for (const unsigned count : own[i].keys) {
      sum += count;
      greatest.keys = max(greatest.keys, count);
    }
  }
  unsigned total = 0;
  unsigned begin = block_exclusive_sum<kThreads>(sum, warp_sums, total);
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) {
#pragma unroll
    for (unsigned j = 0; j < Vector::kKeys; ++j) {
      unsigned& count = own[i].keys[j];
      greatest.reach = max(greatest.reach, reach_of_cell(begin, count));
      visit((kVectors * threadIdx.x + i) * Vector::kKeys + j, begin, count);
      const unsigned next = begin + count;
      count = begin;
      begin = next;
    }
    vectors[i] = own[i];
  }
  return greatest;
}

// Maps keys if the pass does, and stores key i of them at to[i * kThreads], if this is one of the
// `left` places.
template <unsigned kThreads, class Key, unsigned kKeys>
__device__ void thread_store_keys(Key (&keys)[kKeys], Key* to, int left, const EndMaps<Key>& maps) {
  if (maps.stores_mapped) {
#pragma unroll
    for (Key& key : keys) key = maps.store_map.to_raw(key);
  }
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    if (static_cast<int>(i * kThreads) < left) to[i * kThreads] = keys[i];
  }
}

// Where the sorted keys of a tile go.
template <class Key>
struct KeyTarget {
  // Nested cells are narrow enough for most tiles of keys of 32 bits.
  static constexpr bool kNestsCells = sizeof(Key) == 4;

  Key* keys;
  const EndMaps<Key>& maps;

  __device__ void put(unsigned place, Key key) const {
    keys[place] = maps.stores_mapped ? maps.store_map.to_raw(key) : key;
  }
  // Puts those of some keys, kThreads apart, that are among the tile's `count`.
  template <unsigned kThreads, unsigned kKeys>
  __device__ void put_row(Key (&some)[kKeys], unsigned place, unsigned count) const {
    thread_store_keys<kThreads>(some, keys + place, static_cast<int>(count - place), maps);
  }
  // Whether keys at `from` are where they belong.
  [[nodiscard]] __device__ bool holds(const Key* from) const {
    return keys == from && !maps.stores_mapped;
  }
};

// Stores a tile that is arranged cell by cell, by ranks in cells of more than one key value.
template <unsigned kThreads, class Key, class Cells, class Store>
__device__ void thread_store_ranked(const Key* tile, unsigned count, const Cells& cells,
                                    const unsigned* ends, const Store& store) {
#pragma unroll 1
  for (unsigned place = threadIdx.x; place < count; place += kThreads) {
    const Key key = tile[place];
    unsigned rank = place;
    if (!cells.are_single()) {
      const unsigned cell = cells.of_key(key);
      const unsigned begin = cell == 0 ? 0 : ends[cell - 1];
      if (!cells.is_single(cell)) rank = thread_rank_in_cell(tile, key, place, begin, ends[cell]);
    }
    store(rank, key);
  }
}

// How a tile is sorted, by the counts of its cells.
enum class CellOrder : std::uint8_t {
  kByWindows,
  kByRanks,
  kCrowded,  // not at all: a cell has too many keys
};

// Replaces the counts of the cells by the places where they begin, and lists the long cells. Ends
// with a barrier. Requires: scratch.long_cells.count is 0.
template <unsigned kCells, class Cells, class Key, unsigned kThreads>
__device__ CellOrder block_order_cells(const Cells& cells, unsigned most_of_cell, unsigned* counts,
                                       KeyCellScratch<Key, kThreads, kCells>& scratch) {
  __syncthreads();  // all keys are counted
  bool is_long = false;
  unsigned most_keys = 0;  // of a cell that must be sorted
  block_place_cells<kThreads, kCells>(counts, scratch.warp_sums,
                                      [&](unsigned cell, unsigned begin, unsigned count) {
                                        if (reach_of_cell(begin, count) <= kWindowWords) return;
                                        const bool is_single = cells.is_single(cell);
                                        if (is_single && !cells.are_single())
                                          return;  // its keys are in order
                                        if (!is_single) most_keys = max(most_keys, count);
                                        if constexpr (LongCells::suit<Key>()) {
                                          if (!is_single && scratch.long_cells.add(begin, count))
                                            return;
                                        }
                                        is_long = true;
                                      });
  // The barrier: all cells have their beginnings.
  if (__syncthreads_or(is_long ? 1 : 0) == 0) return CellOrder::kByWindows;
  const bool is_crowded = most_keys > most_of_cell;
  return __syncthreads_or(is_crowded ? 1 : 0) == 0 ? CellOrder::kByRanks : CellOrder::kCrowded;
}

// Arranges the tile cell by cell, sorts it in this order and stores it. `known` has the cells of
// the keys: `cells`, or KnownCells.
template <unsigned kThreads, unsigned kKeys, class Key, class KeyCell, class Cells, class Target>
__device__ void block_store_cells(const ThreadKeys<Key, kThreads, kKeys>& keys, unsigned count,
                                  const KeyCell& known, const Cells& cells, CellOrder order,
                                  Key* tile, unsigned* counts, const LongCells& long_cells,
                                  const Target& to) {
  thread_fill_cells(keys, known, counts,
                    [&](unsigned place, Key key, unsigned /*source*/) { tile[place] = key; });
  thread_fill_window<kThreads>(tile, count);
  __syncthreads();  // the tile lies cell by cell; the cells have their ends
  if (order == CellOrder::kByRanks) {
    thread_store_ranked<kThreads>(tile, count, cells, counts,
                                  [&](unsigned place, Key key) { to.put(place, key); });
    return;
  }
  if constexpr (LongCells::suit<Key>()) block_sort_long_cells<kThreads>(long_cells, tile);
  block_sort_windows<kThreads>(tile, count);
  thread_store_sorted<kThreads, kKeys>(tile, [&](unsigned first, auto& words) {
    to.template put_row<kThreads>(words, first + threadIdx.x, count);
  });
}

// Sorts a tile by the cells `found`; loads its keys again. Returns false and writes nothing if a
// cell has too many keys. Not inlined: it would take registers from the sort of other tiles.
template <unsigned kThreads, unsigned kKeys, unsigned kCells, class Key, class Cells, class Target>
__device__ __noinline__ bool block_sort_by_known_cells(
    const Key* from, Target to, unsigned count, const Cells& found, unsigned most_of_cell,
    KeyCellScratch<Key, kThreads, kCells>& shared) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const Cells& cells = assume_shared(found);
  auto& scratch = assume_shared(shared);
  auto* const tile = reinterpret_cast<Key*>(shared_bytes);
  auto* const counts = reinterpret_cast<unsigned*>(tile + kThreads * kKeys);
  thread_clear_cells<kThreads, kCells>(counts);
  if (threadIdx.x == 0) scratch.long_cells.count = 0;
  ThreadKeys<Key, kThreads, kKeys> keys;
  keys.load(from, count);
  __syncthreads();  // the cells are known, the counts are clear
  KnownCells<kKeys> known;
  known.find(keys, cells);
  thread_count_cells(keys, known, counts);
  const CellOrder order = block_order_cells(cells, most_of_cell, counts, scratch);
  if (order == CellOrder::kCrowded) return false;
  block_store_cells<kThreads, kKeys>(keys, count, known, cells, order, tile, counts,
                                     scratch.long_cells, to);
  return true;
}

// Sorts a tile whose equal cells have too many keys to rank. Requires: the cells are counted.
template <unsigned kThreads, unsigned kKeys, unsigned kCells, class Key, class Target>
__device__ __noinline__ bool block_sort_crowded_tile(
    const Key* from, Target to, unsigned count, KeyRange<Key> range, KeyCells<Key, kCells> equal,
    unsigned most_of_cell, KeyCellScratch<Key, kThreads, kCells>& shared) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto& scratch = assume_shared(shared);
  const auto* const begins =
      reinterpret_cast<const unsigned*>(reinterpret_cast<Key*>(shared_bytes) + kThreads * kKeys);
  if (Target::kNestsCells && most_of_cell >= kMostRanked &&
      block_nest_cells<kThreads>(equal, count, begins, scratch.warp_sums, scratch.nested) &&
      block_sort_by_known_cells<kThreads, kKeys, kCells>(from, to, count, scratch.nested,
                                                         kMostRanked, scratch)) {
    return true;
  }
  block_sample_cells<kThreads>(from, count, range, scratch.sampled);
  return block_sort_by_known_cells<kThreads, kKeys, kCells>(from, to, count, scratch.sampled,
                                                            most_of_cell, scratch);
}

// Sorts `count` keys, at most one tile, from `from` to `to`, which may be the same. Returns false
// and writes nothing if a cell has too many keys.
template <unsigned kThreads, unsigned kKeys, unsigned kCells, class Key, class Target>
__device__ bool block_sort_by_cells(const Key* from, const Target& to, unsigned count,
                                    unsigned most_of_cell,
                                    KeyCellScratch<Key, kThreads, kCells>& scratch) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto* const tile = reinterpret_cast<Key*>(shared_bytes);
  auto* const counts = reinterpret_cast<unsigned*>(tile + kThreads * kKeys);
  ThreadKeys<Key, kThreads, kKeys> keys;
  keys.load(from, count);
  thread_clear_cells<kThreads, kCells>(counts);
  if (threadIdx.x == 0) scratch.long_cells.count = 0;
  const KeyRange<Key> range = block_find_cell_range(keys, scratch);
  if (range.least == range.greatest) {
    if (to.holds(from)) return true;
    for (unsigned i = threadIdx.x; i < count; i += kThreads) to.put(i, range.least);
    return true;
  }
  const auto cells = KeyCells<Key, kCells>::of(range.least, range.greatest);
  thread_count_cells(keys, cells, counts);
  const CellOrder order = block_order_cells(cells, kMostRanked, counts, scratch);
  if (order == CellOrder::kCrowded) {
    return block_sort_crowded_tile<kThreads, kKeys>(from, to, count, range, cells, most_of_cell,
                                                    scratch);
  }
  block_store_cells<kThreads, kKeys>(keys, count, cells, cells, order, tile, counts,
                                     scratch.long_cells, to);
  return true;
}

// Calls sort(tile) for each packed tile that this block takes, and lists the tiles for which it
// returns false. All threads of the block call this.
template <class Pass, class Sort>
__device__ void block_sort_packed_tiles(const Pass& pass, const Sort& sort) {
  DistributionCounts& counts = *pass.counts;
  block_take_jobs(counts.packed_tiles, &counts.taken_packed_tiles, [&](std::uint64_t tile) {
    const LongArray array = pass.packed_tiles[tile];
    if (sort(array) || threadIdx.x != 0) return;
    pass.crowded_tiles[thread_add(&counts.lists.tile_arrays, 1)] = array;
  });
}

template <class Key>
__global__ void __launch_bounds__(kCellSort<Key>.threads,
                                  kCellSort<Key>.resident_threads / kCellSort<Key>.threads)
    cell_sort_kernel(const __grid_constant__ PackedSortPass<Key> pass) {
  constexpr CellSortTuning kTuning = kCellSort<Key>;
  __shared__ KeyCellScratch<Key, kTuning.threads, kTuning.cells()> scratch;
  grid_begin();
  block_sort_packed_tiles(pass, [&](const LongArray& array) {
    return block_sort_by_cells<kTuning.threads, kTuning.keys_per_thread, kTuning.cells()>(
        pass.buckets.input + array.begin,
        KeyTarget<Key>{pass.buckets.after_even_passes + array.begin, pass.buckets.maps},
        static_cast<unsigned>(array.length), pass.most_of_cell, scratch);
  });
}

}  // namespace gsort::gpu
