// kway_merge_kernel: merges the tiles of one pass; what a pass is, merge_pass.hpp says.
//
// Threads: block b merges what lies between the rows of cuts b and b + 1, or with SearchedCuts tile
// b, whose cuts it finds itself. Warp w copies words 32wE to 32(w+1)E - 1 of the slices, laid end
// to end, into shared memory; thread t makes row t in each level of the tree: kFanIn slices become
// kFanIn / 2 lists, and so on to one.
// Shared memory: kFanIn / 2 regions, one a pair of slices: A ascending, greatest keys up to a
// multiple of E, B descending. So all later lists are whole rows; the fill ends up behind the
// tile's keys and is not stored.
// Device memory: each key is read once and written once, 2 * sizeof(Key) bytes an element, and
// the rows of cuts.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gpu/cuda/copy_async.cuh"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/warp_lanes.cuh"
#include "gpu/merge/block_merge.cuh"
#include "gpu/merge/block_store.cuh"
#include "gpu/merge/merge_pass.hpp"
#include "gpu/merge/wide_co_rank.hpp"

namespace gsort::gpu {

// Where a tile's keys go.
struct TilePlace {
  std::uint64_t output;          // position of its first key
  std::uint64_t group_position;  // the same, counted from the group's begin
  std::uint64_t sample_begin;    // of the merged run
};

// The facts that a block has about its tile, in shared memory: registers are scarce.
template <unsigned kFanIn>
struct TileSlices {
  std::uint64_t source[kFanIn];        // position in the input of each slice's first key
  unsigned first[kFanIn + 1];          // the same counted through all slices of the tile
  unsigned first_row[kFanIn / 2 + 1];  // of each pair's region
  TilePlace place;
};

// From each slice's source, and its length in first[slice + 1]: all the rest. Holds a barrier.
// Requires: lanes of the first warp wrote them.
template <unsigned kRowWords, unsigned kFanIn>
__device__ void block_lay_out_slices(TileSlices<kFanIn>& slices) {
  __syncwarp();
  if (threadIdx.x == 0) {
    slices.first[0] = 0;
    slices.first_row[0] = 0;
    for (unsigned pair = 0; pair < kFanIn / 2; ++pair) {
      const unsigned a = slices.first[2 * pair + 1];
      const unsigned b = slices.first[2 * pair + 2];
      slices.first[2 * pair + 1] = slices.first[2 * pair] + a;
      slices.first[2 * pair + 2] = slices.first[2 * pair] + a + b;
      slices.first_row[pair + 1] = slices.first_row[pair] + (a + b + kRowWords - 1) / kRowWords;
    }
  }
  __syncthreads();  // the slices are known
}

// How a block learns the slices of a tile, given its number: from the rows of cuts that
// partition_kernel wrote, or by searching for them, which only pays for two runs in the L2 cache.
// Both return false for a tile that has nothing to merge, and hold a barrier for all others.
struct WrittenCuts {
  template <unsigned kTileKeys, unsigned kRowWords, bool kMapped, class Key, unsigned kFanIn>
  static __device__ bool block_find_slices(const MergePass<Key>& pass, std::uint64_t tile,
                                           TileSlices<kFanIn>& slices) {
    constexpr std::uint64_t kRowNumbers = kRowHeader + kFanIn;
    const std::uint64_t* const row = pass.rows + tile * kRowNumbers;
    if (row[kOutputPosition] == kGroupEnd) return false;
    if (threadIdx.x == 0) {
      slices.place = {row[kOutputPosition], row[kGroupPosition], row[kSampleBegin]};
    }
    if (threadIdx.x < kFanIn) {
      const std::uint64_t begin = row[kRowHeader + threadIdx.x];
      const std::uint64_t end = row[kRowNumbers + kRowHeader + threadIdx.x];
      slices.source[threadIdx.x] = begin;
      slices.first[threadIdx.x + 1] = static_cast<unsigned>(end - begin);
    }
    block_lay_out_slices<kRowWords>(slices);
    return true;
  }
};

template <unsigned kLanes>
struct SearchedCuts {
  template <unsigned kTileKeys, unsigned kRowWords, bool kMapped, class Key, unsigned kFanIn>
  static __device__ bool block_find_slices(const MergePass<Key>& pass, std::uint64_t number,
                                           TileSlices<kFanIn>& slices) {
    static_assert(kFanIn == 2);
    const TileOfTwo tile = pass.tile_of_two(number, kTileKeys);
    if (tile.begin == tile.end) return false;
    // One team finds where the slices begin, the next where they end.
    __shared__ std::uint64_t ends[2];
    const unsigned team = threadIdx.x / kLanes;
    if (team < 2) {
      const auto keys = pass.template reader<kMapped>(pass.input);
      const std::uint64_t cut = wide_co_rank(
          WarpLanes<kLanes>{}, team == 0 ? tile.begin : tile.end, keys + tile.runs.first_begin,
          tile.runs.first_length, keys + tile.runs.second_begin, tile.runs.second_length);
      if (threadIdx.x % kLanes == 0) ends[team] = cut;
    }
    __syncthreads();  // both ends are found
    if (threadIdx.x == 0) {
      slices.place = {tile.runs.first_begin + tile.begin, tile.begin, 0};
      slices.source[0] = tile.runs.first_begin + ends[0];
      slices.source[1] = tile.runs.second_begin + (tile.begin - ends[0]);
      slices.first[1] = static_cast<unsigned>(ends[1] - ends[0]);
      slices.first[2] = static_cast<unsigned>((tile.end - tile.begin) - (ends[1] - ends[0]));
    }
    block_lay_out_slices<kRowWords>(slices);
    return true;
  }
};

template <class Key>
__device__ void thread_copy_key(Key* to, const Key* from) {
  thread_copy_async(to, from);
}
template <class Key>
__device__ void thread_copy_key(Key* to, MappedReader<Key> from) {
  *to = from[0];
}

// Copies words [from, to) of the tile, all of one slice; the first goes to `word` of the shared
// tile, the others behind it or, for kReversed, before it. 32 words further is a constant number of
// places further.
template <bool kReversed, class Key, unsigned kRowWords, class Keys>
__device__ void warp_copy_slice(TileWords<Key, kRowWords> tile, Keys source, unsigned count,
                                unsigned word) {
  const unsigned lane = threadIdx.x % 32;
  constexpr int kStep = static_cast<int>(TileWords<Key, kRowWords>::kWarpStride);
  constexpr int kSignedStep = kReversed ? -kStep : kStep;
  Key* to = tile.words + tile.place_of(kReversed ? word - lane : word + lane);
  source = source + lane;
  constexpr int kAtOnce = 8;
#pragma unroll 1
  for (int left = static_cast<int>(count - lane); left > 0; left -= 32 * kAtOnce) {
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      if (left > 32 * j) thread_copy_key(to + j * kSignedStep, source + 32 * j);
    }
    source = source + 32 * kAtOnce;
    to += kAtOnce * kSignedStep;
  }
}

