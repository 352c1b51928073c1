// The bodies of the launches that cut tiles; included by one .cu file a key type.
#pragma once

#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/merge/launch.hpp"
#include "gpu/merge/partition_kernel.cuh"

namespace gsort::gpu {

template <class Key>
void launch_sample(const Key* keys, const RunTable& table, Key* samples, unsigned architecture,
                   cudaStream_t stream) {
  const std::uint64_t slots = sample_slots(table.total, table.run_count, kReadSampleShift);
  const auto blocks = static_cast<unsigned>(div_up(slots, kPartitionThreads));
  launch_kernel(sample_kernel<Key>, {blocks, kPartitionThreads, 0, architecture, stream},
                "launching sample_kernel", keys, table, slots, samples);
}

// The kernel for keys that are ordered already, or that the pass has to map.
template <class Key, std::uint32_t kTileKeys, unsigned kFanIn>
auto partition_kernel_for(const MergePass<Key>& pass) {
  if constexpr (kMapsLoads<Key>) {
    if (pass.loads_mapped) return partition_kernel<Key, kTileKeys, kFanIn, true>;
  }
  return partition_kernel<Key, kTileKeys, kFanIn, false>;
}

template <class Key, std::uint32_t kTileKeys>
auto two_way_partition_kernel_for(const MergePass<Key>& pass) {
  if constexpr (kMapsLoads<Key>) {
    if (pass.loads_mapped) return two_way_partition_kernel<Key, kTileKeys, true>;
  }
  return two_way_partition_kernel<Key, kTileKeys, false>;
}

template <class Element, class Key>
void launch_partition(const MergePass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_tuning<Element>(architecture, [&](auto constant) {
    with_fan_in(pass.fan_in, [&](auto fan_in) {
      constexpr unsigned kFanIn = decltype(fan_in)::value;
      constexpr unsigned kTileKeys = decltype(constant)::kTuning.merge_tile_keys(kFanIn);
      const auto blocks = static_cast<unsigned>(div_up(pass.row_count * kFanIn, kPartitionThreads));
      launch_kernel(partition_kernel_for<Key, kTileKeys, kFanIn>(pass),
                    {.blocks = blocks,
                     .threads = kPartitionThreads,
                     .architecture = architecture,
                     .stream = stream,
                     .starts_alone = true},
                    "launching partition_kernel", pass);
    });
  });
}

template <class Element, class Key>
void launch_two_way_partition(const MergePass<Key>& pass, unsigned architecture,
                              cudaStream_t stream) {
  with_tuning<Element>(architecture, [&](auto constant) {
    constexpr unsigned kTileKeys = decltype(constant)::kTuning.two_way_tile_keys();
    const auto blocks = static_cast<unsigned>(div_up(pass.row_count, kPartitionThreads));
    launch_kernel(two_way_partition_kernel_for<Key, kTileKeys>(pass),
                  {blocks, kPartitionThreads, 0, architecture, stream},
                  "launching two_way_partition_kernel", pass);
  });
}

}  // namespace gsort::gpu
