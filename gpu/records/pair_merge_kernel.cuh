// pair_merge_kernel: merges the tiles of one pass over pairs, stably. The twin of
// kway_merge_kernel.cuh, whose cuts, slices and levels it shares; its words carry a key, or the
// upper bits of one, and an index (pair_code.hpp), which counts through the slices laid end to end:
// so pairs of equal keys keep the order of their runs, and within a run their own.
//
// Threads: block b merges what lies between the rows of cuts b and b + 1. Warp w loads pairs 32wE
// to 32(w+1)E - 1 of the slices, laid end to end: keys by way of registers into words, values
// straight into shared memory. Thread t makes row t in each level of the tree, and puts right what
// its words left out (pair_ties.cuh).
// Shared memory: the tile's values in that order, what the code stages of keys, and the words
// (pair_tile.cuh) as the slices of kway_merge_kernel.cuh.
// Device memory: each key and value is read once and written once, 2 * (sizeof(Key) +
// sizeof(Value)) bytes an element, and the rows of cuts. The ends of each slice are read twice, and
// a tile that gives up its prefixes reads once more what it had read.
#pragma once

#include <bit>
#include <cstdint>

#include "gpu/merge/kway_merge_kernel.cuh"
#include "gpu/records/launch.hpp"
#include "gpu/records/pair_store.cuh"
#include "gpu/records/pair_ties.cuh"
#include "gpu/records/warp_extremes.cuh"

namespace gsort::gpu {

// A thread's pairs of the tile, on their way to shared memory: those at positions first, first + 32
// ... of the slices laid end to end, kAtOnce at a time. All loads of these are issued before one of
// them is waited for.
template <class Key, class Value, unsigned kRowWords, unsigned kFanIn, bool kMapped>
class ThreadPairs {
 public:
  static constexpr unsigned kAtOnce = sizeof(Key) == 4 ? 16 : 8;

  __device__ ThreadPairs(const PairMergePass<Key, Value>& pairs, const TileSlices<kFanIn>& slices,
                         unsigned first)
      : pairs_(&pairs), slices_(&slices), position_(first) {}

  // Loads the next keys, and starts copying their values to the places of `staged` that their
  // positions name.
  __device__ void load(Value* staged) {
    const unsigned count = slices_->first[kFanIn];
    staged += position_;
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const unsigned position = position_ + 32 * i;
      if (position >= count) break;
      if (position >= slice_end_) enter_slice_of(position);
      keys_[i] = pairs_->keys.template reader<kMapped>(keys_from_)[32 * i];
      thread_copy_async(staged + 32 * i, values_from_ + 32 * i);
      places_[i] = first_place_ + step_ * static_cast<int>(i);
    }
  }