// Calls copy(reversed, source, position, count, word) for each stretch of one slice in this warp's
// share of the tile: `count` elements from `source` of the input, which lie at `position` of the
// slices laid end to end; the first goes to `word` of the tile, the others behind it or, if
// `reversed` is std::true_type, before it.
template <unsigned kRowWords, unsigned kFanIn, class Copy>
__device__ void warp_visit_slices(const TileSlices<kFanIn>& slices, const Copy& copy) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const unsigned share_begin = warp * 32 * kRowWords;
  const unsigned share_end = share_begin + 32 * kRowWords;
  // Lane i knows slice i, so that the warp goes to the slices of its share only.
  const unsigned first = slices.first[lane < kFanIn ? lane : kFanIn];
  const unsigned end = slices.first[lane < kFanIn ? lane + 1 : kFanIn];
  const unsigned lane_from = first > share_begin ? first : share_begin;
  const unsigned lane_to = end < share_end ? end : share_end;
#pragma unroll 1
  for (unsigned mine = __ballot_sync(kWholeWarp, lane_from < lane_to); mine != 0;
       mine &= mine - 1) {
    const int slice = __ffs(static_cast<int>(mine)) - 1;
    const unsigned from = __shfl_sync(kWholeWarp, lane_from, slice);
    const unsigned count = __shfl_sync(kWholeWarp, lane_to, slice) - from;
    const unsigned offset = from - __shfl_sync(kWholeWarp, first, slice);
    const std::uint64_t source = slices.source[slice] + offset;
    if (slice % 2 == 0) {
      const unsigned word = slices.first_row[slice / 2] * kRowWords + offset;
      copy(std::false_type{}, source, from, count, word);
    } else {
      // Lanes past the slice's begin would count below word 0; they copy nothing.
      const unsigned word = slices.first_row[slice / 2 + 1] * kRowWords - 1 - offset;
      copy(std::true_type{}, source, from, count, word);
    }
  }
}

// Fills the holes between the lists of each pair.
template <class Key, unsigned kRowWords, unsigned kFanIn>
__device__ void warp_fill_holes(TileWords<Key, kRowWords> tile, const TileSlices<kFanIn>& slices) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned pair = threadIdx.x / 32; pair < kFanIn / 2; pair += blockDim.x / 32) {
    const unsigned hole_begin =
        slices.first_row[pair] * kRowWords + slices.first[2 * pair + 1] - slices.first[2 * pair];
    const unsigned hole_end = slices.first_row[pair + 1] * kRowWords -
                              (slices.first[2 * pair + 2] - slices.first[2 * pair + 1]);
    if (hole_begin + lane < hole_end) {
      tile.at(tile.place_of(hole_begin + lane)).put(0, greatest_word<Key>());
    }
  }
}

