// distribution_kernel: sends each key to its bin.
//
// Threads: a block distributes the tiles of its jobs (tile_jobs.hpp) one by one. For each key it
// finds the bin, and the key's rank among those of the same bin in the tile, by an atomic addition
// in shared memory. It reserves space in each bin by one atomic addition in device memory. It
// writes the keys to shared memory bin by bin, and from there to the bins: neighbouring lanes write
// neighbouring keys (tile_groups.cuh). A tile's keys of a bin go to one place, or to two: bins of
// the first distribution have chunks (bin_chunks.hpp). The order of the additions decides the order
// of keys within a bin. Any order is allowed, since equal keys cannot be told apart. Shared memory:
// the tile's keys and the table. Device memory: each key is read and written once; a tile adds one
// number of 8 bytes per bin.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/distribute/bucket_tiles.cuh"
#include "gpu/distribute/launch.hpp"
#include "gpu/distribute/tile_groups.cuh"

namespace gsort::gpu {

// A key's bin and its rank among the keys of the bin in a tile. The bin is as far from the first
// one as its number of four bytes, which saves the multiplication of an address.
struct RankedBin {
  std::uint32_t bits;

  [[nodiscard]] static __device__ RankedBin of(unsigned bin, unsigned rank) {
    return {rank << 16 | bin * unsigned{sizeof(unsigned)}};
  }
  [[nodiscard]] __device__ unsigned word(const unsigned* begins) const {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(begins);
    return *reinterpret_cast<const unsigned*>(bytes + (bits & 0xffffU)) + (bits >> 16);
  }
};

// Adds one to the count of each bin, at its spread_place; the counts before are the ranks of the
// keys. All lanes call this.
template <unsigned kKeys>
__device__ void thread_rank_bins(unsigned* counts, const unsigned (&bins)[kKeys],
                                 RankedBin (&ranked)[kKeys]) {
  if (!warp_shares_bin(bins[0])) {
#pragma unroll
    for (unsigned i = 0; i < kKeys; ++i) {
      const unsigned place = spread_place(bins[i]);
      ranked[i] = RankedBin::of(place, atomicAdd(&counts[place], 1U));
    }
    return;
  }
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    unsigned rank = 0;
    const unsigned place = spread_place(bins[i]);
    if (!warp_shares_bin(bins[i])) {
      rank = atomicAdd(&counts[place], 1U);
    } else {
      if (lane == 0) rank = atomicAdd(&counts[place], 32U);
      rank = __shfl_sync(kWholeWarp, rank, 0) + lane;
    }
    ranked[i] = RankedBin::of(place, rank);
  }
}

// A tile of equal keys is not rearranged.
template <class Key>
__device__ void block_copy_tile(const DistributionPass<Key>& pass, std::uint64_t from,
                                std::uint64_t to, unsigned count) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    const Key key = pass.input[from + i];
    pass.output[to + i] = pass.maps.stores_mapped ? pass.maps.store_map.to_raw(key) : key;
  }
}

// The destination of a tile's keys of one bin. In the first distribution, words from `split` on go
// to another chunk.
template <DistributionStep kStep, class Key>
struct GroupPlace {
  Key* first_word;  // of the tile, if it were of this bin
};
template <class Key>
struct alignas(16) GroupPlace<DistributionStep::kFirst, Key> {
  Key* first_word;
  std::uint32_t split;
  std::int32_t chunks_between;
};

// A block's data about the tile that it distributes.
template <DistributionStep kStep, class Key, unsigned kTileKeys>
struct KeyTile {
  // Where bins begin in the tile, at their spread_place; before that, how many keys a bin has. The
  // last entry is for keys past the count; it is never cleared, and their ranks are not used.
  unsigned begins[spread_place(kMostBins) + 1];
  TileGroups<GroupPlace<kStep, Key>, kTileKeys> groups;
};

// Adds `count` keys to the bin; returns how many it had. If a chunk begins among them, takes that
// chunk.
template <class Key>
__device__ std::uint64_t thread_open_chunk(const DistributionPass<Key>& pass, unsigned bin,
                                           unsigned count) {
  const std::uint64_t begin = thread_add(&pass.rooms[bin], count);
  const std::uint64_t last = (begin + count - 1) >> pass.chunks.shift << pass.chunks.shift;
  if (last >= begin) {
    const std::uint64_t number = thread_add(&pass.counts->chunks, 1);
    *static_cast<volatile std::uint16_t*>(pass.chunks.entry(bin, last)) =
        static_cast<std::uint16_t>(number + 1);
  }
  return begin;
}

// The address of key `position` of the bin. Requires: a block has added it to the bin's keys.
template <class Key>
__device__ std::uint64_t thread_wait_for_chunk(const DistributionPass<Key>& pass, unsigned bin,
                                               std::uint64_t position) {
  const volatile std::uint16_t* const entry = pass.chunks.entry(bin, position);
  unsigned number_plus_one = *entry;
  while (number_plus_one == 0) number_plus_one = *entry;
  return pass.chunks.place_in(number_plus_one, position);
}

