// Steps that all kernels of distributions share: finding a tile of a bucket, loading the bucket's
// table, loading the tile's keys, finding their bins.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/distribute/launch.hpp"
#include "gpu/distribute/tile_jobs.hpp"
#include "gpu/merge/block_store.cuh"
#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

// The table of one bucket in shared memory.
template <class Key>
struct SharedBins {
  Key splitters[spread_place(kMostBins)];
  std::uint32_t cells[spread_place(kMostCells)];
};

// Where the bucket's keys from `position` on begin in the input. Valid for one tile.
template <DistributionStep kStep, class Pass>
__device__ std::uint64_t thread_find_keys(const Pass& pass, unsigned bucket,
                                          std::uint64_t position) {
  if constexpr (kStep != DistributionStep::kSecond) return position;
  return pass.chunks.place_of(bucket, position);
}

// All threads of the block call this, after the last read of `found` from an earlier call.
template <unsigned kTileKeys, class Pass>
__device__ void block_find_tile(const Pass& pass, std::uint64_t tile, BucketTile& found) {
  for (unsigned bucket = threadIdx.x; bucket < pass.bucket_count; bucket += blockDim.x) {
    const BucketPlace place = pass.buckets[bucket];
    const BucketPlace next = pass.buckets[bucket + 1];
    if (tile < place.first_tile || tile >= next.first_tile) continue;
    found = {place.begin, next.begin - place.begin, next.first_tile,
             (tile - place.first_tile) * kTileKeys, bucket};
  }
  __syncthreads();  // the tile is found
}

// The jobs of the distribution. Requires: the buckets are known.
template <class Pass>
__device__ TileJobs jobs_of(const Pass& pass) {
  return TileJobs::of(pass.buckets[pass.bucket_count].first_tile, pass.even_blocks);
}

// Calls work(place, tiles, piece, take_next) for each piece of the jobs that this block takes
// (taken_jobs.cuh). `place` is its first tile, `tiles` their number, `piece` its own number.
// work() calls take_next() in its last tile: not earlier, so that blocks end together, and not at
// its end, so that it does not wait for the counter. All threads of the block call this.
// work() ends with a barrier after the last read of `found`.
template <unsigned kTileKeys, class Pass, class Work>
__device__ void block_for_pieces(const Pass& pass, BucketTile& found, const Work& work) {
  __shared__ std::uint64_t next;
  const TileJobs jobs = jobs_of(pass);
  std::uint64_t job = blockIdx.x;
#pragma unroll 1
  while (job < jobs.count()) {
    const std::uint64_t end = jobs.begin(job + 1);
#pragma unroll 1
    for (std::uint64_t tile = jobs.begin(job); tile < end;) {
      block_find_tile<kTileKeys>(pass, tile, found);
      const BucketTile place = found;
      const std::uint64_t tiles = min(place.tiles_end, end) - tile;
      tile += tiles;
      work(place, tiles, job + place.bucket, [&] {
        if (threadIdx.x == 0 && tile == end) next = gridDim.x + thread_add(pass.taken, 1);
      });
    }
    job = next;
  }
}

// If a bisection within the cells takes more steps than this, a descent through a tree of all
// splitters is faster: the upper levels of the tree have few nodes, so lanes read the same ones.
template <class Key>
inline constexpr unsigned kMostSteps = sizeof(Key) == 4 ? 5 : 3;

// The table of a bucket. If the cell of one of a thread's keys needs a search, all its keys are
// searched for in the same number of steps, so that these overlap. kSearchesEach: if the steps are
// few, only the keys that need it are searched for; this takes more registers.
template <class Key, bool kSearchesEach = false>
struct SteppedTable {
  static constexpr unsigned kFewSteps = 2;

  BinTable<Key> table;   // without splitters
  const Key* splitters;  // splitter i at place_of(i)
  unsigned bin_bits;

