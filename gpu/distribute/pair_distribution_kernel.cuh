// pair_count_kernel: counts what each piece has of each bin. pair_distribution_kernel: sends each
// pair to its bin, in the order of the input. A piece is what a block has of a bucket.
//
// Idea. The counts give each bin of a piece its place. A block goes through its stretch tile by
// tile; a bin's pairs of a tile go behind those of the tiles before. In a tile, warp w has the
// pairs [32wE, 32(w+1)E), lane l those at l, l + 32 ... of them; a pair's rank in its bin is the
// sum of what earlier warps have, earlier rounds of its warp, and lower lanes of its round.
//
// Threads: a warp ranks its pairs round by round: ballots tell each lane which others have the same
// bin, and a counter of the warp how many earlier rounds had. Thread t < 256 then adds up, warp by
// warp, what the bins 2t and 2t + 1 have, two sums of 16 bits in a word. The tile's keys go to
// shared memory bin by bin, and beside them which values are theirs; a few lanes write a bin.
// Shared memory: the tile's keys, its values in the order of the input, places of values; a counter
// of 16 bits a warp and bin; the table.
// Device memory: counting reads each key once, distributing reads and writes each pair once. A
// piece reads the counts of the earlier ones of its bucket.
#pragma once

#include <cstdint>

#include "gpu/cuda/copy_async.cuh"
#include "gpu/distribute/distribution_kernel.cuh"
#include "gpu/distribute/pair_launch.hpp"

namespace gsort::gpu {

// The tiles of one block.
struct TileStretch {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t a_block;  // tiles of every block but the last ones

  template <class Key>
  [[nodiscard]] static __device__ TileStretch of(const DistributionPass<Key>& pass) {
    const std::uint64_t all = pass.buckets[pass.bucket_count].first_tile;
    const std::uint64_t a_block = (all + gridDim.x - 1) / gridDim.x;
    const std::uint64_t begin = blockIdx.x * a_block;
    return {begin, begin + a_block < all ? begin + a_block : all, a_block};
  }
};

template <class Key, class Value>
__global__ void __launch_bounds__(kPairDistribution<Key, Value>.threads)
    pair_count_kernel(const __grid_constant__ PairDistributionPass<Key, Value> pairs) {
  constexpr unsigned kThreads = kPairDistribution<Key, Value>.threads;
  constexpr unsigned kTileKeys = kPairDistribution<Key, Value>.tile_keys();
  constexpr unsigned kKeys = 8;
  static_assert(kTileKeys % (kThreads * kKeys) == 0);
  __shared__ SharedBins<Key> shared_bins;
  __shared__ unsigned counts[kMostBins];
  __shared__ BucketTile found;
  const DistributionPass<Key>& pass = pairs.keys;
  grid_begin();
  const TileStretch stretch = TileStretch::of(pass);
  for (unsigned bin = threadIdx.x; bin < kMostBins; bin += kThreads) counts[bin] = 0;
#pragma unroll 1
  for (std::uint64_t tile = stretch.begin; tile < stretch.end;) {
    block_find_tile<kTileKeys>(pass, tile, found);
    const BucketTile place = found;
    const std::uint64_t bucket_end = place.tiles_end < stretch.end ? place.tiles_end : stretch.end;
    const std::uint64_t tiles = bucket_end - tile;
    tile = bucket_end;
    const BinHead<Key> head = pass.tables.heads[place.bucket];
    if (!head.is_single()) {
      const BinTable<Key> table = block_load_bins(pass.tables, place.bucket, head, shared_bins);
      __syncthreads();  // the table is loaded
      const std::uint64_t left = place.bucket_keys - place.position;
      const std::uint64_t keys_of_piece = left < tiles * kTileKeys ? left : tiles * kTileKeys;
      const std::uint64_t begin = place.bucket_begin + place.position;
#pragma unroll 1
      for (std::uint64_t first = 0; first < keys_of_piece; first += kThreads * kKeys) {
        const std::uint64_t rest = keys_of_piece - first;
        const unsigned count =
            rest < kThreads * kKeys ? static_cast<unsigned>(rest) : kThreads * kKeys;
        Key keys[kKeys];
        thread_load_keys<Key, kThreads>(pass, begin + first, count, 0, keys);
#pragma unroll
        for (unsigned i = 0; i < kKeys; ++i) {
          const bool counts_it = i * kThreads + threadIdx.x < count;
          thread_count_key(counts, counts_it ? table.bin_of(head, keys[i]) : kNoBin);
        }
      }
      __syncthreads();  // all keys are counted
      std::uint32_t* const piece =
          pairs.piece_counts + (blockIdx.x + std::uint64_t{place.bucket}) * pass.tables.bins();
      for (unsigned bin = threadIdx.x; bin < pass.tables.bins(); bin += kThreads) {
        piece[bin] = counts[bin];
      }
    }
    block_add_counts(pass, place.bucket, counts);
  }
}

// Where the pairs of each bin of a tile go, and how the tile is ranked.
template <unsigned kWarps>
struct PairBins {
  unsigned begins[kMostBins + 1];   // in the tile
  std::uint64_t next[kMostBins];    // where the bin's next pair goes
  std::uint64_t places[kMostBins];  // of the tile's first word, if it were of this bin
  bool is_final[kMostBins];
  std::uint16_t crowded[kMostBins];  // bins that the whole block writes
  unsigned crowded_count;
  unsigned warp_sums[32];
};

// The dynamic shared memory of pair_distribution_kernel.
template <class Key, class Value, unsigned kThreads, unsigned kTilePairs>
struct PairStage {
  static constexpr unsigned kWarps = kThreads / 32;

