// pair_distribution_kernel: sends each pair to its bin, in the order of the input.
//
// Idea. The counts (pair_count_kernel.cuh) give each bin of a piece its place. A block goes through
// a piece tile by tile; a bin's pairs of a tile go behind those of the tiles before. In a tile,
// warp w has the pairs [32wE, 32(w+1)E), and lane l has those at l, l + 32 ... of them. A pair's
// rank in its bin is the number of the bin's pairs in earlier warps, in earlier rounds of its warp,
// and in lower lanes of its round.
//
// Threads: a warp ranks its pairs round by round: ballots tell each lane which others have the same
// bin, and the first of these adds their number to a counter of the warp. Thread t < 512 then adds
// up the counters of bin t, warp by warp. The tile's keys go to shared memory bin by bin, and from
// there to the bins; then its values do. Neighbouring lanes have neighbouring pairs
// (tile_groups.cuh).
// Shared memory: the tile's keys or values; a counter for each warp and bin; the table.
// Device memory: each pair is read and written once; a piece reads two numbers of 8 bytes per bin.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gpu/distribute/distribution_kernel.cuh"
#include "gpu/distribute/launch.hpp"
#include "gpu/distribute/pair_count_kernel.cuh"
#include "gpu/distribute/tile_groups.cuh"
#include "gpu/records/warp_pairs.cuh"

namespace gsort::gpu {

// A block's data about the tile that it distributes, and about the bins of its bucket.
template <unsigned kTilePairs>
struct PairBins {
  std::uint64_t next[kMostBins];  // where the bin's next pair goes, and kFinalRoom
  // Where the tile's first word would go if it were of this group.
  TileGroups<std::uint64_t, kTilePairs> groups;
};

// The dynamic shared memory of pair_distribution_kernel.
template <class Key, class Value, unsigned kTilePairs>
struct PairStage {
  Key* keys;           // bin by bin
  Value* values;       // the same, in the same memory, once the keys are written
  unsigned* counters;  // of each warp's bins; later where a bin's pairs of the warp begin

  static __device__ PairStage in(unsigned char* memory) {
    return {
        reinterpret_cast<Key*>(memory), reinterpret_cast<Value*>(memory),
        reinterpret_cast<unsigned*>(memory + kTilePairs * std::max(sizeof(Key), sizeof(Value)))};
  }
};

template <unsigned kTilePairs, class Key, unsigned kPairs>
__device__ void thread_load_pair_keys(const DistributionPass<Key>& pass, std::uint64_t begin,
                                      unsigned count, Key (&keys)[kPairs]) {
  thread_load_words(pass.input + begin, kTilePairs, count, keys);
  if (pass.maps.loads_mapped) {
#pragma unroll
    for (Key& key : keys) key = pass.maps.load_map.to_ordered(key);
  }
}

// Ranks the thread's pairs among the warp's pairs of their bins. Pairs past the count get the last
// bin, and so rank behind all others. Ensures: the warp's counters say how many pairs of each bin
// it has.
template <bool kIsFull, class Key, unsigned kPairs>
__device__ void warp_rank_pairs(const BinHead<Key>& head, const SteppedTable<Key>& table,
                                const Key (&keys)[kPairs], unsigned count, unsigned* counters,
                                RankedBin (&ranked)[kPairs]) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned i = 0; i < kMostBins / 32; ++i) counters[32 * i + lane] = 0;
  unsigned bins[kPairs];
  // All are taken to exist; those past the count get the last bin below.
  thread_find_bins<1>(head, table, keys, kPairs, bins);
  if (!kIsFull) {
    const unsigned first = thread_first_pair<kPairs>();
#pragma unroll
    for (unsigned i = 0; i < kPairs; ++i) {
      if (first + 32 * i >= count) bins[i] = kMostBins - 1;
    }
  }
#pragma unroll
  for (unsigned i = 0; i < kPairs; ++i) {
    const unsigned peers = warp_find_peers<kMostBinBits>(bins[i]);
    const auto before = static_cast<unsigned>(__popc(static_cast<int>(peers & ((1U << lane) - 1))));
    unsigned rank = 0;
    __syncwarp();  // the counters are clear, or have the round before
    if (before == 0) {
      rank = atomicAdd(&counters[bins[i]], static_cast<unsigned>(__popc(static_cast<int>(peers))));
    }
    rank = __shfl_sync(kWholeWarp, rank, __ffs(static_cast<int>(peers)) - 1) + before;
    ranked[i] = RankedBin::of(bins[i], rank);
  }
}