  [[nodiscard]] static __device__ bool is_tree(const BinHead<Key>& head) {
    return head.steps > kMostSteps<Key>;
  }
  [[nodiscard]] static __device__ unsigned place_of(const BinHead<Key>& head, unsigned bin,
                                                    unsigned bin_bits) {
    return is_tree(head) ? tree_node_of(bin, bin_bits) : spread_place(bin);
  }

  // Finds the bins of all keys. Requires: bins[i] is the bin where the cell of keys[i] begins, or
  // already the bin of keys[i].
  template <unsigned kKeys>
  __device__ void search(const BinHead<Key>& head, const Key (&keys)[kKeys],
                         unsigned (&bins)[kKeys]) const {
    if (is_tree(head)) return descend(head, keys, bins);
    if constexpr (kSearchesEach) {
      if (head.steps <= kFewSteps) return search_each(head, keys, bins);
    }
#pragma unroll
    for (unsigned& bin : bins) bin &= kEntryBin;
#pragma unroll 1
    for (unsigned step = 1U << head.steps >> 1; step > 0; step >>= 1) {
#pragma unroll
      for (unsigned i = 0; i < kKeys; ++i) {
        const unsigned other = bins[i] + step;
        if (other < head.bins && splitters[spread_place(other)] <= keys[i]) bins[i] = other;
      }
    }
  }
  template <unsigned kKeys>
  __device__ void search_each(const BinHead<Key>& head, const Key (&keys)[kKeys],
                              unsigned (&bins)[kKeys]) const {
#pragma unroll
    for (unsigned i = 0; i < kKeys; ++i) {
      if ((bins[i] & kSearched) == 0) continue;
      bins[i] &= kEntryBin;
#pragma unroll
      for (unsigned step = 1U << kFewSteps >> 1; step > 0; step >>= 1) {
        const unsigned other = bins[i] + step;
        if (other < head.bins && splitters[spread_place(other)] <= keys[i]) bins[i] = other;
      }
    }
  }
  template <unsigned kKeys>
  __device__ void descend(const BinHead<Key>& head, const Key (&keys)[kKeys],
                          unsigned (&bins)[kKeys]) const {
#pragma unroll
    for (unsigned& bin : bins) bin = 1;
#pragma unroll 1
    for (unsigned level = 0; level < bin_bits; ++level) {
#pragma unroll
      for (unsigned i = 0; i < kKeys; ++i) {
        bins[i] = 2 * bins[i] + (splitters[bins[i]] <= keys[i] ? 1U : 0U);
      }
    }
    // Behind the last splitter, nodes have the greatest key.
#pragma unroll
    for (unsigned& bin : bins) bin = min(bin - (1U << bin_bits), head.bins - 1);
  }
};

// Loads the table of a bucket. Does not end with a barrier: the caller's next barrier makes the
// table visible.
template <bool kSearchesEach = false, class Key>
__device__ SteppedTable<Key, kSearchesEach> block_load_table(const BinTables<Key>& tables,
                                                             unsigned bucket,
                                                             const BinHead<Key>& head,
                                                             SharedBins<Key>& shared) {
  const Key* const splitters = tables.splitters + std::uint64_t{bucket} * tables.bins();
  for (unsigned bin = threadIdx.x; bin < tables.bins(); bin += blockDim.x) {
    if (bin == 0) continue;
    shared.splitters[SteppedTable<Key>::place_of(head, bin, tables.bin_bits)] =
        bin < head.bins ? splitters[bin] : static_cast<Key>(~Key{0});
  }
  const std::uint32_t* const cells = tables.cells + std::uint64_t{bucket} * tables.cell_count();
  for (unsigned i = threadIdx.x; i < tables.cell_count(); i += blockDim.x) {
    shared.cells[spread_place(i)] = cells[i];
  }
  return {{nullptr, shared.cells, tables.cell_bits()}, shared.splitters, tables.bin_bits};
}

