// What all kernels of distributions share: finding a tile of a bucket, loading the bucket's table,
// loading the tile's keys, finding their bins.
#pragma once

#include <cstdint>

#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/distribute/launch.hpp"
#include "gpu/distribute/tile_jobs.hpp"
#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

// The table of one bucket in shared memory.
template <class Key>
struct SharedBins {
  CellNode<Key> nodes[kMostNodes];
  Key splitters[kMostBins];
  std::uint32_t cells[kMostCells];
  std::uint16_t node_cells[kMostNodeCells];
};

// A tile of a bucket, as its block sees it. It has no initial values because it lies in shared
// memory.
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

// Where the bucket's keys from `position` on begin in the input. Valid for one tile.
template <DistributionStep kStep, class Key>
__device__ std::uint64_t thread_find_keys(const DistributionPass<Key>& pass, unsigned bucket,
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
template <class Key>
__device__ TileJobs jobs_of(const DistributionPass<Key>& pass) {
  return TileJobs::of(pass.buckets[pass.bucket_count].first_tile, pass.even_blocks);
}

// Calls work(place, tiles, piece, take_next) for each piece of the jobs that this block takes
// (taken_jobs.cuh). `place` is its first tile, `tiles` their number, `piece` its own number.
// work() calls take_next() in its last tile: not earlier, so that blocks end together, and not at
// its end, so that it does not wait for the counter. All threads of the block call this.
// work() ends with a barrier after the last read of `found`.
template <unsigned kTileKeys, class Key, class Work>
__device__ void block_for_pieces(const DistributionPass<Key>& pass, BucketTile& found,
                                 const Work& work) {
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

// Does not end with a barrier: the caller's next barrier makes the table visible.
template <class Key>
__device__ BinTable<Key> block_load_bins(const BinTables<Key>& tables, unsigned bucket,
                                         const BinHead<Key>& head, SharedBins<Key>& shared) {
  const Key* const splitters = tables.splitters + std::uint64_t{bucket} * tables.bins();
  for (unsigned i = threadIdx.x; i < head.bins; i += blockDim.x) shared.splitters[i] = splitters[i];
  const std::uint32_t* const cells = tables.cells + std::uint64_t{bucket} * tables.cell_count();
  for (unsigned i = threadIdx.x; i < tables.cell_count(); i += blockDim.x) {
    shared.cells[i] = cells[i];
  }
  const CellNode<Key>* const nodes = tables.nodes + std::uint64_t{bucket} * tables.node_count();
  for (unsigned i = threadIdx.x; i < head.nodes; i += blockDim.x) shared.nodes[i] = nodes[i];
  const std::uint16_t* const node_cells =
      tables.node_cells + std::uint64_t{bucket} * tables.node_cell_count();
  for (unsigned i = threadIdx.x; i < head.node_cells; i += blockDim.x) {
    shared.node_cells[i] = node_cells[i];
  }
  return {shared.splitters, shared.cells, tables.cell_bits(), shared.nodes, shared.node_cells};
}

// Sets bins[i] to the bin of keys[i], which is key i * kThreads + threadIdx.x of `count`. Keys past
// the count get kMostBins.
template <unsigned kThreads, class Key, unsigned kKeys>
__device__ void thread_find_bins(const BinHead<Key>& head, const BinTable<Key>& table,
                                 const Key (&keys)[kKeys], unsigned count,
                                 unsigned (&bins)[kKeys]) {
  unsigned all = 0;
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    bins[i] = table.find(head, keys[i]);
    all |= bins[i];
  }
  if ((all & kSearched) != 0) {
#pragma unroll
    for (unsigned i = 0; i < kKeys; ++i) {
      if ((bins[i] & kSearched) != 0) bins[i] = table.search(head, keys[i]);
    }
  }
  if (count >= kThreads * kKeys) return;
#pragma unroll
  for (unsigned i = 0; i < kKeys; ++i) {
    if (i * kThreads + threadIdx.x >= count) bins[i] = kMostBins;
  }
}

// Loads the thread's keys of a tile, ordered; a key past the count is 0.
template <class Key, unsigned kThreads, unsigned kKeys>
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
