// distribution_kernel: sends each key to its bin. bin_count_kernel: counts the keys of each bin of
// the second distribution before.
//
// Threads: a block counts or distributes a stretch of tiles. To distribute one, it finds the bin of
// each key, and the key's rank among those of the same bin in the tile, by an atomic addition in
// shared memory; takes room in each bin by one atomic addition in device memory; writes the keys to
// shared memory bin by bin, and from there to the bins, a warp a bin, so that keys of one bin leave
// as one stretch, or two: bins of the first distribution have chunks (bin_chunks.hpp). The order of
// keys within a bin is that of the additions: free, since equal keys cannot be told apart.
// Shared memory: the tile's keys and the table.
// Device memory: counting reads each key once, distributing reads and writes it once; a tile adds
// a number of 8 bytes a bin.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/distribute/block_sum.cuh"
#include "gpu/distribute/launch.hpp"

namespace gsort::gpu {

// The table of one bucket in shared memory.
template <class Key>
struct SharedBins {
  Key splitters[kMostBins];
  std::uint16_t cells[kMostCells];
};

// A tile of a bucket, as its block sees it. No initial values: it lies in shared memory.
struct BucketTile {
  std::uint64_t bucket_begin;  // of the bucket's keys in the sorted array
  std::uint64_t bucket_keys;
  std::uint64_t tiles_end;  // of its bucket
  std::uint64_t position;   // of its first key in the bucket
  unsigned bucket;

  // The keys of the tile at `position`.
  template <unsigned kTileKeys>
  [[nodiscard]] __device__ unsigned count() const {
    const std::uint64_t left = bucket_keys - position;
    return left < kTileKeys ? static_cast<unsigned>(left) : kTileKeys;
  }
};

// Where the keys of the bucket from `position` on lie in the input, as far as a tile goes.
template <DistributionStep kStep, class Key>
__device__ std::uint64_t thread_find_keys(const DistributionPass<Key>& pass, unsigned bucket,
                                          std::uint64_t position) {
  if constexpr (kStep == DistributionStep::kFirst) return position;
  return pass.chunks.place_of(bucket, position);
}

// All threads of the block call this, and none reads `found` of an earlier call any more.
template <unsigned kTileKeys, class Key>
__device__ void block_find_tile(const DistributionPass<Key>& pass, std::uint64_t tile,
                                BucketTile& found) {
  for (unsigned bucket = threadIdx.x; bucket < pass.bucket_count; bucket += blockDim.x) {
    const BucketPlace place = pass.buckets[bucket];
    const BucketPlace next = pass.buckets[bucket + 1];
    if (tile < place.first_tile || tile >= next.first_tile) continue;
    found = {place.begin, next.begin - place.begin, next.first_tile,
             (tile - place.first_tile) * kTileKeys, bucket};
  }
  __syncthreads();  // the tile is found
}

// Ends with no barrier: the caller's next one makes the table visible.
template <class Key>
__device__ BinTable<Key> block_load_bins(const BinTables<Key>& tables, unsigned bucket,
                                         const BinHead<Key>& head, SharedBins<Key>& shared) {
  const Key* const splitters = tables.splitters + std::uint64_t{bucket} * tables.bins();
  for (unsigned i = threadIdx.x; i < head.bins; i += blockDim.x) shared.splitters[i] = splitters[i];
  // Cells are read two at a time; there are at least 16.
  const auto* const cells = reinterpret_cast<const std::uint32_t*>(
      tables.cells + std::uint64_t{bucket} * tables.cell_count());
  auto* const to = reinterpret_cast<std::uint32_t*>(shared.cells);
  for (unsigned i = threadIdx.x; i < tables.cell_count() / 2; i += blockDim.x) to[i] = cells[i];
  return {shared.splitters, shared.cells, tables.cell_count() - 1};
}

inline constexpr unsigned kNoBin = 0xffff;

// Do all lanes have keys of one bin, as in sorted stretches? Then they share one atomic addition.
// All lanes call this.
__device__ inline bool warp_shares_bin(unsigned bin) {
  return __all_sync(kWholeWarp, bin == __shfl_sync(kWholeWarp, bin, 0)) != 0;
}

// Adds one to the count of the bin; kNoBin counts nowhere. All lanes call this.
__device__ inline void thread_count_key(unsigned* counts, unsigned bin) {
  if (warp_shares_bin(bin)) {
    if (threadIdx.x % 32 == 0 && bin != kNoBin) atomicAdd(&counts[bin], 32U);
  } else if (bin != kNoBin) {
    atomicAdd(&counts[bin], 1U);
  }
}

// The same; returns what the count was before this key.
__device__ inline unsigned thread_rank_key(unsigned* counts, unsigned bin) {
  const unsigned lane = threadIdx.x % 32;
  unsigned rank = 0;
  if (warp_shares_bin(bin)) {
    if (lane == 0 && bin != kNoBin) rank = atomicAdd(&counts[bin], 32U);
    return __shfl_sync(kWholeWarp, rank, 0) + lane;
  }
  if (bin != kNoBin) rank = atomicAdd(&counts[bin], 1U);
  return rank;
}

// Loads the thread's keys of a tile, ordered; a key past the count is 0.
template <class Key, unsigned kThreads, unsigned kKeys>
__device__ void thread_load_keys(const DistributionPass<Key>& pass, std::uint64_t begin,
                                 unsigned count, unsigned first, Key (&keys)[kKeys]) {
  const Key* const from = pass.input + begin;
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    const unsigned word = first + i * kThreads + threadIdx.x;
    keys[i] = word < count ? from[word] : Key{0};
  }
  if (pass.maps.loads_mapped) {
#pragma unroll
    for (Key& key : keys) key = pass.maps.load_map.to_ordered(key);
  }
}

