// The textbook's sorts of a batch: N arrays of d keys each, end to end in device memory. One
// function a sort, and all of them as a list, for tests and for gsort-bench. Each sort's essay
// heads its .cu file; read them in this order. A batch of one array is a plain sort.
//
// All are right on every input: any N and d (where a most is given, up to that), N * d past 2^32.
// Key is std::uint8_t, std::int32_t or std::uint64_t.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <cuda_runtime_api.h>

namespace gsort::textbook {

// Requires: in, out and scratch lie in device memory, scratch has batch_scratch_bytes; none of
// them overlap; all live until `stream` has passed the work.
template <class Key>
struct BatchRequest {
  const Key* in = nullptr;
  Key* out = nullptr;
  std::uint64_t array_count = 0;  // N
  std::uint64_t array_keys = 0;   // d
  void* scratch = nullptr;
  cudaStream_t stream = nullptr;

  [[nodiscard]] std::uint64_t total() const { return array_count * array_keys; }
};

// Each queues its work on the stream and returns. Throws: Error(kDevice) naming the kernel, and
// Error(kUsage) for arrays too long for the sort and for more than a grid covers.
template <class Key>
void launch_batch_sort_global(const BatchRequest<Key>& request);
template <class Key>
void launch_batch_sort_shared(const BatchRequest<Key>& request);
template <class Key>
void launch_batch_sort_super(const BatchRequest<Key>& request);
template <class Key>
void launch_section_sort(const BatchRequest<Key>& request);

// The longest array of launch_batch_sort_shared: one thread of a block for each key.
inline constexpr std::uint64_t kMostSharedKeys = 1024;

// Device memory that any of them needs at most: one more array of keys.
template <class Key>
[[nodiscard]] constexpr std::size_t batch_scratch_bytes(std::uint64_t total) {
  return total * sizeof(Key);
}

template <class Key>
struct NamedBatchSort {
  const char* name;
  void (*launch)(const BatchRequest<Key>& request);
  std::uint64_t most_keys;  // d may not be larger
  bool one_block_an_array;  // so that few long arrays leave the card idle
};

// All of the above, in the order of the list.
template <class Key>
[[nodiscard]] std::span<const NamedBatchSort<Key>> all_batch_sorts();

}  // namespace gsort::textbook