// The destination of the tile's `count` keys of the bin, which begin at word `begin`; the bin had
// `room` keys before them.
template <class Key>
__device__ GroupPlace<DistributionStep::kFirst, Key> thread_place_in_chunks(
    const DistributionPass<Key>& pass, unsigned bin, unsigned begin, unsigned count,
    std::uint64_t room) {
  const std::uint64_t first = thread_wait_for_chunk(pass, bin, room);
  Key* const first_word = pass.output + first - begin;
  const std::uint64_t left = pass.chunks.keys() - (room & (pass.chunks.keys() - 1));
  if (left >= count) return {first_word, begin + count, 0};
  const std::uint64_t later = thread_wait_for_chunk(pass, bin, room + left);
  const auto chunks = static_cast<std::int64_t>(later - (first + left)) >> pass.chunks.shift;
  return {first_word, begin + static_cast<unsigned>(left), static_cast<std::int32_t>(chunks)};
}

// Reserves space for the tile's `count` keys of the bin; returns where it begins.
template <DistributionStep kStep, class Pass>
__device__ std::uint64_t thread_take_room(const Pass& pass, unsigned bucket, unsigned bin,
                                          unsigned count) {
  if constexpr (kStep == DistributionStep::kFirst) {
    return thread_open_chunk(pass, bin, count);
  } else {
    return thread_add(&pass.rooms[std::uint64_t{bucket} * pass.tables.bins() + bin], count);
  }
}

// Sets the destination of the thread's group. Requires: all threads of the block have reserved
// their space, and so published their chunks.
template <DistributionStep kStep, class Pass, class Groups>
__device__ void thread_place_group(const Pass& pass, const ThreadGroup& own, std::uint64_t room,
                                   Groups& groups) {
  if (own.count == 0) return;
  if constexpr (kStep == DistributionStep::kFirst) {
    groups.places[own.number] =
        thread_place_in_chunks(pass, threadIdx.x, own.begin, own.count, room);
  } else {
    groups.is_final[own.number] = (room & kFinalRoom) != 0;
    groups.places[own.number] = {pass.output + (room & ~kFinalRoom) - own.begin};
  }
}

// The address for word `word` of the tile, whose group has this place.
template <DistributionStep kStep, class Key>
__device__ Key* thread_find_place(const GroupPlace<kStep, Key>& place, unsigned word,
                                  int chunk_bytes) {
  Key* first_word = place.first_word;
  if constexpr (kStep == DistributionStep::kFirst) {
    if (word >= place.split) {
      first_word = reinterpret_cast<Key*>(reinterpret_cast<char*>(first_word) +
                                          std::int64_t{place.chunks_between} * chunk_bytes);
    }
  }
  return assume_global(first_word + word);
}

// Writes the tile to its bins.
template <bool kIsFull, DistributionStep kStep, unsigned kThreads, unsigned kKeys, class Pass,
          class Key, class Groups>
__device__ void thread_write_tile(const Pass& pass, unsigned count, const Key* tile,
                                  const Groups& groups) {
  const int chunk_bytes = static_cast<int>(sizeof(Key)) << pass.chunks.shift;
  const auto write = [&](unsigned i, const auto& mapped) {
    const unsigned word = i * kThreads + threadIdx.x;
    if (!kIsFull && word >= count) return;
    const unsigned group = groups.group_of(i * (kThreads / 32) + threadIdx.x / 32);
    const Key key = mapped(tile[word], group);
    *thread_find_place<kStep>(groups.places[group], word, chunk_bytes) = key;
  };
  if constexpr (kStep == DistributionStep::kSecond) {
    if (pass.maps.stores_mapped) {
#pragma unroll 1
      for (unsigned i = 0; i < kKeys; ++i) {
        write(i, [&](Key key, unsigned group) {
          return groups.is_final[group] ? pass.maps.store_map.to_raw(key) : key;
        });
      }
      return;
    }
  }
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) write(i, [](Key key, unsigned) { return key; });
}

// Sends the keys of one tile to their bins; on entry, `keys` are its keys, on return those of the
// next tile. Requires: the counts and the marks are clear. kIsFull: the tile has kThreads * kKeys
// keys.
template <bool kIsFull, DistributionStep kStep, unsigned kThreads, class Pass, class Key,
          class Table, class Tile, unsigned kKeys, class LoadNext>
