// bucket_place_kernel: the bins of the first distribution become the buckets of the second.
// pack_bins_kernel: neighbouring bins of the second one are packed into tiles.
//
// Problem. Bins have about a quarter of a tile; a tile that sorted one of them would be mostly
// fill. Neighbours are in order already, so a tile sorts any stretch of them as one list. But which
// stretches depends on all bins before.
//
// Idea. A block packs the bins of one bucket. Each thread finds the end of the stretch that would
// begin with its bin. Only some bins begin a stretch: the first one, and each bin behind a stretch.
// They are found by jumps from stretch to stretch whose lengths double: 1 stretch, then 2, 4, ...
// Then the thread of each such bin lists its stretch. A bin longer than a tile is a long array of
// its own (long_arrays.hpp), which is sorted by passes of merging. It takes in the bins behind it
// as long as this needs no further pass, so that its last tile is not empty. A long bin of equal
// keys is sorted already.
//
// Example. Tiles of 10 keys, bins 4 5 3 | 12 6 2 | 20 equal ones: tiles of 9 and 3, then 12 + 6 + 2
// as one long array of two tiles. Bins 0 2 3 6 begin stretches: the first jumps go from 0 to 2 and
// from 2 to 3, the next ones from 0 to 3 and from 2 to 6.
//
// Bounds. A packed tile and what follows it have more than a tile's keys; a long array and the next
// one more than kLongTiles tiles, unless a long bin of equal keys is between them.
// DistributionBounds counts on that.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/distribute/distribute_shape.hpp"
#include "gpu/distribute/launch.hpp"
#include "gpu/merge/block_sum.cuh"
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
  if (pass.sets_rooms && bin < pass.bins) pass.rooms[bin] = begin;
  if (bin == 0) pass.buckets[pass.bins] = {keys, tiles};
}

// The state of a block that packs a bucket.
struct PackedBins {
  std::uint64_t begins[kMostBins + 1];  // of bins, in the bucket
  std::uint64_t warp_sums[kMostBins / 32];
  unsigned warp_tiles[kMostBins / 32];
  std::uint64_t first_listed;     // of the packed tiles
  std::uint16_t jump[kMostBins];  // the bin behind the stretches that begin with this one
  bool is_final[kMostBins];       // needs no sorting
  bool is_first[kMostBins];       // a stretch begins with it

  [[nodiscard]] __device__ std::uint64_t length(unsigned bin, unsigned end_bin) const {
    return begins[end_bin] - begins[bin];
  }
  // The last bin whose keys begin at or before `position`, or the end of the bins.
  [[nodiscard]] __device__ unsigned bin_at(unsigned bins, std::uint64_t position) const {
    const auto begin_of = [&](std::uint64_t bin) { return begins[bin]; };
    return static_cast<unsigned>(find_last(bins + 1, position, begin_of));
  }
};

// A stretch of bins that are sorted together.
struct BinStretch {
  unsigned end;
  bool is_long;
};

// The stretch that begins with the bin, if one does. Requires: all begins are known.
__device__ inline BinStretch thread_find_stretch(const PackedBins& packed, unsigned bin,
                                                 unsigned bins, unsigned tile_keys,
                                                 unsigned packed_keys) {
  if (packed.is_final[bin]) return {bin + 1, false};
  const std::uint64_t begin = packed.begins[bin];
  const unsigned behind = packed.bin_at(bins, begin + packed_keys);
  if (behind > bin) return {behind, false};
  const std::uint64_t tiles = (packed.length(bin, bin + 1) + tile_keys - 1) / tile_keys;
  const std::uint64_t most = (tiles < kLongTiles ? kLongTiles : tiles) * tile_keys;
  const unsigned reach = packed.bin_at(bins, begin + most);
  unsigned end = bin + 1;
  while (end < reach && !packed.is_final[end]) ++end;
  return {end, true};
}

// Marks the bins that stretches begin with. Requires: jump[bin] is where the stretch of the bin
// ends. All threads of the block call this, thread t for bin t.
__device__ inline void block_mark_stretches(PackedBins& packed, unsigned bins) {
  const unsigned bin = threadIdx.x;
  packed.is_first[bin] = bin == 0;
  __syncthreads();  // the ends and the first mark are known
  for (unsigned marked = 1; marked < bins; marked *= 2) {
    const unsigned next = bin < bins ? packed.jump[bin] : bins;
    const unsigned after_next = next < bins ? packed.jump[next] : bins;
    const bool marks = packed.is_first[bin] && next < bins;
    __syncthreads();  // all jumps and marks are read
    if (bin < bins) packed.jump[bin] = static_cast<std::uint16_t>(after_next);
    if (marks) packed.is_first[next] = true;
    __syncthreads();  // jumps are twice as far, and twice as many bins are marked
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
    const BinTable<Key> table{splitters};
    packed.is_final[bin] = count > most && table.is_single_bin(head, bin);
    rooms[bin] = (begin + before) | (packed.is_final[bin] ? kFinalRoom : 0);
  }
  __syncthreads();  // all begins are known
  BinStretch stretch{};
  if (bin < bins) {
    stretch = thread_find_stretch(packed, bin, bins, pass.sort_tile_keys, most);
    packed.jump[bin] = static_cast<std::uint16_t>(stretch.end);
  }
  block_mark_stretches(packed, bins);
  const bool is_first = bin < bins && packed.is_first[bin] && !packed.is_final[bin];
  const std::uint64_t length = is_first ? packed.length(bin, stretch.end) : 0;
  const bool is_packed = length > 0 && !stretch.is_long;
  unsigned tiles = 0;
  const unsigned number =
      block_exclusive_sum<kMostBins>(is_packed ? 1U : 0U, packed.warp_tiles, tiles);
  if (bin == 0) packed.first_listed = thread_add(pass.packed_count, tiles);
  __syncthreads();  // the tiles have their places in the list
  if (length == 0) return;
  LongArray array{begin + before, length, 0};
  if (is_packed) {
    pass.packed_tiles[packed.first_listed + number] = array;
    return;
  }
  const std::uint64_t long_tiles = (length + pass.sort_tile_keys - 1) / pass.sort_tile_keys;
  const std::uint64_t ticket =
      thread_add(&pass.counts->lists.long_ticket, LongTicket::of_array(long_tiles));
  array.first_tile = LongTicket::tiles(ticket);
  pass.long_arrays[LongTicket::arrays(ticket)] = array;
}

}  // namespace gsort::gpu
