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

// Device memory that sort_pair_batch needs for such arrays: what a sort of as many keys of 64 bits
// needs (device_batch.hpp), and 8 bytes a pair if an array can be longer than a tile (8192 pairs);
// 8 more for keys of 8 or 16 bits, 12 more for wider ones than 32. For exactly these numbers.
// Throws: as sort_pair_batch, for numbers that are too large.
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
//   misalignment, more than kMostBatchPairs pairs or kMaxSortedKeys arrays, too little scratch, and
//   for keys_out with takes_numbers if the map folds classes; Error(kDevice) naming the operation
//   when CUDA fails.
template <class Key, class Value>
void sort_pair_batch(const PairBatchSort<Key, Value>& sort);

}  // namespace gsort::gpu
