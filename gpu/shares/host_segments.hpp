// Sorting many arrays in host memory, each by itself, on several devices: keys, pairs, or the
// numbers of the keys. Neighbours are packed into groups; an array that is longer is a group of its
// own. A device that is free takes the largest group that is left and that its memory has room for.
// It copies one group in, sorts the one before and copies out the one before that at the same time.
// Any host code may include this file. Read next: gpu/segmented/device_batch.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/shares/host_shares.hpp"
#include "gpu/shares/shares_sort.hpp"

namespace gsort::gpu {

// Which keys are an array: [offsets[i], offsets[i + 1]), or without offsets array_keys each.
struct HostArrays {
  std::uint64_t array_count = 0;
  std::uint64_t array_keys = 0;
  const std::uint64_t* offsets = nullptr;  // array_count + 1, in host memory
};

// The least keys of a group, unless there are fewer in all.
inline constexpr std::uint64_t kLeastGroupKeys = std::uint64_t{1} << 21;

// Memory of each of `devices`: for three groups, or for the longest array if it needs more.
// A device with less, but room for some groups, takes these. Value is that of the pairs, or
// NoValue. Throws: as sort_host_segments.
template <class Key, class Value>
[[nodiscard]] std::size_t host_segments_scratch_bytes(
    const HostArrays& arrays, std::uint32_t devices,
    std::uint64_t least_group_keys = kLeastGroupKeys);

template <class Key, class Value>
struct HostSegmentSort {
  ConstPairs<Key, Value> input{};
  Pairs<Key, Value> output{};  // either array may be that of the input
  HostArrays arrays{};
  KeyMap<Key> map{};
  std::uint64_t least_group_keys = kLeastGroupKeys;  // another in tests; not 0
  // The values are the numbers of the pairs in their arrays, from 0 on: the input has no values,
  // the output gets no keys. Requires: a Value can hold these numbers.
  bool takes_numbers = false;
};

// Sorts each array into its place in the output, pairs stably. Fast only if the memory is pinned.
// Returns when it is done. The calling thread's current device stays.
// Throws: Error(kUsage), with nothing done, for no devices, offsets that do not ascend from 0, null
// pointers with a count, overlap, misalignment, an array that no device has scratch memory for, and
// more keys in an array than a sort takes (device_batch.hpp, device_pair_batch.hpp); DeviceError
// when CUDA fails: then only the output may have changed.
template <class Key, class Value>
void sort_host_segments(const HostSegmentSort<Key, Value>& sort,
                        std::span<const SharingDevice> devices);

}  // namespace gsort::gpu
