// Sorting many arrays that lie back to back in device memory, in one call, on a stream: arrays of
// one length, or of any lengths. The essay is in device_batch.cpp. Any host code may include this
// file. Read next: tile_lists.hpp, long_arrays.hpp, device_sort.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"
#include "gpu/cuda/scratch.hpp"

namespace gsort::gpu {

// Device memory that sort_batch needs for array_count arrays of array_keys keys: none for arrays
// that fit a tile of the block sort (8192 keys), what sort_keys needs for a single array, else one
// more array of all keys, and some percent of it for samples and cuts. Throws: Error(kUsage) for
// more than kMaxSortedKeys keys.
template <class Key>
[[nodiscard]] std::size_t sort_batch_scratch_bytes(std::uint64_t array_count,
                                                   std::uint64_t array_keys);

// The arguments of sort_batch: array i is input[i * array_keys, (i + 1) * array_keys), in device
// memory, and goes to the same place of the output.
template <class Key>
struct BatchSort {
  const Key* input = nullptr;  // array_count * array_keys keys
  Key* output = nullptr;       // as many; the same memory as the input, or apart
  std::uint64_t array_count = 0;
  std::uint64_t array_keys = 0;
  KeyMap<Key> load_map{};   // from keys of the input to ordered keys
  KeyMap<Key> store_map{};  // to_raw is applied to ordered keys as they leave
  ScratchMemory scratch{};  // of sort_batch_scratch_bytes(array_count, array_keys)
  cudaStream_t stream = nullptr;
};

// Sorts each array, ascending by load_map.to_ordered of the keys; an identity store_map leaves
// ordered keys. The work is queued on the stream; the call does not wait for the device, and calls
// on several streams may overlap when each has scratch of its own.
// Requires: Key is std::uint32_t or std::uint64_t; input and output aligned to sizeof(Key); scratch
//   apart from both; all of it stays alive and untouched until the stream has passed this work.
// Throws: Error(kUsage), with nothing queued, for null pointers with keys to sort, overlap,
//   misalignment, more than kMaxSortedKeys keys, and too little scratch; Error(kDevice) naming the
//   operation when CUDA fails.
template <class Key>
void sort_batch(const BatchSort<Key>& sort);

inline constexpr std::uint64_t kUnknownLongest = ~std::uint64_t{0};

// Which elements are an array: [offsets[i], offsets[i + 1]), or without offsets array_keys each.
struct ArrayPlaces {
  std::uint64_t array_count = 0;
  std::uint64_t array_keys = 0;
  const std::uint64_t* offsets = nullptr;  // array_count + 1, read by the device alone
  // With offsets: elements of all arrays, and of the longest or more.
  std::uint64_t count = 0;
  std::uint64_t longest = kUnknownLongest;
};

// Device memory that sort_segmented_batch needs for array_count arrays of `count` keys in all,
// whatever their lengths up to `longest`. For exactly these numbers: with others, be they less, it
// may need more. It is one more array of keys and about a tenth of it, if an array can be longer
// than a tile, else some percent of the keys' bytes at most, and 12 bytes for every 190 arrays.
// Throws: Error(kUsage) for more than kMaxSortedKeys keys or arrays.
template <class Key>
[[nodiscard]] std::size_t sort_segmented_batch_scratch_bytes(
    std::uint64_t array_count, std::uint64_t count, std::uint64_t longest = kUnknownLongest);

// The arguments of sort_segmented_batch: arrays of any lengths, back to back in device memory;
// array i is the keys [offsets[i], offsets[i + 1]). Arrays may be empty, and one may have all keys.
template <class Key>
struct SegmentedSort {
  const Key* input = nullptr;              // count keys
  Key* output = nullptr;                   // as many; the same memory as the input, or apart
  const std::uint64_t* offsets = nullptr;  // array_count + 1, read by the device alone
  std::uint64_t array_count = 0;
  std::uint64_t count = 0;  // keys of all arrays
  // Keys of the longest array, or more. Known, it saves launches and memory for what cannot be.
  std::uint64_t longest = kUnknownLongest;
  KeyMap<Key> load_map{};   // from keys of the input to ordered keys
  KeyMap<Key> store_map{};  // to_raw is applied to ordered keys as they leave
  ScratchMemory scratch{};  // of sort_segmented_batch_scratch_bytes(array_count, count, longest)
  cudaStream_t stream = nullptr;
};

// sort_batch for arrays of any lengths.
// Requires: as sort_batch; offsets apart from output and scratch, ascending, offsets[0] == 0,
//   offsets[array_count] == count. With other offsets, or arrays longer than said, the result is
//   undefined.
// Throws: as sort_batch; Error(kUsage) also for more than kMaxSortedKeys arrays.
template <class Key>
void sort_segmented_batch(const SegmentedSort<Key>& sort);

extern template std::size_t sort_batch_scratch_bytes<std::uint32_t>(std::uint64_t, std::uint64_t);
extern template std::size_t sort_batch_scratch_bytes<std::uint64_t>(std::uint64_t, std::uint64_t);
extern template void sort_batch(const BatchSort<std::uint32_t>&);
extern template void sort_batch(const BatchSort<std::uint64_t>&);
extern template std::size_t sort_segmented_batch_scratch_bytes<std::uint32_t>(std::uint64_t,
                                                                              std::uint64_t,
                                                                              std::uint64_t);
extern template std::size_t sort_segmented_batch_scratch_bytes<std::uint64_t>(std::uint64_t,
                                                                              std::uint64_t,
                                                                              std::uint64_t);
extern template void sort_segmented_batch(const SegmentedSort<std::uint32_t>&);
extern template void sort_segmented_batch(const SegmentedSort<std::uint64_t>&);

}  // namespace gsort::gpu
