// long_partition_kernel: the rows of cuts of one merge pass over long arrays; kway_merge_kernel
// then merges by them as for any pass, or listed_merge_kernel. long_arrays.hpp says which row
// belongs to which array.
//
// Threads: kFanIn neighbours make one row of cuts.
// Device memory: a row of cuts reads the samples around its cuts, then about 7 keys a run.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/merge/partition_kernel.cuh"
#include "gpu/segmented/launch.hpp"

namespace gsort::gpu {

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