  // Makes words of these keys, and goes on to the next ones.
  template <class Code, unsigned kRows>
  __device__ void put_words(const Code& code, const PairTile<Code, Value, kRows, kRowWords>& tile) {
    const unsigned count = slices_->first[kFanIn];
#pragma unroll
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const unsigned position = position_ + 32 * i;
      if (position >= count) break;
      code.stage(keys_[i], position);
      tile.words.put(places_[i], code.word_of(keys_[i], position));
    }
    position_ += 32 * kAtOnce;
    keys_from_ += 32 * kAtOnce;
    values_from_ += 32 * kAtOnce;
    first_place_ += step_ * static_cast<int>(kAtOnce);
  }

  // Do the last key and the slice's next one, which the next lane has, share a prefix?
  template <class Code>
  __device__ bool finds_tie(const Code& code) const {
    const Key key = keys_[kAtOnce - 1];
    const Key next = __shfl_down_sync(kWholeWarp, key, 1);
    const bool are_neighbours =
        threadIdx.x % 32 != 31 && position_ + 32 * (kAtOnce - 1) + 1 < slice_end_;
    return are_neighbours && Code::share_prefix(code.word_of(key, 0), code.word_of(next, 0));
  }

 private:
  // As place_of() counts, of words before the tile's begin too.
  static constexpr int kRowShift = std::countr_zero(kRowWords);
  static constexpr int kWarpStride = 32 + 32 / static_cast<int>(kRowWords);

  __device__ void enter_slice_of(unsigned position) {
    do {
      slice_end_ = slices_->first[++ends_passed_];
    } while (position >= slice_end_);
    const unsigned slice = ends_passed_ - 1;
    // The slice may begin behind position_.
    const auto offset = static_cast<std::int32_t>(position_ - slices_->first[slice]);
    const auto source = static_cast<std::int64_t>(slices_->source[slice]) + offset;
    const bool reversed = slice % 2 != 0;
    keys_from_ = pairs_->keys.input + source;
    values_from_ = pairs_->values_in + source + (reversed ? pairs_->second_values_shift : 0);
    step_ = reversed ? -kWarpStride : kWarpStride;
    const int word = static_cast<int>(slices_->first_row[(slice + 1) / 2] * kRowWords) +
                     (reversed ? -1 - offset : offset);
    first_place_ = word + (word >> kRowShift);
  }

  const PairMergePass<Key, Value>* pairs_;
  const TileSlices<kFanIn>* slices_;
  unsigned position_;
  unsigned slice_end_ = 0;
  unsigned ends_passed_ = 0;
  const Key* keys_from_ = nullptr;  // of position_, if the slice went on that far
  const Value* values_from_ = nullptr;
  int first_place_ = 0;  // of its word
  int step_ = 0;         // places from a pair's word to the next one's
  Key keys_[kAtOnce];
  int places_[kAtOnce];  // of the keys' words
};

// The range of the tile's keys, from the ends of its slices. The same in all lanes of the block.
template <bool kMapped, class Key, unsigned kFanIn>
__device__ KeyRange<Key> warp_find_range(const MergePass<Key>& pass,
                                         const TileSlices<kFanIn>& slices) {
  const unsigned lane = threadIdx.x % 32;
  KeyRange<Key> range;
  if (lane < kFanIn) {
    const unsigned count = slices.first[lane + 1] - slices.first[lane];
    if (count > 0) {
      const auto slice = pass.template reader<kMapped>(pass.input) + slices.source[lane];
      range = {slice[0], slice[count - 1]};
    }
  }
  return {warp_least(range.least), warp_greatest(range.greatest)};
}

// Merges the tile's slices with words of `code`, and stores them. False, with nothing stored, if
// the code does not suit the keys. Requires: the first keys of `mine` are loaded.
template <unsigned kThreads, unsigned kRowWords, class Code, class Value, unsigned kFanIn,
          bool kMapped>
__device__ bool block_merge_pairs(
    const Code& code, const PairMergePass<typename Code::Key, Value>& pairs,
    ThreadPairs<typename Code::Key, Value, kRowWords, kFanIn, kMapped> mine,
    const TileSlices<kFanIn>& slices, unsigned* co_ranks, unsigned char* shared_bytes) {
  using Key = typename Code::Key;
  const MergePass<Key>& pass = pairs.keys;
  const unsigned count = slices.first[kFanIn];
  const auto tile = PairTile<Code, Value, kThreads, kRowWords>::in(shared_bytes);
  mine.put_words(code, tile);
#pragma unroll 1
  for (unsigned i = mine.kAtOnce; i < kRowWords; i += mine.kAtOnce) {
    mine.load(tile.values);
    mine.put_words(code, tile);
  }
  warp_fill_holes(tile.words, slices);
  __syncthreads();  // the words of the slices are in shared memory

  typename Code::Word words[kRowWords];
  block_merge_slices(tile.words, slices, co_ranks, words);
  thread_wait_for_copies();
  __syncthreads();  // all values are in shared memory, and so are all rows
  if (!block_sort_ties(tile, code, count, co_ranks)) return false;

  const TilePlace place = slices.place;
  TileTarget<Key> target{pass.output + place.output, count,     nullptr,
                         place.group_position,       pass.maps, pass.store_map};
  if (pass.writes_samples) target.samples = pass.samples + place.sample_begin;
  warp_store_pairs(tile, code, target, pairs.values_out + place.output);
  return true;
}