  Value* values;            // in the order of the input
  Key* keys;                // bin by bin
  std::uint16_t* sources;   // of these: their places in the input
  std::uint16_t* counters;  // of each warp's bins; later where a bin's pairs of the warp begin

  static __device__ PairStage in(unsigned char* memory) {
    auto* const values = reinterpret_cast<Value*>(memory);
    auto* const keys = reinterpret_cast<Key*>(memory + kTilePairs * sizeof(Value));
    auto* const sources = reinterpret_cast<std::uint16_t*>(keys + kTilePairs);
    return {values, keys, sources, sources + kTilePairs};
  }
};

// Where the thread's first pair is in a tile; the others follow 32 apart.
template <unsigned kPairs>
__device__ unsigned thread_first_pair() {
  return threadIdx.x / 32 * 32 * kPairs + threadIdx.x % 32;
}

// Loads the keys of the thread's pairs; one past the count is 0.
template <class Key, unsigned kPairs>
__device__ void thread_load_pair_keys(const DistributionPass<Key>& pass, std::uint64_t begin,
                                      unsigned count, Key (&keys)[kPairs]) {
  const unsigned first = thread_first_pair<kPairs>();
  const Key* const from = pass.input + begin + first;
#pragma unroll
  for (unsigned i = 0; i < kPairs; ++i) keys[i] = first + 32 * i < count ? from[32 * i] : Key{0};
  if (pass.maps.loads_mapped) {
#pragma unroll
    for (Key& key : keys) key = pass.maps.load_map.to_ordered(key);
  }
}

// Starts copying the tile's values.
template <unsigned kThreads, unsigned kPairs, class Value>
__device__ void thread_copy_values(const Value* from, unsigned count, Value* to) {
#pragma unroll
  for (unsigned i = 0; i < kPairs; ++i) {
    const unsigned word = i * kThreads + threadIdx.x;
    if (word < count) thread_copy_async(to + word, from + word);
  }
}

// The lanes whose bins are the same as this one's.
__device__ inline unsigned warp_find_peers(unsigned bin) {
  unsigned peers = kWholeWarp;
#pragma unroll
  for (unsigned bit = 0; bit < kMostBinBits; ++bit) {
    const bool is_set = (bin >> bit & 1U) != 0;
    const unsigned ballot = __ballot_sync(kWholeWarp, is_set ? 1 : 0);
    peers &= is_set ? ballot : ~ballot;
  }
  return peers;
}

// Sets ranked[i] to bin << 16 | rank among the warp's pairs of the bin. Pairs past the count get
// the last bin, and so rank behind all others. Ensures: the warp's counters are how many pairs of
// each bin it has.
template <class Key, unsigned kPairs>
__device__ void warp_rank_pairs(const BinHead<Key>& head, const BinTable<Key>& table,
                                const Key (&keys)[kPairs], unsigned count, std::uint16_t* counters,
                                unsigned (&ranked)[kPairs]) {
  const unsigned lane = threadIdx.x % 32;
  auto* const words = reinterpret_cast<std::uint32_t*>(counters);
#pragma unroll
  for (unsigned i = 0; i < kMostBins / 64; ++i) words[32 * i + lane] = 0;
  const unsigned first = thread_first_pair<kPairs>();
#pragma unroll
  for (unsigned i = 0; i < kPairs; ++i) {
    ranked[i] = first + 32 * i < count ? table.bin_of(head, keys[i]) : kMostBins - 1;
  }
  __syncwarp();  // the counters are clear
#pragma unroll
  for (unsigned i = 0; i < kPairs; ++i) {
    const unsigned bin = ranked[i];
    const unsigned peers = warp_find_peers(bin);
    const auto before = static_cast<unsigned>(__popc(static_cast<int>(peers & ((1U << lane) - 1))));
    const unsigned rank = counters[bin];
    __syncwarp();  // all have read what earlier rounds had
    if (before == 0) {
      counters[bin] =
          static_cast<std::uint16_t>(rank + static_cast<unsigned>(__popc(static_cast<int>(peers))));
    }
    __syncwarp();  // this round is counted
    ranked[i] = bin << 16 | (rank + before);
  }
}

// Makes of each warp's counters where its pairs of a bin begin in the tile, and sets where the
// tile's pairs of each bin go. Requires: all warps have ranked. Ends with no barrier.
template <unsigned kThreads, unsigned kWarps>
__device__ void block_place_bins(std::uint16_t* counters, unsigned count, PairBins<kWarps>& bins) {
  constexpr unsigned kWords = kMostBins / 2;  // a word has the counters of two bins
  static_assert(kThreads >= kWords);
  const bool has_word = threadIdx.x < kWords;
  auto* const words = reinterpret_cast<std::uint32_t*>(counters) + threadIdx.x;
  std::uint32_t both = 0;
  if (has_word) {
#pragma unroll 8
    for (unsigned warp = 0; warp < kWarps; ++warp) both += words[warp * kWords];
  }
  const unsigned low = both & 0xffffU;
  const unsigned high = both >> 16;
  unsigned total = 0;
  const unsigned begin = block_exclusive_sum<kThreads>(low + high, bins.warp_sums, total);
  if (!has_word) return;
  std::uint32_t begins = begin | (begin + low) << 16;
#pragma unroll 8
  for (unsigned warp = 0; warp < kWarps; ++warp) {
    const std::uint32_t counts = words[warp * kWords];
    words[warp * kWords] = begins;
    begins += counts;
  }
  const auto place_bin = [&bins](unsigned bin, unsigned bin_begin, unsigned pairs) {
    const std::uint64_t next = bins.next[bin];
    bins.begins[bin] = bin_begin;
    bins.places[bin] = next - bin_begin;
    bins.next[bin] = next + pairs;
    if (pairs > kCrowd) {
      bins.crowded[atomicAdd(&bins.crowded_count, 1U)] = static_cast<std::uint16_t>(bin);
    }
  };
  place_bin(2 * threadIdx.x, begin, low);
  place_bin(2 * threadIdx.x + 1, begin + low, high);
  // Pairs past the count end the last bin.
  if (threadIdx.x == 0) bins.begins[kMostBins] = count;
}

// Threads `first`, first + step ... of those that share a bin write its pairs.
template <class Key, class Value, class Stage, class Bins>
__device__ void thread_write_pair_bin(const PairDistributionPass<Key, Value>& pairs,
                                      const Stage& stage, const Bins& bins, unsigned bin,
                                      unsigned first, unsigned step) {
  const EndMaps<Key>& maps = pairs.keys.maps;
  const bool stores_mapped = maps.stores_mapped && bins.is_final[bin];
  Key* const keys_to = pairs.keys.output + bins.places[bin];
  Value* const values_to = pairs.values_out + bins.places[bin];
  const unsigned end = bins.begins[bin + 1];
  for (unsigned word = bins.begins[bin] + first; word < end; word += step) {
    const Key key = stage.keys[word];
    const Value value = stage.values[stage.sources[word]];
    keys_to[word] = stores_mapped ? maps.store_map.to_raw(key) : key;
    values_to[word] = value;
  }
}

// Sends the pairs of one tile to their bins; `keys` are its keys, then those of the next tile.
template <unsigned kThreads, class Key, class Value, class Stage, class Bins, unsigned kPairs,
          class LoadNext>
__device__ void block_distribute_pairs(const PairDistributionPass<Key, Value>& pairs,
                                       unsigned count, const BinHead<Key>& head,
                                       const BinTable<Key>& table, const Stage& stage, Bins& bins,
                                       Key (&keys)[kPairs], const LoadNext& load_next) {
  std::uint16_t* const counters = stage.counters + threadIdx.x / 32 * kMostBins;
  unsigned ranked[kPairs];
  warp_rank_pairs(head, table, keys, count, counters, ranked);
  __syncthreads();  // all pairs are ranked
  block_place_bins<kThreads>(stage.counters, count, bins);
  __syncthreads();  // all begins in the tile are known
  const unsigned first = thread_first_pair<kPairs>();
#pragma unroll
  for (unsigned i = 0; i < kPairs; ++i) {
    if (first + 32 * i < count) {
      const unsigned word = counters[ranked[i] >> 16] + (ranked[i] & 0xffffU);
      stage.keys[word] = keys[i];
      stage.sources[word] = static_cast<std::uint16_t>(first + 32 * i);
    }
  }
  thread_wait_for_copies();
  __syncthreads();  // the tile lies bin by bin, its values are there
  load_next();
  // Half a warp where a bin has about 16 pairs of the tile, a warp where it has 32.
  constexpr unsigned kLanes = kThreads * kPairs / kMostBins >= 32 ? 32 : 16;
  constexpr unsigned kBins = kMostBins / (kThreads / kLanes);
  const unsigned first_bin = threadIdx.x / kLanes * kBins;
#pragma unroll 4
  for (unsigned bin = first_bin; bin < first_bin + kBins; ++bin) {
    if (bins.begins[bin + 1] - bins.begins[bin] > kCrowd) continue;
    thread_write_pair_bin(pairs, stage, bins, bin, threadIdx.x % kLanes, kLanes);
  }
  for (unsigned i = 0; i < bins.crowded_count; ++i) {
    thread_write_pair_bin(pairs, stage, bins, bins.crowded[i], threadIdx.x, kThreads);
  }
  __syncthreads();  // the tile is written
}

// Sets where the next pair of each bin goes, for the block's first tile of the bucket. Holds
// barriers, the last one at its end.
template <unsigned kThreads, class Key, class Value, class Bins>
__device__ void block_begin_piece(const PairDistributionPass<Key, Value>& pairs, unsigned bucket,
                                  std::uint64_t first_block, Bins& bins) {
  static_assert(kThreads % kMostBins == 0);
  constexpr unsigned kShare = kThreads / kMostBins;  // threads that add up a bin's counts
  const unsigned bin = threadIdx.x % kMostBins;
  const unsigned part = threadIdx.x / kMostBins;
  const unsigned bins_of_bucket = pairs.keys.tables.bins();
  std::uint64_t before = 0;
  if (bin < bins_of_bucket) {
    const std::uint32_t* counts =
        pairs.piece_counts + (first_block + bucket + part) * bins_of_bucket + bin;
#pragma unroll 4
    for (std::uint64_t block = first_block + part; block < blockIdx.x; block += kShare) {
      before += *counts;
      counts += kShare * bins_of_bucket;
    }
  }
  for (unsigned turn = 0; turn < kShare; ++turn) {
    if (part == turn && turn == 0) {
      std::uint64_t room = 0;
      if (bin < bins_of_bucket) {
        room = pairs.bin_places != nullptr
                   ? pairs.bin_places[bin].begin
                   : pairs.keys.rooms[std::uint64_t{bucket} * bins_of_bucket + bin];
      }
      bins.is_final[bin] = (room & kFinalRoom) != 0;
      bins.next[bin] = (room & ~kFinalRoom) + before;
    } else if (part == turn) {
      bins.next[bin] += before;
    }
    __syncthreads();  // the next part adds what it has, or all have
  }
}

template <class Key, class Value>
__global__ void __launch_bounds__(kPairDistribution<Key, Value>.threads)
    pair_distribution_kernel(const __grid_constant__ PairDistributionPass<Key, Value> pairs) {
  constexpr unsigned kThreads = kPairDistribution<Key, Value>.threads;
  constexpr unsigned kPairs = kPairDistribution<Key, Value>.keys_per_thread;
  constexpr unsigned kTilePairs = kThreads * kPairs;
  using Stage = PairStage<Key, Value, kThreads, kTilePairs>;
  static_assert(kTilePairs < 1U << 16);
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ SharedBins<Key> shared_bins;
  __shared__ PairBins<Stage::kWarps> bins;
  __shared__ BucketTile found;
  static_assert(sizeof(shared_bins) + sizeof(bins) + sizeof(found) <= kBinsBytes);
  const Stage stage = Stage::in(shared_bytes);
  const DistributionPass<Key>& pass = pairs.keys;
  grid_begin();
  const TileStretch stretch = TileStretch::of(pass);
#pragma unroll 1
  for (std::uint64_t tile = stretch.begin; tile < stretch.end;) {
    block_find_tile<kTilePairs>(pass, tile, found);
    BucketTile place = found;
    const std::uint64_t bucket_end = place.tiles_end < stretch.end ? place.tiles_end : stretch.end;
    const BinHead<Key> head = pass.tables.heads[place.bucket];
    if (head.is_single()) {
      for (; tile < bucket_end; ++tile, place.position += kTilePairs) {
        const std::uint64_t begin = place.bucket_begin + place.position;
        const unsigned count = place.count<kTilePairs>();
        block_copy_tile(pass, begin, begin, count);
        for (unsigned i = threadIdx.x; i < count; i += kThreads) {
          pairs.values_out[begin + i] = pairs.values_in[begin + i];
        }
      }
      __syncthreads();  // all threads have read which tile was found
      continue;
    }
    Key keys[kPairs];
    unsigned count = place.count<kTilePairs>();
    std::uint64_t begin = place.bucket_begin + place.position;
    thread_load_pair_keys(pass, begin, count, keys);
    const BinTable<Key> table = block_load_bins(pass.tables, place.bucket, head, shared_bins);
    const std::uint64_t first_tile = tile - place.position / kTilePairs;
    block_begin_piece<kThreads>(pairs, place.bucket, first_tile / stretch.a_block, bins);
#pragma unroll 1
    for (; tile < bucket_end; ++tile) {
      thread_copy_values<kThreads, kPairs>(pairs.values_in + begin, count, stage.values);
      if (threadIdx.x == 0) bins.crowded_count = 0;
      place.position += kTilePairs;
      const bool has_next = tile + 1 < bucket_end;
      const unsigned next_count = has_next ? place.count<kTilePairs>() : 0;
      begin += kTilePairs;
      block_distribute_pairs<kThreads>(pairs, count, head, table, stage, bins, keys, [&] {
        if (has_next) thread_load_pair_keys(pass, begin, next_count, keys);
      });
      count = next_count;
    }
  }
}

}  // namespace gsort::gpu