// The pair whose region holds `row`; the last pair for rows behind all regions. Pairs without rows
// hold none.
template <unsigned kFanIn>
__device__ unsigned thread_find_pair(const TileSlices<kFanIn>& slices, unsigned row) {
  unsigned pair = 0;
#pragma unroll
  for (unsigned next = 1; next < kFanIn / 2; ++next) {
    if (row >= slices.first_row[next]) pair = next;
  }
  return pair;
}

// The region of `pair` in the level whose regions are each `pairs` of the first level's.
template <unsigned kRowWords, unsigned kFanIn>
__device__ MergeRegion thread_region_of(const TileSlices<kFanIn>& slices, unsigned pair,
                                        unsigned pairs, unsigned row) {
  if (row >= slices.first_row[kFanIn / 2]) return {};
  const unsigned first = pair & ~(pairs - 1);
  const unsigned first_row = slices.first_row[first];
  const unsigned rows = slices.first_row[first + pairs] - first_row;
  const unsigned a_words =
      pairs == 1 ? rows * kRowWords - (slices.first[2 * pair + 2] - slices.first[2 * pair + 1])
                 : (slices.first_row[first + pairs / 2] - first_row) * kRowWords;
  return {first_row, rows, a_words};
}

// Merges the slices in shared memory, level by level, and leaves thread t's part as row t of the
// tile. Requires: all words are visible to the block. Ensures: row t is visible to thread t.
template <class Key, unsigned kRowWords, unsigned kFanIn>
__device__ void block_merge_slices(TileWords<Key, kRowWords> tile, const TileSlices<kFanIn>& slices,
                                   unsigned* co_ranks, Key (&keys)[kRowWords]) {
  const unsigned row = threadIdx.x;
  const unsigned pair = thread_find_pair(slices, row);
#pragma unroll 1
  for (unsigned pairs = 1; pairs <= kFanIn / 2; pairs *= 2) {
    const MergeRegion region = thread_region_of<kRowWords>(slices, pair, pairs, row);
    block_merge_level<Sharers::kBlock>(tile, region, row, co_ranks, keys);
    if (region.rows == 0) {
      // Nothing to store.
    } else if (pairs < kFanIn / 2 && (pair & pairs) != 0) {  // the next level's B
      thread_store_row_reversed(tile, row, region.first_row, region.rows, keys);
    } else {
      thread_store_row(tile, row, keys);
    }
    if (pairs < kFanIn / 2) __syncthreads();  // the next level's lists are written
  }
}

// Merges tile `number` of the pass, if it exists. store(tile, place, count) stores the warp's rows
// of it.
template <class Cuts, unsigned kThreads, unsigned kRowWords, unsigned kFanIn, bool kMapped,
          class Key, class Store>
__device__ void block_merge_tile(const MergePass<Key>& pass, std::uint64_t number,
                                 const Store& store) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ TileSlices<kFanIn> slices;
  __shared__ unsigned co_ranks[kThreads + 1];
  const TileWords<Key, kRowWords> tile{reinterpret_cast<Key*>(shared_bytes)};
  constexpr unsigned kTileKeys = merge_tile_keys(kThreads, kRowWords, kFanIn);
  if (!Cuts::template block_find_slices<kTileKeys, kRowWords, kMapped>(pass, number, slices)) {
    return;
  }
  const auto input = pass.template reader<kMapped>(pass.input);
  warp_visit_slices<kRowWords>(slices, [&](auto reversed, std::uint64_t source,
                                           unsigned /*position*/, unsigned count, unsigned word) {
    warp_copy_slice<decltype(reversed)::value>(tile, input + source, count, word);
  });
  warp_fill_holes(tile, slices);
  thread_wait_for_copies();
  __syncthreads();  // the slices are in shared memory

  Key keys[kRowWords];
  block_merge_slices(tile, slices, co_ranks, keys);

  store(tile, slices.place, slices.first[kFanIn]);
}

// The same; the keys are the pass's output.
template <class Cuts, unsigned kThreads, unsigned kRowWords, unsigned kFanIn, bool kMapped,
          class Key>
__device__ void block_merge_tile(const MergePass<Key>& pass, std::uint64_t number) {
  using Tile = TileWords<Key, kRowWords>;
  block_merge_tile<Cuts, kThreads, kRowWords, kFanIn, kMapped>(
      pass, number, [&](Tile tile, const TilePlace& place, unsigned count) {
        TileTarget<Key> target{pass.output + place.output, count,     nullptr,
                               place.group_position,       pass.maps, pass.store_map};
        if (pass.writes_samples) target.samples = pass.samples + place.sample_begin;
        warp_store_tile(tile, target);
      });
}

template <class Key, unsigned kThreads, unsigned kRowWords, unsigned kFanIn,
          unsigned kResidentThreads, class Cuts, bool kMapped>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    kway_merge_kernel(const __grid_constant__ MergePass<Key> pass) {
  grid_begin();
  block_merge_tile<Cuts, kThreads, kRowWords, kFanIn, kMapped>(pass, blockIdx.x);
}

}  // namespace gsort::gpu
