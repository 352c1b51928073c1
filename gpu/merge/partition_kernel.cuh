// partition_kernel: the rows of cuts of one pass (merge_pass.hpp). two_way_partition_kernel: the
// same for two runs that have no samples. sample_kernel: the samples of runs that no kernel of ours
// wrote.
//
// Threads: one a run and row of cuts, of two runs one a row; one a sample.
// Device memory: a row reads the samples around its cuts, mostly from the L2, then about seven keys
// a run. It is bound by instructions, not by these reads.
#pragma once

#include <cstdint>

#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/warp_lanes.cuh"
#include "gpu/merge/find_last.hpp"
#include "gpu/merge/guided_co_rank.hpp"
#include "gpu/merge/kway_cut.hpp"
#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

inline constexpr unsigned kPartitionThreads = 128;

// A team of kRuns neighbouring threads of a warp, a power of two; see SerialTeam for what its calls
// mean. The teams of a warp go through their rounds in step, so that all shuffles have all threads.
template <unsigned kRuns>
struct LaneTeam {
  static constexpr unsigned kLanes = kRuns;

  template <class T>
  struct Each {
    T value{};
    __device__ T& operator[](unsigned /*lane*/) { return value; }
  };

  template <class F>
  __device__ void each(const F& f) const {
    f(threadIdx.x % kRuns);
  }
  template <class T>
  __device__ T get(Each<T>& each, unsigned lane) const {
    return thread_shuffle(each.value, [lane](auto part) {
      return __shfl_sync(kWholeWarp, part, static_cast<int>(lane), kRuns);
    });
  }
  __device__ std::uint32_t sum(Each<std::uint32_t>& each) const {
    std::uint32_t total = each.value;
#pragma unroll
    for (unsigned distance = 1; distance < kRuns; distance *= 2) {
      total += __shfl_xor_sync(kWholeWarp, total, static_cast<int>(distance), kRuns);
    }
    return total;
  }
  template <class Key>
  __device__ Key least(Each<Key>& each) const {
    Key found = each.value;
#pragma unroll
    for (unsigned distance = 1; distance < kRuns; distance *= 2) {
      const Key other = thread_shuffle(found, [distance](auto part) {
        return __shfl_xor_sync(kWholeWarp, part, static_cast<int>(distance), kRuns);
      });
      found = other < found ? other : found;
    }
    return found;
  }
  __device__ std::uint32_t ballot(Each<bool>& each) const {
    const unsigned first = threadIdx.x % 32 & ~(kRuns - 1);
    return __ballot_sync(kWholeWarp, each.value) >> first & ((1U << kRuns) - 1);
  }
  __device__ unsigned greatest(Each<std::uint32_t>& each) const {
    constexpr std::uint32_t kMost = (1U << 27) - 1;
    std::uint32_t found = (each.value < kMost ? each.value : kMost) * 32 + threadIdx.x % kRuns;
#pragma unroll
    for (unsigned distance = 1; distance < kRuns; distance *= 2) {
      const std::uint32_t other =
          __shfl_xor_sync(kWholeWarp, found, static_cast<int>(distance), kRuns);
      found = found < other ? other : found;
    }
    return found % 32;
  }
  __device__ bool any(bool wants) const {
    return __any_sync(kWholeWarp, wants) != 0;
  }
};

