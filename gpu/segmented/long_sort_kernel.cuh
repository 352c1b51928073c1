// long_sort_kernel: sorts each tile of arrays that are longer than a tile. listed_tile_sort_kernel:
// the same for listed arrays, and those of them that take one tile of their own.
// long_partition_kernel: the rows of cuts of one merge pass over long arrays; kway_merge_kernel
// then merges by them as for any pass, or listed_merge_kernel. long_arrays.hpp says which tile and
// row belongs to which array.
//
// Threads: block b sorts tile b, or those that it takes (taken_jobs.cuh), thread t makes row t;
// kFanIn neighbours make one row of cuts.
// Shared memory: the tile, rows of E words and a pad; one co-rank a thread.
// Device memory: the sort reads and writes each key once, 2 * sizeof(Key) bytes an element; a row
// of cuts reads the samples around its cuts, then about 7 keys a run.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/taken_jobs.cuh"
#include "gpu/merge/partition_kernel.cuh"
#include "gpu/segmented/batch_tile.cuh"
#include "gpu/segmented/launch.hpp"

namespace gsort::gpu {

// Sorts tile `number`, if it exists.
template <unsigned kThreads, unsigned kRowWords, class Key>
__device__ void block_sort_long_tile(const LongSortPass<Key>& pass, std::uint64_t number) {
  constexpr unsigned kTileKeys = kThreads * kRowWords;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ unsigned co_ranks[kThreads + 1];
  const TileWords<Key, kRowWords> tile{reinterpret_cast<Key*>(shared_bytes)};
  __shared__ SortedTile found;
  if (threadIdx.x == 0) found = sorted_tile(pass.arrays, pass.passes, number);
  __syncthreads();  // the tile's place is known
  const unsigned count = found.count;
  if (count == 0) return;

  const unsigned row = threadIdx.x;
  const unsigned warp_word = row / 32 * 32 * kRowWords;
  const TileRow<std::uint32_t> place = row_of_list(0U, count, row, kRowWords);
  const Key* const from = pass.input + found.begin;
  const bool vectors = warp_word + 32 * kRowWords <= count &&
                       reinterpret_cast<std::uintptr_t>(from) % sizeof(KeyVector<Key>) == 0;
  Key keys[kRowWords] = {};
  if (warp_word < count) {
    const EndMaps<Key>& maps = pass.maps;
    if (vectors) {
      warp_load_vectors(tile, {from + warp_word, maps.loads_mapped, maps.load_map}, keys);
    } else {
      warp_load_rows<kRowWords>(tile, {from, maps.loads_mapped, maps.load_map}, place, kRowWords,
                                keys);
    }
    thread_sort(keys);
  }
  block_sort_lists(tile, row, place, (count + kRowWords - 1) / kRowWords, true, co_ranks, keys);
  if (warp_word >= count) return;
  thread_store_row(tile, row, keys);

  const bool ends = found.passes == 0;
  Key* const to = found.passes % 2 == 0 ? pass.after_even_passes : pass.after_odd_passes;
  TileTarget<Key> target{to + found.begin,   count, nullptr, 0, pass.maps.stores_mapped && ends,
                         pass.maps.store_map};
  if (!ends) {
    target.samples =
        pass.samples + samples_of_tile(found.number, kTileKeys, kWrittenSampleShift<Key>);
  }
  warp_store_tile(tile, target);
}

template <class Key, unsigned kThreads, unsigned kRowWords, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    long_sort_kernel(const __grid_constant__ LongSortPass<Key> pass) {
  grid_begin();
  block_sort_long_tile<kThreads, kRowWords>(pass, blockIdx.x);
}

template <class Key, unsigned kThreads, unsigned kRowWords, unsigned kResidentThreads>
__global__ void __launch_bounds__(kThreads, kResidentThreads / kThreads)
    listed_tile_sort_kernel(const __grid_constant__ LongSortPass<Key> pass) {
  grid_begin();
  block_take_jobs(
      pass.arrays.listed_tiles(), &pass.arrays.counts->taken_tiles,
      [&](std::uint64_t tile) { block_sort_long_tile<kThreads, kRowWords>(pass, tile); });
}

// A team's row of cuts; rows behind the last take part in the shuffles, with runs of no keys.
template <std::uint32_t kTileKeys, unsigned kFanIn, class Key>
__device__ void team_cut_row(const LongMergePass<Key>& pass, std::uint64_t row,
                             std::uint64_t rows) {
  using Team = LaneTeam<kFanIn>;
  const unsigned lane = threadIdx.x % kFanIn;
  LongPlace place;
  GroupRow group;
  if (row < rows) {
    place = pass.arrays.place_of_row(row);
    group = group_row(pass.passes, pass.pass, place.array.length, place.index, kTileKeys);
  }
  const auto samples_of_run = [&](std::uint64_t run) {
    return samples_of_tile(place.array.first_tile + run * group.run_tiles, pass.passes.tile_keys,
                           kWrittenSampleShift<Key>);
  };
  const std::uint64_t run = group.first_run + lane;
  const std::uint64_t begin = group.run_begin(run);
  typename Team::template Each<SampledRun<Key>> runs;
  typename Team::template Each<std::uint64_t> cuts;
  runs[lane] = {pass.merge.input + place.array.begin + begin,
                pass.merge.samples + samples_of_run(run), group.run_begin(run + 1) - begin};
  kway_cut<Team, Key>(Team{}, group.position(), kWrittenSampleShift<Key>, runs, cuts);
  if (row >= rows) return;

  std::uint64_t* const out = pass.merge.rows + row * (kRowHeader + kFanIn);
  out[kRowHeader + lane] = place.array.begin + begin + cuts[lane];
  if (lane == 0) {
    const std::uint64_t tile_begin = place.array.begin + group.group_begin() + group.position();
    out[kOutputPosition] = group.is_tile() ? tile_begin : kGroupEnd;
    out[kGroupPosition] = group.position();
    out[kSampleBegin] = samples_of_run(group.first_run);
  }
}

// The rows of cuts that this block makes.
template <unsigned kThreads, std::uint32_t kTileKeys, unsigned kFanIn, class Key>
__device__ void block_cut_rows(const LongMergePass<Key>& pass, std::uint64_t rows) {
  constexpr unsigned kTeams = kThreads / kFanIn;
#pragma unroll 1
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * kTeams; first < rows;
       first += std::uint64_t{gridDim.x} * kTeams) {
    team_cut_row<kTileKeys, kFanIn>(pass, first + threadIdx.x / kFanIn, rows);
  }
}

template <class Key, std::uint32_t kTileKeys, unsigned kFanIn>
__global__ void __launch_bounds__(kPartitionThreads, 12)
    long_partition_kernel(const __grid_constant__ LongMergePass<Key> pass) {
  grid_begin();
  const std::uint64_t rows =
      pass.arrays.counts == nullptr ? pass.merge.row_count : pass.arrays.listed_rows();
  block_cut_rows<kPartitionThreads, kTileKeys, kFanIn>(pass, rows);
}

}  // namespace gsort::gpu