// The thread's pairs, of which the first ones are on their way.
template <unsigned kRowWords, bool kMapped, class Key, class Value, unsigned kFanIn>
__device__ ThreadPairs<Key, Value, kRowWords, kFanIn, kMapped> thread_load_pairs(
    const PairMergePass<Key, Value>& pairs, const TileSlices<kFanIn>& slices,
    unsigned char* shared_bytes) {
  const unsigned first = threadIdx.x / 32 * 32 * kRowWords + threadIdx.x % 32;
  ThreadPairs<Key, Value, kRowWords, kFanIn, kMapped> mine(pairs, slices, first);
  mine.load(reinterpret_cast<Value*>(shared_bytes));
  return mine;
}

// Merges the tile's slices with words of whole keys, and stores them. A function of its own, so
// that what it needs in registers does not cost the kernel others.
template <unsigned kThreads, unsigned kRowWords, bool kMapped, class Key, class Value,
          unsigned kFanIn>
__device__ __noinline__ void block_merge_whole_keys(const PairMergePass<Key, Value>& pairs,
                                                    const TileSlices<kFanIn>& slices,
                                                    unsigned* co_ranks,
                                                    unsigned char* shared_bytes) {
  thread_wait_for_copies();  // of values, which are copied anew
  const auto mine = thread_load_pairs<kRowWords, kMapped>(pairs, slices, shared_bytes);
  block_merge_pairs<kThreads>(WholeKeyCode<Key>{}, pairs, mine, slices, co_ranks, shared_bytes);
}

// Merges tile `number` of the pass, if it exists.
template <class Cuts, unsigned kThreads, unsigned kRowWords, unsigned kFanIn, bool kMapped,
          class Key, class Value>
__device__ void block_merge_pair_tile(const PairMergePass<Key, Value>& pairs,
                                      std::uint64_t number) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ TileSlices<kFanIn> slices;
  __shared__ unsigned co_ranks[kThreads + 1];
  constexpr unsigned kTilePairs = merge_tile_keys(kThreads, kRowWords, kFanIn);
  using Prefixes = PrefixCodeFor<Key, kThreads * kRowWords>;
  using Tile = PairTile<Prefixes, Value, kThreads, kRowWords>;
  // A tile of two slices that has a pair with the index of a fill has no holes.
  static_assert(kTilePairs <= Prefixes::kMaxIndex + (kFanIn == 2 ? 1 : 0));
  if (!Cuts::template block_find_slices<kTilePairs, kRowWords, kMapped>(pairs.keys, number,
                                                                        slices)) {
    return;
  }
  const auto mine = thread_load_pairs<kRowWords, kMapped>(pairs, slices, shared_bytes);
  const auto code =
      Prefixes::of(warp_find_range<kMapped>(pairs.keys, slices), Tile::staged_in(shared_bytes));
  if (!code.may_misplace() || !block_expects_many_ties<kThreads>(mine.finds_tie(code))) {
    if (block_merge_pairs<kThreads>(code, pairs, mine, slices, co_ranks, shared_bytes)) return;
  }
  block_merge_whole_keys<kThreads, kRowWords, kMapped>(pairs, slices, co_ranks, shared_bytes);
}

template <class Key, class Value, unsigned kThreads, unsigned kRowWords, unsigned kFanIn,
          unsigned kResidentThreads, class Cuts, bool kMapped>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    pair_merge_kernel(const __grid_constant__ PairMergePass<Key, Value> pairs) {
  grid_begin();
  block_merge_pair_tile<Cuts, kThreads, kRowWords, kFanIn, kMapped>(pairs, blockIdx.x);
}

}  // namespace gsort::gpu