// Adds the block's counts to those of the bucket's bins, and clears them.
template <class Key>
__device__ void block_add_counts(const DistributionPass<Key>& pass, unsigned bucket,
                                 unsigned* counts) {
  __syncthreads();  // all keys are counted
  for (unsigned bin = threadIdx.x; bin < pass.tables.bins(); bin += blockDim.x) {
    const unsigned count = counts[bin];
    counts[bin] = 0;
    if (count != 0) {
      thread_add(&pass.rooms[std::uint64_t{bucket} * pass.tables.bins() + bin], count);
    }
  }
  __syncthreads();  // the counts are clear
}

template <class Key>
__global__ void __launch_bounds__(kSecondDistribution<Key>.threads)
    bin_count_kernel(const __grid_constant__ DistributionPass<Key> pass) {
  constexpr DistributionStep kStep = DistributionStep::kSecond;
  constexpr unsigned kThreads = kSecondDistribution<Key>.threads;
  constexpr unsigned kTileKeys = kSecondDistribution<Key>.tile_keys();
  constexpr unsigned kKeys = 8;
  static_assert(kTileKeys % (kThreads * kKeys) == 0);
  __shared__ SharedBins<Key> shared_bins;
  __shared__ unsigned counts[kMostBins];
  __shared__ BucketTile found;
  grid_begin();
  const std::uint64_t all_tiles = pass.buckets[pass.bucket_count].first_tile;
  const std::uint64_t a_block = (all_tiles + gridDim.x - 1) / gridDim.x;
  std::uint64_t tile = blockIdx.x * a_block;
  const std::uint64_t end = tile + a_block < all_tiles ? tile + a_block : all_tiles;
  for (unsigned bin = threadIdx.x; bin < kMostBins; bin += kThreads) counts[bin] = 0;
#pragma unroll 1
  while (tile < end) {
    block_find_tile<kTileKeys>(pass, tile, found);
    BucketTile place = found;
    const std::uint64_t bucket_end = place.tiles_end < end ? place.tiles_end : end;
    const BinHead<Key> head = pass.tables.heads[place.bucket];
    if (!head.is_single()) {
      std::uint64_t from = thread_find_keys<kStep>(pass, place.bucket, place.position);
      const BinTable<Key> table = block_load_bins(pass.tables, place.bucket, head, shared_bins);
      __syncthreads();  // the table is loaded
#pragma unroll 1
      for (; tile < bucket_end; ++tile) {
        const unsigned count = place.count<kTileKeys>();
        const std::uint64_t begin = from;
        place.position += kTileKeys;
        if (tile + 1 < bucket_end) {
          from = thread_find_keys<kStep>(pass, place.bucket, place.position);
        }
#pragma unroll 1
        for (unsigned first = 0; first < count; first += kThreads * kKeys) {
          Key keys[kKeys];
          thread_load_keys<Key, kThreads>(pass, begin, count, first, keys);
#pragma unroll
          for (unsigned i = 0; i < kKeys; ++i) {
            const bool counts_it = first + i * kThreads + threadIdx.x < count;
            thread_count_key(counts, counts_it ? table.bin_of(head, keys[i]) : kNoBin);
          }
        }
      }
    }
    block_add_counts(pass, place.bucket, counts);
    tile = bucket_end;
  }
}

