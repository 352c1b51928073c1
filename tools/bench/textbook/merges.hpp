// The textbook's merges of two sorted arrays in device memory: one function a kernel, and all of
// them as a list, for tests and for gsort-bench. Each kernel's essay heads its .cu file; read
// them in this order.
//
// All are right on every input: ties go to A, either side may be empty, no count need be a
// multiple of anything, and positions have 64 bits. Key is std::uint8_t (for counts past 2^32),
// std::int32_t (as in the textbook) or std::uint64_t.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cuda_runtime_api.h>

#include "bench/textbook/two_arrays.hpp"

namespace gsort::textbook {

// Requires: in and out lie in device memory and do not overlap; scratch has merge_scratch_bytes
// and is aligned to 16 bytes; all live until `stream` has passed the work.
template <class Key>
struct MergeRequest {
  TwoArrays<Key> in;
  Key* out = nullptr;
  void* scratch = nullptr;
  cudaStream_t stream = nullptr;
};

// Each queues its work on the stream and returns. Throws: Error(kDevice) naming the kernel, and
// Error(kUsage) for more output than a grid covers.
template <class Key>
void launch_basic_merge(const MergeRequest<Key>& request);
template <class Key>
void launch_tiled_merge(const MergeRequest<Key>& request);
template <class Key>
void launch_circular_merge(const MergeRequest<Key>& request);
template <class Key, unsigned kThreads, unsigned kPerThread>
void launch_block_tile_merge(const MergeRequest<Key>& request);
template <class Key>
void launch_merge_path(const MergeRequest<Key>& request);
template <class Key>
void launch_splitter_scatter(const MergeRequest<Key>& request);

// Device memory that launch_splitter_scatter needs; the others need none.
[[nodiscard]] std::size_t merge_scratch_bytes(std::uint64_t a_count, std::uint64_t b_count);

template <class Key>
struct NamedMerge {
  const char* name;
  void (*launch)(const MergeRequest<Key>& request);
};

// All of the above, in the order of the list.
template <class Key>
[[nodiscard]] std::span<const NamedMerge<Key>> all_merges();

}  // namespace gsort::textbook