__device__ void block_distribute_tile(const Pass& pass, unsigned bucket, unsigned count,
                                      const BinHead<Key>& head, const Table& table, Tile& tile,
                                      Key* tile_keys, Key (&keys)[kKeys],
                                      const LoadNext& load_next) {
  unsigned bins[kKeys];
  thread_find_bins<kThreads>(head, table, keys, kIsFull ? kThreads * kKeys : count, bins);
  RankedBin ranked[kKeys];
  thread_rank_bins(tile.begins, bins, ranked);
  __syncthreads();  // all keys are counted
  const unsigned bin = threadIdx.x;
  const unsigned own_count = bin < kMostBins ? tile.begins[spread_place(bin)] : 0;
  const std::uint64_t room =
      own_count == 0 ? 0 : thread_take_room<kStep>(pass, bucket, bin, own_count);
  const ThreadGroup own = block_number_groups<kThreads>(own_count, tile.groups);
  if (bin < kMostBins) tile.begins[spread_place(bin)] = own.begin;
  __syncthreads();        // all begins in the tile are known, all rooms are taken
  unsigned words[kKeys];  // all read before one is written, so that none waits for another
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) words[i] = ranked[i].word(tile.begins);
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    if (kIsFull || i * kThreads + threadIdx.x < count) tile_keys[words[i]] = keys[i];
  }
  // Now, as the additions take about that long.
  thread_place_group<kStep>(pass, own, room, tile.groups);
  thread_find_row_group(own.groups, count, tile.groups);
  __syncthreads();  // the tile lies bin by bin, all groups have their places
  load_next();
  thread_write_tile<kIsFull, kStep, kThreads, kKeys>(pass, count, tile_keys, tile.groups);
  __syncthreads();  // the tile is written
}

// A block distributes the tiles of its jobs. The keys of the next tile are loaded to registers
// while those of this tile leave shared memory. kHasKept: the count has kept the bins of all keys.
template <class Key, DistributionStep kStep, bool kHasKept>
__global__ void __launch_bounds__(kDistribution<Key, kStep>.threads,
                                  1024 / kDistribution<Key, kStep>.threads)
    distribution_kernel(const __grid_constant__ DistributionPass<Key> pass) {
  constexpr unsigned kThreads = kDistribution<Key, kStep>.threads;
  constexpr unsigned kKeys = kDistribution<Key, kStep>.keys_per_thread;
  constexpr unsigned kTileKeys = kThreads * kKeys;
  constexpr unsigned kLeastChunk = 1U << kLeastChunkShift;
  static_assert(kThreads >= kMostBins && kTileKeys < 1U << 16 && kLeastChunk % kTileKeys == 0);
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ SharedBins<Key> shared_bins;
  __shared__ KeyTile<kStep, Key, kTileKeys> shared_tile;
  __shared__ BucketTile found;
  static_assert(sizeof(shared_bins) + sizeof(shared_tile) + sizeof(found) <= kBinsBytes);
  static_assert(kThreads >= kTileKeys / 32);
  Key* const tile_keys = reinterpret_cast<Key*>(shared_bytes);
  grid_begin();
  std::conditional_t<kHasKept, KeptBins<kThreads, kKeys>, SteppedTable<Key>> table{};
  unsigned loaded = pass.bucket_count;  // whose table is in shared memory
  block_for_pieces<kTileKeys>(
      pass, found,
      [&](BucketTile place, std::uint64_t tiles, std::uint64_t /*piece*/, const auto& take_next) {
        const BinHead<Key> head = pass.tables.heads[place.bucket];
        const auto keys_at = [&] {
          return thread_find_keys<kStep>(pass, place.bucket, place.position);
        };
        if constexpr (kStep == DistributionStep::kSecond) {
          if (head.is_single()) {
            take_next();
            for (; tiles > 0; --tiles, place.position += kTileKeys) {
              block_copy_tile(pass, keys_at(), place.bucket_begin + place.position,
                              place.count<kTileKeys>());
            }
            __syncthreads();  // all threads have read which tile was found
            return;
          }
        }
        Key keys[kKeys];
        unsigned count = place.count<kTileKeys>();
        thread_load_keys<kThreads>(pass, keys_at(), count, keys);
        if constexpr (!kHasKept) {
          if (loaded != place.bucket) {
            table = block_load_table(pass.tables, place.bucket, head, shared_bins);
            loaded = place.bucket;
          }
        }
#pragma unroll 1
        for (; tiles > 0; --tiles) {
          if constexpr (kHasKept) table.load(pass, place.position, count);
          if (threadIdx.x < kMostBins) shared_tile.begins[spread_place(threadIdx.x)] = 0;
          if (threadIdx.x < kTileKeys / 32) shared_tile.groups.marks[threadIdx.x] = 0;
          __syncthreads();  // the table is loaded, the counts and the marks are clear
          place.position += kTileKeys;
          const unsigned next_count = tiles > 1 ? place.count<kTileKeys>() : 0;
          const std::uint64_t next = tiles > 1 ? keys_at() : 0;
          const auto load_next = [&] {
            if (tiles == 1) return take_next();
            thread_load_keys<kThreads>(pass, next, next_count, keys);
          };
          if (count == kTileKeys) {
            block_distribute_tile<true, kStep, kThreads>(pass, place.bucket, count, head, table,
                                                         shared_tile, tile_keys, keys, load_next);
          } else {
            block_distribute_tile<false, kStep, kThreads>(pass, place.bucket, count, head, table,
                                                          shared_tile, tile_keys, keys, load_next);
          }
          count = next_count;
        }
      });
}

}  // namespace gsort::gpu