// A tile whose keys are all the same stays as it is.
template <class Key>
__device__ void block_copy_tile(const DistributionPass<Key>& pass, std::uint64_t from,
                                std::uint64_t to, unsigned count) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    const Key key = pass.input[from + i];
    pass.output[to + i] = pass.maps.stores_mapped ? pass.maps.store_map.to_raw(key) : key;
  }
}

// Where the keys of each bin of a tile go.
struct TileBins {
  unsigned begins[kMostBins + 1];   // in the tile; until they are known, how many keys a bin has
  std::uint64_t places[kMostBins];  // of the tile's first word, if it were of this bin
  // The first distribution: from this word on they are in another chunk, with another place.
  unsigned splits[kMostBins];
  std::uint64_t later_places[kMostBins];
  bool is_final[kMostBins];          // the second one
  std::uint16_t crowded[kMostBins];  // bins that the whole block writes
  unsigned crowded_count;
  unsigned warp_sums[32];
};

// Bins of more keys of a tile are written by the whole block.
inline constexpr unsigned kCrowd = 512;

// Adds `count` keys to the bin; returns how many it had. Takes the chunk that begins among them.
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

// Where key `position` of the bin goes. Requires: a block has added it to the bin's keys.
template <class Key>
__device__ std::uint64_t thread_wait_for_chunk(const DistributionPass<Key>& pass, unsigned bin,
                                               std::uint64_t position) {
  const volatile std::uint16_t* const entry = pass.chunks.entry(bin, position);
  unsigned number_plus_one = *entry;
  while (number_plus_one == 0) number_plus_one = *entry;
  return pass.chunks.place_in(number_plus_one, position);
}

// Sets where the tile's `count` keys of the bin go: the bin had `room` keys before them.
template <class Key>
__device__ void thread_place_in_chunks(const DistributionPass<Key>& pass, TileBins& bins,
                                       unsigned bin, unsigned begin, unsigned count,
                                       std::uint64_t room) {
  const std::uint64_t left = pass.chunks.keys() - (room & (pass.chunks.keys() - 1));
  const unsigned split = begin + (left < count ? static_cast<unsigned>(left) : count);
  bins.splits[bin] = split;
  if (count == 0) return;
  bins.places[bin] = thread_wait_for_chunk(pass, bin, room) - begin;
  if (split == begin + count) return;
  bins.later_places[bin] = thread_wait_for_chunk(pass, bin, room + (split - begin)) - split;
}

// Thread t takes room for the tile's keys of bin t, returns it, and sets where they begin in the
// tile. Ends with no barrier. Requires: all keys are counted.
template <DistributionStep kStep, unsigned kThreads, class Key>
__device__ std::uint64_t block_take_rooms(const DistributionPass<Key>& pass, unsigned bucket,
                                          TileBins& bins) {
  const unsigned bin = threadIdx.x;
  const unsigned count = bin < kMostBins ? bins.begins[bin] : 0;
  std::uint64_t room = 0;
  if (count != 0) {
    if constexpr (kStep == DistributionStep::kFirst) {
      room = thread_open_chunk(pass, bin, count);
    } else {
      room = thread_add(&pass.rooms[std::uint64_t{bucket} * pass.tables.bins() + bin], count);
    }
  }
  unsigned total = 0;
  const unsigned begin = block_exclusive_sum<kThreads>(count, bins.warp_sums, total);
  if (count > kCrowd) {
    bins.crowded[atomicAdd(&bins.crowded_count, 1U)] = static_cast<std::uint16_t>(bin);
  }
  if (bin < kMostBins) bins.begins[bin] = begin;
  if (bin == 0) bins.begins[kMostBins] = total;
  return room;
}