template <class Key, std::uint32_t kTileKeys, unsigned kFanIn, bool kMapped>
__global__ void __launch_bounds__(kPartitionThreads, 12)
    partition_kernel(const __grid_constant__ MergePass<Key> pass) {
  using Team = LaneTeam<kFanIn>;
  using Keys = decltype(pass.template reader<kMapped>(nullptr));
  grid_begin();
  const unsigned lane = threadIdx.x % kFanIn;
  const std::uint64_t row = (std::uint64_t{blockIdx.x} * kPartitionThreads + threadIdx.x) / kFanIn;
  const bool exists = row < pass.row_count;  // threads beyond the rows take part in the shuffles
  std::uint64_t group = 0;
  std::uint64_t first_row = 0;
  if (pass.group_first_row != nullptr) {
    group = find_last(pass.group_count, exists ? row : 0,
                      [&](std::uint64_t i) { return pass.group_first_row[i]; });
    first_row = pass.group_first_row[group];
  } else if (exists) {
    // Rows are fewer than 2^32: a launch has no more blocks.
    group = static_cast<std::uint32_t>(row) / static_cast<std::uint32_t>(pass.rows_per_group);
    first_row = group * pass.rows_per_group;
  }

  const std::uint64_t run = group * kFanIn + lane;
  const std::uint64_t begin = pass.runs.begin(run);
  const std::uint64_t end = pass.runs.begin(run + 1);
  const std::uint64_t group_begin = __shfl_sync(kWholeWarp, begin, 0, kFanIn);
  const std::uint64_t group_length = __shfl_sync(kWholeWarp, end, kFanIn - 1, kFanIn) - group_begin;
  const std::uint64_t wanted = exists ? (row - first_row) * kTileKeys : 0;
  const std::uint64_t position = wanted < group_length ? wanted : group_length;

  typename Team::template Each<SampledRun<Key, Keys>> runs;
  typename Team::template Each<std::uint64_t> cuts;
  const Key* const samples = pass.samples + (begin >> pass.sample_shift) + run;
  runs[lane] = {pass.template reader<kMapped>(pass.input + begin),
                pass.template reader<kMapped>(samples), end - begin};
  kway_cut<Team, Key, Keys>(Team{}, position, pass.sample_shift, runs, cuts);
  if (!exists) return;

  std::uint64_t* const out = pass.rows + row * (kRowHeader + kFanIn);
  out[kRowHeader + lane] = begin + cuts[lane];
  if (lane == 0) {
    out[kOutputPosition] = wanted < group_length ? group_begin + position : kGroupEnd;
    out[kGroupPosition] = position;
    out[kSampleBegin] = (group_begin >> kWrittenSampleShift<Key>)+group;
  }
}

// One thread a row: two runs need no samples, since a guided search reads as little.
template <class Key, std::uint32_t kTileKeys, bool kMapped>
__global__ void __launch_bounds__(kPartitionThreads)
    two_way_partition_kernel(const __grid_constant__ MergePass<Key> pass) {
  grid_begin();
  const std::uint64_t row = std::uint64_t{blockIdx.x} * kPartitionThreads + threadIdx.x;
  if (row >= pass.row_count) return;
  const TwoRuns runs = pass.two_runs(0);
  const std::uint64_t length = runs.length();
  const std::uint64_t wanted = row * kTileKeys;
  const std::uint64_t position = wanted < length ? wanted : length;
  const auto keys = pass.template reader<kMapped>(pass.input);
  const std::uint64_t cut = guided_co_rank(position, keys + runs.first_begin, runs.first_length,
                                           keys + runs.second_begin, runs.second_length);
  std::uint64_t* const out = pass.rows + row * (kRowHeader + 2);
  out[kOutputPosition] = wanted < length ? position : kGroupEnd;
  out[kGroupPosition] = position;
  out[kSampleBegin] = 0;
  out[kRowHeader] = runs.first_begin + cut;
  out[kRowHeader + 1] = runs.second_begin + (position - cut);
}

template <class Key>
__global__ void __launch_bounds__(kPartitionThreads)
    sample_kernel(const Key* keys, const RunTable table, std::uint64_t slots, Key* samples) {
  grid_begin();
  const std::uint64_t slot = std::uint64_t{blockIdx.x} * kPartitionThreads + threadIdx.x;
  if (slot >= slots) return;
  // The run whose samples hold this slot: the last that begins at or before it.
  const std::uint64_t run = find_last(table.run_count, slot, [&](std::uint64_t i) {
    return table.sample_begin(i, kReadSampleShift);
  });
  const std::uint64_t begin = table.begin(run);
  const std::uint64_t position =
      begin + ((slot - table.sample_begin(run, kReadSampleShift)) << kReadSampleShift);
  if (position < table.begin(run + 1)) samples[slot] = keys[position];
}

}  // namespace gsort::gpu
