// bucket_place_kernel: the bins of the first distribution become the buckets of the second.
// pack_bins_kernel: neighbouring bins of the second one are packed into tiles.
//
// Problem. Bins have about a quarter of a tile; a tile that sorted one of them would be mostly
// fill. Neighbours are in order already, so a tile sorts any stretch of them as one list. But which
// stretches depends on all bins before.
//
// Idea. A block packs the bins of one bucket. Each thread finds where a tile ends that begins with
// its bin; one thread goes from tile to tile; then each lists one tile. A bin longer than a tile is
// a long array (long_arrays.hpp), which passes of merging sort, alone: it takes in the bins behind
// it as long as it needs no further pass, so that its last tile is not empty. A long bin of equal
// keys is sorted.
//
// Example. Tiles of 10 keys, bins 4 5 3 | 12 6 2 | 20 equal ones: tiles of 9 and 3, then 12 + 6 + 2
// as one long array of two tiles.
//
// Bounds. A packed tile and what follows it have more than a tile's keys; a long array and the next
// one more than kLongTiles tiles, unless a long bin of equal keys is between them.
// DistributionBounds counts on that.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/distribute/block_sum.cuh"
#include "gpu/distribute/distribute_shape.hpp"
#include "gpu/distribute/launch.hpp"
#include "gpu/merge/find_last.hpp"

namespace gsort::gpu {

// One block: thread t has bin t.
template <class Key>
__global__ void __launch_bounds__(kMostBins) bucket_place_kernel(const BucketPass pass) {
  __shared__ std::uint64_t warp_sums[kMostBins / 32];
  grid_begin();
  const unsigned bin = threadIdx.x;
  const std::uint64_t count = bin < pass.bins ? pass.rooms[bin] : 0;
  std::uint64_t keys = 0;
  const std::uint64_t begin = block_exclusive_sum<kMostBins>(count, warp_sums, keys);
  __syncthreads();  // the sums of keys are read
  std::uint64_t tiles = 0;
  const std::uint64_t first_tile = block_exclusive_sum<kMostBins>(
      (count + pass.tile_keys - 1) / pass.tile_keys, warp_sums, tiles);
  if (bin < pass.bins) pass.buckets[bin] = {begin, first_tile};
  if (bin == 0) pass.buckets[pass.bins] = {keys, tiles};
}

// What a block knows while it packs a bucket.
struct PackedBins {
  std::uint64_t begins[kMostBins + 1];  // of bins, in the bucket
  std::uint64_t warp_sums[kMostBins / 32];
  std::uint64_t first_listed;      // of the packed tiles
  std::uint16_t next[kMostBins];   // the bin behind a tile that begins with this one
  bool is_final[kMostBins];        // needs no sorting
  std::uint16_t first[kMostBins];  // of each stretch that is sorted: its bins,
  std::uint16_t end[kMostBins];
  std::uint16_t number[kMostBins];  // and which of the packed tiles it is; kLong: none
  unsigned stretches;
  unsigned packed;

  static constexpr std::uint16_t kLong = 0xffff;

  [[nodiscard]] __device__ std::uint64_t length(unsigned bin, unsigned end_bin) const {
    return begins[end_bin] - begins[bin];
  }
};

// Goes from stretch to stretch and lists them.
__device__ inline void thread_list_stretches(unsigned bins, unsigned tile_keys,
                                             PackedBins& packed) {
  packed.stretches = 0;
  packed.packed = 0;
  for (unsigned bin = 0; bin < bins;) {
    unsigned end = packed.next[bin];
    const bool is_long = end == bin;
    if (is_long) ++end;
    if (packed.is_final[bin]) {
      bin = end;
      continue;
    }
    if (is_long) {
      const std::uint64_t own = (packed.length(bin, end) + tile_keys - 1) / tile_keys;
      const std::uint64_t most = (own < kLongTiles ? kLongTiles : own) * tile_keys;
      while (end < bins && !packed.is_final[end] && packed.length(bin, end + 1) <= most) ++end;
    }
    if (packed.length(bin, end) > 0) {
      const unsigned stretch = packed.stretches++;
      packed.first[stretch] = static_cast<std::uint16_t>(bin);
      packed.end[stretch] = static_cast<std::uint16_t>(end);
      packed.number[stretch] =
          is_long ? PackedBins::kLong : static_cast<std::uint16_t>(packed.packed++);
    }
    bin = end;
  }
}

// Block b packs the bins of bucket b.
template <class Key>
__global__ void __launch_bounds__(kMostBins)
    pack_bins_kernel(const __grid_constant__ PackPass<Key> pass) {
  __shared__ PackedBins packed;
  grid_begin();
  const unsigned bucket = blockIdx.x;
  const BinHead<Key> head = pass.tables.heads[bucket];
  if (head.is_single()) return;  // its tiles are copied
  const unsigned bin = threadIdx.x;
  const unsigned bins = pass.tables.bins();
  const unsigned most = packed_tile_keys<Key>(pass.sort_tile_keys);
  const std::uint64_t begin = pass.buckets[bucket].begin;
  std::uint64_t* const rooms = pass.rooms + std::uint64_t{bucket} * bins;
  const std::uint64_t count = bin < bins ? rooms[bin] : 0;
  std::uint64_t total = 0;
  const std::uint64_t before = block_exclusive_sum<kMostBins>(count, packed.warp_sums, total);
  packed.begins[bin] = before;
  if (bin == 0) packed.begins[kMostBins] = total;
  if (bin < bins) {
    const Key* const splitters = pass.tables.splitters + std::uint64_t{bucket} * bins;
    const BinTable<Key> table{splitters, nullptr, 0};
    packed.is_final[bin] = count > most && table.is_single_bin(head, bin);
    rooms[bin] = (begin + before) | (packed.is_final[bin] ? kFinalRoom : 0);
  }
  __syncthreads();  // all begins are known
  if (bin < bins) {
    packed.next[bin] = static_cast<std::uint16_t>(
        find_last(bins + 1, before + most, [](std::uint64_t i) { return packed.begins[i]; }));
  }
  __syncthreads();  // and where each tile ends
  if (bin == 0) {
    thread_list_stretches(bins, pass.sort_tile_keys, packed);
    packed.first_listed = thread_add(pass.packed_count, packed.packed);
  }
  __syncthreads();  // the stretches are listed
  if (bin >= packed.stretches) return;
  const unsigned first = packed.first[bin];
  const std::uint64_t length = packed.length(first, packed.end[bin]);
  LongArray array{begin + packed.begins[first], length, 0};
  if (packed.number[bin] != PackedBins::kLong) {
    pass.packed_tiles[packed.first_listed + packed.number[bin]] = array;
    return;
  }
  const std::uint64_t tiles = (length + pass.sort_tile_keys - 1) / pass.sort_tile_keys;
  const std::uint64_t ticket =
      thread_add(&pass.counts->lists.long_ticket, LongTicket::of_array(tiles));
  array.first_tile = LongTicket::tiles(ticket);
  pass.long_arrays[LongTicket::arrays(ticket)] = array;
}

}  // namespace gsort::gpu