// Replaces each warp's counters by where its pairs of a bin begin in the tile, and sets the
// destination of the tile's pairs of each bin. Returns the number of groups. Requires: all warps
// have ranked. Does not end with a barrier.
template <unsigned kThreads, unsigned kTilePairs>
__device__ unsigned block_place_bins(unsigned* counters, unsigned count,
                                     PairBins<kTilePairs>& tile) {
  constexpr unsigned kWarps = kThreads / 32;
  static_assert(kThreads >= kMostBins);
  const unsigned bin = threadIdx.x;
  unsigned pairs = 0;
  if (bin < kMostBins) {
#pragma unroll 16
    for (unsigned warp = 0; warp < kWarps; ++warp) pairs += counters[warp * kMostBins + bin];
  }
  if (bin == kMostBins - 1) pairs -= kTilePairs - count;  // those past the count
  const ThreadGroup own = block_number_groups<kThreads>(pairs, tile.groups);
  if (bin >= kMostBins) return own.groups;
  unsigned begin = own.begin;
#pragma unroll 16
  for (unsigned warp = 0; warp < kWarps; ++warp) {
    unsigned& counter = counters[warp * kMostBins + bin];
    const unsigned pairs_of_warp = counter;
    counter = begin;
    begin += pairs_of_warp;
  }
  if (pairs != 0) {
    const std::uint64_t next = tile.next[bin];
    tile.next[bin] = next + pairs;
    tile.groups.places[own.number] = (next & ~kFinalRoom) - own.begin;
    tile.groups.is_final[own.number] = (next & kFinalRoom) != 0;
  }
  return own.groups;
}

// Writes words that lie bin by bin to the bins; map(word, group) gives the word to write.
template <bool kIsFull, unsigned kThreads, unsigned kPairs, class Word, class Groups, class Map>
__device__ void thread_write_words(const Word* tile, unsigned count, const Groups& groups,
                                   Word* output, const Map& map) {
#pragma unroll
  for (unsigned i = 0; i < kPairs; ++i) {
    const unsigned word = i * kThreads + threadIdx.x;
    if (!kIsFull && word >= count) continue;
    const unsigned group = groups.group_of(i * (kThreads / 32) + threadIdx.x / 32);
    output[groups.places[group] + word] = map(tile[word], group);
  }
}

template <bool kIsFull, unsigned kThreads, unsigned kPairs, class Key, class Groups>
__device__ void thread_write_keys(const DistributionPass<Key>& pass, const Key* tile,
                                  unsigned count, const Groups& groups) {
  const auto as_it_is = [](Key key, unsigned) { return key; };
  const auto mapped = [&](Key key, unsigned group) {
    return groups.is_final[group] ? pass.maps.store_map.to_raw(key) : key;
  };
  if (pass.maps.stores_mapped) {
    thread_write_words<false, kThreads, kPairs>(tile, count, groups, pass.output, mapped);
  } else {
    thread_write_words<kIsFull, kThreads, kPairs>(tile, count, groups, pass.output, as_it_is);
  }
}

// Sends the pairs of one tile, which begins at `begin`, to their bins; on entry, `keys` are its
// keys, on return those of the next tile. kIsFull: the tile has kThreads * kPairs pairs.
template <bool kIsFull, unsigned kThreads, class Key, class Value, class Stage, class Tile,
          unsigned kPairs, class LoadNext>
__device__ void block_distribute_pairs(const PairDistributionPass<Key, Value>& pairs,
                                       std::uint64_t begin, unsigned count,
                                       const BinHead<Key>& head, const SteppedTable<Key>& table,
                                       const Stage& stage, Tile& tile, Key (&keys)[kPairs],
                                       const LoadNext& load_next) {
  constexpr unsigned kTilePairs = kThreads * kPairs;
  unsigned* const counters = stage.counters + threadIdx.x / 32 * kMostBins;
  RankedBin ranked[kPairs];
  warp_rank_pairs<kIsFull>(head, table, keys, count, counters, ranked);
  __syncthreads();  // all pairs are ranked
  const unsigned groups = block_place_bins<kThreads>(stage.counters, count, tile);
  __syncthreads();  // all begins in the tile are known
  const unsigned first = thread_first_pair<kPairs>();
  unsigned words[kPairs];  // all read before one is written, so that none waits for another
#pragma unroll
  for (unsigned i = 0; i < kPairs; ++i) words[i] = ranked[i].word(counters);
  const auto exists = [&](unsigned i) { return kIsFull || first + 32 * i < count; };
#pragma unroll
  for (unsigned i = 0; i < kPairs; ++i) {
    if (exists(i)) stage.keys[words[i]] = keys[i];
  }
  thread_find_row_group(groups, count, tile.groups);
  __syncthreads();  // the keys lie bin by bin
  Value values[kPairs];
  thread_load_words(pairs.values_in + begin, kTilePairs, kIsFull ? kTilePairs : count, values);
  thread_write_keys<kIsFull, kThreads, kPairs>(pairs.keys, stage.keys, count, tile.groups);
  __syncthreads();  // the keys are written
#pragma unroll
  for (unsigned i = 0; i < kPairs; ++i) {
    if (exists(i)) stage.values[words[i]] = values[i];
  }
  __syncthreads();  // the values lie bin by bin
  load_next();
  thread_write_words<kIsFull, kThreads, kPairs>(stage.values, count, tile.groups, pairs.values_out,
                                                [](Value value, unsigned) { return value; });
  __syncthreads();  // the tile is written
}

