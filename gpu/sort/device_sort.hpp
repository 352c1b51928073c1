// Sorting keys that lie in device memory, on a stream. A block sort makes sorted tiles, then passes
// of k-way merging join them until one run is left; the essay is in device_sort.cpp. Any host code
// may include this file. Read next: device_merge.hpp, tuning.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"

namespace gsort::gpu {

// Device memory that sort_keys needs for `count` keys: one more array of keys, and a few per cent
// of it for samples and cuts. Never less for a larger count. Throws: Error(kUsage) for more than
// 2^35 keys, as sort_keys does.
template <class Key>
[[nodiscard]] std::size_t sort_keys_scratch_bytes(std::uint64_t count);

// Sorts input[0, count) into output, ascending by load_map.to_ordered of the keys; store_map.to_raw
// is applied to the ordered keys as they leave, so an identity store_map leaves ordered keys. The
// work is queued on `stream`; the call does not wait for the device, and calls on several streams
// may overlap. Requires: Key is std::uint32_t or std::uint64_t; input and output aligned to
// sizeof(Key); they are
//   the same array, or do not overlap; scratch aligned to 256 bytes and apart from both; all of it
//   stays alive and untouched until the stream has passed this work.
// Throws: Error(kUsage), with nothing queued, for null pointers with a count, overlap,
//   misalignment, more than 2^35 keys, and too little scratch; Error(kDevice) naming the operation
//   when CUDA fails.
template <class Key>
void sort_keys(const Key* input, Key* output, std::uint64_t count, KeyMap<Key> load_map,
               KeyMap<Key> store_map, void* scratch, std::size_t scratch_bytes,
               cudaStream_t stream);

extern template std::size_t sort_keys_scratch_bytes<std::uint32_t>(std::uint64_t);
extern template std::size_t sort_keys_scratch_bytes<std::uint64_t>(std::uint64_t);
extern template void sort_keys<std::uint32_t>(const std::uint32_t*, std::uint32_t*, std::uint64_t,
                                              KeyMap<std::uint32_t>, KeyMap<std::uint32_t>, void*,
                                              std::size_t, cudaStream_t);
extern template void sort_keys<std::uint64_t>(const std::uint64_t*, std::uint64_t*, std::uint64_t,
                                              KeyMap<std::uint64_t>, KeyMap<std::uint64_t>, void*,
                                              std::size_t, cudaStream_t);

}  // namespace gsort::gpu