// The bins of a thread's keys of a tile, which the count before a single distribution has kept. A
// vector has the bins of eight keys, which are kThreads apart in the tile.
using BinVector = KeyVector<std::uint16_t>;
template <unsigned kThreads, unsigned kKeys>
struct KeptBins {
  static constexpr unsigned kRounds = kKeys / BinVector::kKeys;

  BinVector vectors[kRounds];

  // For a tile of `count` keys that begins at `begin`.
  template <class Pass>
  __device__ void load(const Pass& pass, std::uint64_t begin, unsigned count) {
    const auto* const from = reinterpret_cast<const BinVector*>(pass.bins + begin) + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < kRounds; ++i) {
      if (i * kThreads * BinVector::kKeys < count) vectors[i] = from[i * kThreads];
    }
  }
};

// The first look-up of all keys; returns whether some have to be searched for.
template <class Key, unsigned kKeys>
__device__ bool thread_look_up(const BinHead<Key>& head, const BinTable<Key>& table,
                               const Key (&keys)[kKeys], unsigned (&bins)[kKeys]) {
  unsigned all = 0;
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    bins[i] = table.find(head, keys[i]);
    all |= bins[i];
  }
  return (all & kSearched) != 0;
}
template <class Key, bool kSearchesEach, unsigned kKeys>
__device__ void thread_find_all(const BinHead<Key>& head,
                                const SteppedTable<Key, kSearchesEach>& steps,
                                const Key (&keys)[kKeys], unsigned (&bins)[kKeys]) {
  if (thread_look_up(head, steps.table, keys, bins)) steps.search(head, keys, bins);
}
template <class Key, unsigned kThreads, unsigned kKeys>
__device__ void thread_find_all(const BinHead<Key>& /*head*/, const KeptBins<kThreads, kKeys>& kept,
                                const Key (&/*keys*/)[kKeys], unsigned (&bins)[kKeys]) {
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    bins[i] = kept.vectors[i / BinVector::kKeys].keys[i % BinVector::kKeys];
  }
}

// Sets bins[i] to the bin of keys[i], which is key i * kThreads + threadIdx.x of `count`. Keys past
// the count get kMostBins. Table: SteppedTable or KeptBins.
template <unsigned kThreads, class Key, class Table, unsigned kKeys>
__device__ void thread_find_bins(const BinHead<Key>& head, const Table& table,
                                 const Key (&keys)[kKeys], unsigned count,
                                 unsigned (&bins)[kKeys]) {
  thread_find_all(head, table, keys, bins);
  if (count >= kThreads * kKeys) return;
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    if (i * kThreads + threadIdx.x >= count) bins[i] = kMostBins;
  }
}

// Loads the thread's keys of a tile, ordered; keys past the count are arbitrary.
template <unsigned kThreads, class Key, unsigned kKeys>
__device__ void thread_load_keys(const DistributionPass<Key>& pass, std::uint64_t begin,
                                 unsigned count, Key (&keys)[kKeys]) {
  const Key* const from = pass.input + begin + threadIdx.x;
  if (count >= kThreads * kKeys) {
#pragma unroll
    for (unsigned i = 0; i < kKeys; ++i) keys[i] = from[i * kThreads];
  } else {
#pragma unroll
    for (unsigned i = 0; i < kKeys; ++i) {
      keys[i] = i * kThreads + threadIdx.x < count ? from[i * kThreads] : Key{0};
    }
  }
  if (pass.maps.loads_mapped) {
#pragma unroll
    for (Key& key : keys) key = pass.maps.load_map.to_ordered(key);
  }
}

// Whether all lanes have keys of one bin, as in sorted stretches. Then they share one atomic
// addition. All lanes call this.
__device__ inline bool warp_shares_bin(unsigned bin) {
  return __all_sync(kWholeWarp, bin == __shfl_sync(kWholeWarp, bin, 0)) != 0;
}

}  // namespace gsort::gpu