// Thread t sets where the tile's keys of bin t go. Requires: all threads of the block have taken
// their rooms, and so published their chunks; all know where bins begin.
template <DistributionStep kStep, class Key>
__device__ void thread_place_bin(const DistributionPass<Key>& pass, std::uint64_t room,
                                 TileBins& bins) {
  const unsigned bin = threadIdx.x;
  if (bin >= kMostBins) return;
  const unsigned begin = bins.begins[bin];
  if constexpr (kStep == DistributionStep::kFirst) {
    thread_place_in_chunks(pass, bins, bin, begin, bins.begins[bin + 1] - begin, room);
  } else {
    bins.is_final[bin] = (room & kFinalRoom) != 0;
    bins.places[bin] = (room & ~kFinalRoom) - begin;
  }
}

// Threads `first`, first + step ... of those that share a bin write its keys.
template <DistributionStep kStep, class Key>
__device__ void thread_write_bin(const DistributionPass<Key>& pass, const Key* tile,
                                 const TileBins& bins, unsigned bin, unsigned first,
                                 unsigned step) {
  const unsigned end = bins.begins[bin + 1];
  Key* const to = pass.output + bins.places[bin];
  if constexpr (kStep == DistributionStep::kFirst) {
    const unsigned split = bins.splits[bin];
    for (unsigned word = bins.begins[bin] + first; word < end; word += step) {
      (word < split ? to : pass.output + bins.later_places[bin])[word] = tile[word];
    }
  } else {
    const bool maps = pass.maps.stores_mapped && bins.is_final[bin];
    for (unsigned word = bins.begins[bin] + first; word < end; word += step) {
      to[word] = maps ? pass.maps.store_map.to_raw(tile[word]) : tile[word];
    }
  }
}

// A warp writes some neighbouring bins, four at a time: most have about as many keys as it has
// lanes.
template <DistributionStep kStep, unsigned kThreads, class Key>
__device__ void warp_write_bins(const DistributionPass<Key>& pass, const Key* tile,
                                const TileBins& bins) {
  constexpr unsigned kBins = kMostBins / (kThreads / 32);
  const unsigned first_bin = threadIdx.x / 32 * kBins;
#pragma unroll 4
  for (unsigned bin = first_bin; bin < first_bin + kBins; ++bin) {
    if (bins.begins[bin + 1] - bins.begins[bin] > kCrowd) continue;
    thread_write_bin<kStep>(pass, tile, bins, bin, threadIdx.x % 32, 32);
  }
}

// Sends the keys of one tile to their bins; `keys` are its keys, then those of the next tile.
template <DistributionStep kStep, class Key, unsigned kThreads, unsigned kKeys, class LoadNext>
__device__ void block_distribute_tile(const DistributionPass<Key>& pass, unsigned bucket,
                                      unsigned count, const BinHead<Key>& head,
                                      const BinTable<Key>& table, TileBins& bins, Key* tile,
                                      Key (&keys)[kKeys], const LoadNext& load_next) {
  unsigned ranked[kKeys];  // bin << 16 | rank in it
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    const bool exists = i * kThreads + threadIdx.x < count;
    const unsigned bin = exists ? table.bin_of(head, keys[i]) : kNoBin;
    ranked[i] = bin << 16 | thread_rank_key(bins.begins, bin);
  }
  __syncthreads();  // all keys are counted
  const std::uint64_t room = block_take_rooms<kStep, kThreads>(pass, bucket, bins);
  __syncthreads();  // all begins in the tile are known, all rooms are taken
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    if (i * kThreads + threadIdx.x < count) {
      tile[bins.begins[ranked[i] >> 16] + (ranked[i] & 0xffffU)] = keys[i];
    }
  }
  thread_place_bin<kStep>(pass, room, bins);  // now, as the additions take about that long
  __syncthreads();  // the tile lies bin by bin, all bins have their places
  load_next();
  warp_write_bins<kStep, kThreads>(pass, tile, bins);
  for (unsigned i = 0; i < bins.crowded_count; ++i) {
    thread_write_bin<kStep>(pass, tile, bins, bins.crowded[i], threadIdx.x, kThreads);
  }
  __syncthreads();  // the tile is written
}

