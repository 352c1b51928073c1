// Sorting keys that lie in host memory, on the device: what bounds it is the bus, there and back.
// Keys arrive in chunks, each is sorted while the next ones are on their way, and one pass merges
// them, piece by piece, while earlier pieces leave. Any host code may include this file. Read next:
// device_sort.hpp, device_merge.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/sort/device_sort.hpp"

namespace gsort::gpu {

// Device memory that sort_host_array needs for `count` keys: two arrays of keys and a sixth of one
// such array, or up to a half of one for fewer than 2^24 keys. It never decreases as `count` grows.
// Throws: Error(kUsage) for more than 2^35 keys, as sort_host_array.
template <class Key>
[[nodiscard]] std::size_t sort_host_array_scratch_bytes(std::uint64_t count);

// Sorts input[0, count) into output, both in host memory; maps as in sort_keys. The work is queued
// on the stream and does not begin before what was queued there; the call waits for the device only
// where host memory is not pinned.
// Requires: Key is std::uint32_t or std::uint64_t; input and output aligned to sizeof(Key); all of
// it stays alive and untouched until the stream has passed this work. Throws: Error(kUsage), with
// nothing queued, for null pointers with a count, overlap, misalignment, more than 2^35 keys and
// too little scratch; Error(kDevice) naming the operation when CUDA fails.
template <class Key>
void sort_host_array(const KeySort<Key>& sort);

extern template std::size_t sort_host_array_scratch_bytes<std::uint32_t>(std::uint64_t);
extern template std::size_t sort_host_array_scratch_bytes<std::uint64_t>(std::uint64_t);
extern template void sort_host_array(const KeySort<std::uint32_t>&);
extern template void sort_host_array(const KeySort<std::uint64_t>&);

}  // namespace gsort::gpu
