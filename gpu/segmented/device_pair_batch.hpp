// Sorting the pairs of many arrays that lie back to back in device memory, each array by itself and
// stably, in one call, on a stream; or the numbers of their keys. Arrays of one length, or of any
// lengths. The essay is in device_pair_batch.cpp. Any host code may include this file.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/segmented/device_batch.hpp"

namespace gsort::gpu {

// The most pairs of one call: a word holds 32 bits of a key and the number of its pair.
inline constexpr std::uint64_t kMostBatchPairs = std::uint64_t{1} << 32;

// Which pairs are an array: [offsets[i], offsets[i + 1]), or without offsets array_keys each.
struct ArrayPlaces {
  std::uint64_t array_count = 0;
  std::uint64_t array_keys = 0;
  const std::uint64_t* offsets = nullptr;  // array_count + 1, read by the device alone
  // With offsets: pairs of all arrays, and of the longest or more (device_batch.hpp).
  std::uint64_t count = 0;
  std::uint64_t longest = kUnknownLongest;
};

// Device memory that sort_pair_batch needs for such arrays: 8 bytes a pair, 4 more if keys have 64
// bits, 8 more if they have 128, and what a sort of as many keys of 64 bits in such arrays needs
// (device_batch.hpp). For exactly these numbers. Throws: as sort_pair_batch, for numbers that are
// too large.
template <class Key>
[[nodiscard]] std::size_t sort_pair_batch_scratch_bytes(const ArrayPlaces& arrays);

// The arguments of sort_pair_batch. Each array of pairs goes to the same place of the output.
template <class Key, class Value>
struct PairBatchSort {
  const Key* keys_in = nullptr;
  Key* keys_out = nullptr;  // null: keys are not written
  const Value* values_in = nullptr;
  Value* values_out = nullptr;
  bool takes_numbers = false;  // in place of values_in: a pair's number in its array
  ArrayPlaces arrays{};
  KeyMap<Key> map{};  // from keys to ordered keys; they are written as they were
  ScratchMemory scratch{};
  cudaStream_t stream = nullptr;
};

// Sorts each array, ascending by map.to_ordered of the keys, pairs of equal keys in their order.
// The work is queued on the stream; the call does not wait for the device, may be captured in a
// CUDA graph, and gives the same bytes every time.
// Requires: Key is std::uint8_t to UInt128, Value std::uint32_t or std::uint64_t; arrays aligned to
//   their elements, all apart from each other (inputs may overlap inputs), alive and untouched
//   until the stream has passed this work; offsets as sort_segmented_batch requires them.
// Throws: Error(kUsage), with nothing queued, for null pointers with pairs to sort, overlap,
//   misalignment, more than kMostBatchPairs pairs and too little scratch; Error(kDevice) naming the
//   operation when CUDA fails.
template <class Key, class Value>
void sort_pair_batch(const PairBatchSort<Key, Value>& sort);

}  // namespace gsort::gpu