// A block distributes a stretch of tiles. The keys of the next tile are on their way to registers
// while those of this one leave shared memory.
template <class Key, DistributionStep kStep>
__global__ void __launch_bounds__(kDistribution<Key, kStep>.threads)
    distribution_kernel(const __grid_constant__ DistributionPass<Key> pass) {
  constexpr unsigned kThreads = kDistribution<Key, kStep>.threads;
  constexpr unsigned kKeys = kDistribution<Key, kStep>.keys_per_thread;
  constexpr unsigned kTileKeys = kThreads * kKeys;
  constexpr unsigned kLeastChunk = 1U << kLeastChunkShift;
  static_assert(kThreads >= kMostBins && kTileKeys < 1U << 16 && kLeastChunk % kTileKeys == 0);
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ SharedBins<Key> shared_bins;
  __shared__ TileBins bins;
  __shared__ BucketTile found;
  static_assert(sizeof(shared_bins) + sizeof(bins) + sizeof(found) <= kBinsBytes);
  Key* const tile_keys = reinterpret_cast<Key*>(shared_bytes);
  grid_begin();
  const std::uint64_t all_tiles = pass.buckets[pass.bucket_count].first_tile;
  const std::uint64_t a_block = (all_tiles + gridDim.x - 1) / gridDim.x;
  std::uint64_t tile = blockIdx.x * a_block;
  const std::uint64_t end = tile + a_block < all_tiles ? tile + a_block : all_tiles;
#pragma unroll 1
  while (tile < end) {
    block_find_tile<kTileKeys>(pass, tile, found);
    BucketTile place = found;
    const std::uint64_t bucket_end = place.tiles_end < end ? place.tiles_end : end;
    const BinHead<Key> head = pass.tables.heads[place.bucket];
    if (head.is_single()) {
      for (; tile < bucket_end; ++tile, place.position += kTileKeys) {
        block_copy_tile(pass, thread_find_keys<kStep>(pass, place.bucket, place.position),
                        place.bucket_begin + place.position, place.count<kTileKeys>());
      }
      __syncthreads();  // all threads have read which tile was found
      continue;
    }
    Key keys[kKeys];
    unsigned count = place.count<kTileKeys>();
    thread_load_keys<Key, kThreads>(
        pass, thread_find_keys<kStep>(pass, place.bucket, place.position), count, 0, keys);
    const BinTable<Key> table = block_load_bins(pass.tables, place.bucket, head, shared_bins);
#pragma unroll 1
    for (; tile < bucket_end; ++tile) {
      if (threadIdx.x < kMostBins) bins.begins[threadIdx.x] = 0;
      if (threadIdx.x == 0) bins.crowded_count = 0;
      __syncthreads();  // the table is loaded, the counts are clear
      const bool has_next = tile + 1 < bucket_end;
      place.position += kTileKeys;
      const unsigned next_count = has_next ? place.count<kTileKeys>() : 0;
      const std::uint64_t next =
          has_next ? thread_find_keys<kStep>(pass, place.bucket, place.position) : 0;
      block_distribute_tile<kStep, Key, kThreads, kKeys>(
          pass, place.bucket, count, head, table, bins, tile_keys, keys, [&] {
            if (has_next) thread_load_keys<Key, kThreads>(pass, next, next_count, 0, keys);
          });
      count = next_count;
    }
  }
}

}  // namespace gsort::gpu
