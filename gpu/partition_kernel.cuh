// partition_kernel: the rows of cuts of one pass (merge_pass.hpp). sample_kernel: the samples of
// runs that no kernel of ours wrote. table_kernel: a few numbers from the host.
//
// Threads: one a row of cuts; one a sample; one a number.
// Device memory: a row reads the samples around its cuts, mostly from the L2, then about 16 keys a
// run.
#pragma once

#include <cstdint>

#include "gpu/kway_cut.hpp"
#include "gpu/merge_pass.hpp"

namespace gsort::gpu {

inline constexpr unsigned kPartitionThreads = 128;
inline constexpr unsigned kTableChunk = 256;  // numbers that one launch passes as arguments

struct TableChunk {
  std::uint64_t values[kTableChunk];
};

// The last of `count` ascending numbers that is <= value. Requires: table[0] <= value.
__device__ inline std::uint64_t thread_find_in_table(const std::uint64_t* table,
                                                     std::uint64_t count, std::uint64_t value) {
  std::uint64_t low = 0;
  std::uint64_t high = count;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (table[middle] <= value) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

template <class Key, std::uint32_t kTileKeys, unsigned kFanIn>
__global__ void __launch_bounds__(kPartitionThreads) partition_kernel(const MergePass<Key> pass) {
  const std::uint64_t row = std::uint64_t{blockIdx.x} * kPartitionThreads + threadIdx.x;
  if (row >= pass.row_count) return;
  std::uint64_t group = 0;
  std::uint64_t first_row = 0;
  if (pass.group_first_row != nullptr) {
    group = thread_find_in_table(pass.group_first_row, pass.group_count, row);
    first_row = pass.group_first_row[group];
  } else {
    group = row / pass.rows_per_group;
    first_row = group * pass.rows_per_group;
  }

  const std::uint64_t first_run = group * kFanIn;
  SampledRun<Key> runs[kFanIn];
  std::uint64_t begins[kFanIn];
  std::uint64_t begin = pass.runs.begin(first_run);
  const std::uint64_t group_begin = begin;
  static_for<kFanIn>([&](auto i) {
    const std::uint64_t end = pass.runs.begin(first_run + i + 1);
    runs[i] = {pass.input + begin, pass.samples + begin / kSampleStep + first_run + i, end - begin};
    begins[i] = begin;
    begin = end;
  });
  const std::uint64_t group_length = begin - group_begin;
  const std::uint64_t wanted = (row - first_row) * kTileKeys;
  const bool is_end = wanted >= group_length;
  const std::uint64_t position = is_end ? group_length : wanted;

  std::uint64_t cuts[kFanIn];
  if (is_end) {
    static_for<kFanIn>([&](auto i) { cuts[i] = runs[i].length; });
  } else {
    kway_cut<kSampleStep>(position, runs, cuts);
  }
  std::uint64_t* const out = pass.rows + row * (kRowHeader + kFanIn);
  out[kOutputPosition] = is_end ? kGroupEnd : group_begin + position;
  out[kGroupPosition] = position;
  out[kSampleBegin] = group_begin / kSampleStep + group;
  static_for<kFanIn>([&](auto i) { out[kRowHeader + i] = begins[i] + cuts[i]; });
}

template <class Key>
__global__ void __launch_bounds__(kPartitionThreads)
    sample_kernel(const Key* keys, const RunTable table, std::uint64_t slots, Key* samples) {
  const std::uint64_t slot = std::uint64_t{blockIdx.x} * kPartitionThreads + threadIdx.x;
  if (slot >= slots) return;
  // The run whose samples hold this slot: the last that begins at or before it.
  std::uint64_t low = 0;
  std::uint64_t high = table.run_count;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (table.sample_begin(middle) <= slot) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const std::uint64_t begin = table.begin(low);
  const std::uint64_t position = begin + (slot - table.sample_begin(low)) * kSampleStep;
  if (position < table.begin(low + 1)) samples[slot] = keys[position];
}

__global__ void __launch_bounds__(kTableChunk)
    table_kernel(const TableChunk chunk, unsigned count, std::uint64_t* table);

}  // namespace gsort::gpu
