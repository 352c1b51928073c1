// Merging K sorted slices that lie back to back in device memory, or two arrays that lie anywhere,
// on a stream. Any host code may include this file. Read next: merge_pass.hpp (what one pass does),
// device_sort.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"

namespace gsort::gpu {

// Device memory that merge_slices needs for slices of `total` keys together: cuts, for more than
// two slices samples as well, and for more than eight one more array of keys. Throws: Error(kUsage)
// for more than 2^35 keys, as merge_slices does.
template <class Key>
[[nodiscard]] std::size_t merge_slices_scratch_bytes(std::uint64_t total,
                                                     std::uint32_t slice_count);

// Merges slice_count ascending slices into output. slice_counts (host memory, read before the call
// returns) holds their lengths; the slices lie one behind the other in input. Keys are ordered
// keys; store_map.to_raw is applied as they leave. The work is queued on `stream`, the call does
// not wait for the device, and calls on several streams may overlap when each has scratch of its
// own. Requires: Key is std::uint32_t or std::uint64_t; pointers aligned to sizeof(Key), scratch to
// 256 bytes;
//   input, output and scratch do not overlap and live until the stream has passed this work.
// Throws: Error(kUsage), with nothing queued, for null pointers with a count, overlap,
// misalignment, more than 2^35 keys and too little scratch; Error(kDevice) naming the operation
// when CUDA fails.
template <class Key>
void merge_slices(const Key* input, const std::uint64_t* slice_counts, std::uint32_t slice_count,
                  Key* output, KeyMap<Key> store_map, void* scratch, std::size_t scratch_bytes,
                  cudaStream_t stream);

// The same for two arrays that lie anywhere: merges a[0, a_count) and b[0, b_count), both
// ascending, into output; of equal keys those of `a` come first (which shows only where a store_map
// makes different keys equal, so never). Contracts and errors are those of merge_slices; a and b
// may overlap each other.
// Scratch memory is for cuts alone, 5 bytes for every 1,000 keys of 32 bits and 10 for 64.
template <class Key>
[[nodiscard]] std::size_t merge_arrays_scratch_bytes(std::uint64_t total);
template <class Key>
void merge_arrays(const Key* a, std::uint64_t a_count, const Key* b, std::uint64_t b_count,
                  Key* output, KeyMap<Key> store_map, void* scratch, std::size_t scratch_bytes,
                  cudaStream_t stream);

}  // namespace gsort::gpu