// Sets where the next pair of each bin goes, for the first tile of a piece. Does not end with a
// barrier.
template <class Key, class Value>
__device__ void thread_begin_piece(const PairDistributionPass<Key, Value>& pairs, unsigned bucket,
                                   std::uint64_t piece, std::uint64_t (&next)[kMostBins]) {
  const unsigned bins = pairs.keys.tables.bins();
  for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    const std::uint64_t room = pairs.bin_places != nullptr
                                   ? pairs.bin_places[bin].begin
                                   : pairs.keys.rooms[std::uint64_t{bucket} * bins + bin];
    next[bin] = room + pairs.pieces[piece * bins + bin];
  }
}

// The tiles of a piece whose pairs all have the same key are not rearranged.
template <unsigned kTilePairs, class Key, class Value>
__device__ void block_copy_piece(const PairDistributionPass<Key, Value>& pairs, BucketTile place,
                                 std::uint64_t tiles) {
  for (std::uint64_t tile = 0; tile < tiles; ++tile, place.position += kTilePairs) {
    const std::uint64_t begin = place.bucket_begin + place.position;
    const unsigned count = place.count<kTilePairs>();
    block_copy_tile(pairs.keys, begin, begin, count);
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
      pairs.values_out[begin + i] = pairs.values_in[begin + i];
    }
  }
  __syncthreads();  // all threads have read which tile was found
}

template <class Key, class Value>
__global__ void __launch_bounds__(kPairDistribution<Key, Value>.threads)
    pair_distribution_kernel(const __grid_constant__ PairDistributionPass<Key, Value> pairs) {
  constexpr unsigned kThreads = kPairDistribution<Key, Value>.threads;
  constexpr unsigned kPairs = kPairDistribution<Key, Value>.keys_per_thread;
  constexpr unsigned kTilePairs = kThreads * kPairs;
  using Stage = PairStage<Key, Value, kTilePairs>;
  static_assert(kTilePairs < 1U << 16);
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ SharedBins<Key> shared_bins;
  __shared__ PairBins<kTilePairs> shared_tile;
  __shared__ BucketTile found;
  static_assert(sizeof(shared_bins) + sizeof(shared_tile) + sizeof(found) <= kBinsBytes);
  const Stage stage = Stage::in(shared_bytes);
  const DistributionPass<Key>& pass = pairs.keys;
  grid_begin();
  SteppedTable<Key> table{};
  unsigned loaded = pass.bucket_count;  // whose table is in shared memory
  block_for_pieces<kTilePairs>(
      pass, found,
      [&](BucketTile place, std::uint64_t tiles, std::uint64_t piece, const auto& take_next) {
        const BinHead<Key> head = pass.tables.heads[place.bucket];
        if (head.is_single()) {
          take_next();
          return block_copy_piece<kTilePairs>(pairs, place, tiles);
        }
        Key keys[kPairs];
        unsigned count = place.count<kTilePairs>();
        std::uint64_t begin = place.bucket_begin + place.position;
        thread_load_pair_keys<kTilePairs>(pass, begin, count, keys);
        if (loaded != place.bucket) {
          table = block_load_table(pass.tables, place.bucket, head, shared_bins);
          loaded = place.bucket;
        }
        thread_begin_piece(pairs, place.bucket, piece, shared_tile.next);
        __syncthreads();  // the table is loaded, the places are known
#pragma unroll 1
        for (std::uint64_t left = tiles; left > 0; --left) {
          if (threadIdx.x < kTilePairs / 32) shared_tile.groups.marks[threadIdx.x] = 0;
          place.position += kTilePairs;
          const unsigned next_count = left > 1 ? place.count<kTilePairs>() : 0;
          const auto load_next = [&] {
            if (left == 1) return take_next();
            thread_load_pair_keys<kTilePairs>(pass, begin + kTilePairs, next_count, keys);
          };
          if (count == kTilePairs) {
            block_distribute_pairs<true, kThreads>(pairs, begin, count, head, table, stage,
                                                   shared_tile, keys, load_next);
          } else {
            block_distribute_pairs<false, kThreads>(pairs, begin, count, head, table, stage,
                                                    shared_tile, keys, load_next);
          }
          begin += kTilePairs;
          count = next_count;
        }
      });
}

}  // namespace gsort::gpu
