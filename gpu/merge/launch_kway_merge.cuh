// The bodies of the launches that merging takes; included by one .cu file a key type.
#pragma once

#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/merge/kway_merge_kernel.cuh"
#include "gpu/merge/launch.hpp"
#include "gpu/merge/partition_kernel.cuh"

namespace gsort::gpu {

// Calls f(constant) with the fan-in as a compile-time constant.
template <class F>
void with_fan_in(std::uint32_t fan_in, F&& f) {
  switch (fan_in) {
    case 2:
      return f(std::integral_constant<unsigned, 2>{});
    case 4:
      return f(std::integral_constant<unsigned, 4>{});
    default:
      return f(std::integral_constant<unsigned, 8>{});
  }
}

// Cuts tiles of the size for Element: Key, or pairs of Key and a value.
template <class Element, class Key>
void launch_partition_for(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_tuning<Element>(architecture, [&](auto constant) {
    with_fan_in(pass.fan_in, [&](auto fan_in) {
      constexpr unsigned kFanIn = decltype(fan_in)::value;
      constexpr unsigned kTileKeys = decltype(constant)::kTuning.merge_tile_keys(kFanIn);
      const auto blocks = static_cast<unsigned>(div_up(pass.row_count * kFanIn, kPartitionThreads));
      launch_kernel(partition_kernel<Key, kTileKeys, kFanIn>,
                    {.blocks = blocks,
                     .threads = kPartitionThreads,
                     .architecture = architecture,
                     .stream = stream,
                     .starts_alone = true},
                    "launching partition_kernel", pass);
    });
  });
}

template <class Key>
void launch_partition(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  launch_partition_for<Key>(pass, architecture, stream);
}

template <class Key>
void launch_kway_merge(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_tuning<Key>(architecture, [&](auto constant) {
    with_fan_in(pass.fan_in, [&](auto fan_in) {
      constexpr KernelTuning kTuning = decltype(constant)::kTuning;
      constexpr auto kKernel =
          kway_merge_kernel<Key, kTuning.merge_threads, kTuning.keys_per_thread,
                            decltype(fan_in)::value, kTuning.resident_threads>;
      constexpr unsigned kBytes =
          TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.merge_threads);
      const auto blocks = static_cast<unsigned>(pass.row_count);
      launch_kernel(kKernel, {blocks, kTuning.merge_threads, kBytes, architecture, stream},
                    "launching kway_merge_kernel", pass);
    });
  });
}

template <class Key>
void launch_two_way_merge(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_tuning<Key>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr unsigned kThreads = kTuning.two_way_threads;
    constexpr unsigned kBytes = TileWords<Key, kTuning.keys_per_thread>::bytes(kThreads);
    const auto cut_blocks = static_cast<unsigned>(div_up(pass.row_count, kPartitionThreads));
    launch_kernel(two_way_partition_kernel<Key, kTuning.two_way_tile_keys()>,
                  {cut_blocks, kPartitionThreads, 0, architecture, stream},
                  "launching two_way_partition_kernel", pass);
    launch_kernel(kway_merge_kernel<Key, kThreads, kTuning.keys_per_thread, 2,
                                    kTuning.resident_threads, WrittenCuts>,
                  {static_cast<unsigned>(pass.row_count), kThreads, kBytes, architecture, stream},
                  "launching kway_merge_kernel", pass);
  });
}

template <class Key>
void launch_small_merge(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_small_tuning<Key>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr auto kKernel = kway_merge_kernel<Key, kTuning.merge_threads, kTuning.keys_per_thread,
                                               2, kTuning.resident_threads, SearchedCuts<32>>;
    constexpr unsigned kBytes =
        TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.merge_threads);
    const auto blocks = static_cast<unsigned>(pass.group_count * pass.rows_per_group);
    launch_kernel(kKernel, {blocks, kTuning.merge_threads, kBytes, architecture, stream},
                  "launching kway_merge_kernel", pass);
  });
}

template <class Key>
void launch_sample(const Key* keys, const RunTable& table, Key* samples, unsigned architecture,
                   cudaStream_t stream) {
  const std::uint64_t slots = sample_slots(table.total, table.run_count, kReadSampleShift);
  const auto blocks = static_cast<unsigned>(div_up(slots, kPartitionThreads));
  launch_kernel(sample_kernel<Key>, {blocks, kPartitionThreads, 0, architecture, stream},
                "launching sample_kernel", keys, table, slots, samples);
}

}  // namespace gsort::gpu
