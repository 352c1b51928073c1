// Merging K sorted slices that lie back to back in device memory, or two arrays that lie anywhere,
// on a stream. Any host code may include this file. Read next: merge_pass.hpp (what one pass does),
// device_sort.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <cuda_runtime_api.h>

#include "element/key.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/merge/element_arrays.hpp"

namespace gsort::gpu {

// Device memory that merge_slices needs for slices of `total` keys together: cuts, for more than
// two slices samples as well, and for more than eight one more array of keys. Throws: Error(kUsage)
// for more than 2^35 keys, as merge_slices does.
template <class Key>
[[nodiscard]] std::size_t merge_slices_scratch_bytes(std::uint64_t total,
                                                     std::uint32_t slice_count);

// The arguments of a merge of slices, ascending by load_map.to_ordered, one behind the other in
// device memory.
template <class Key, class Value = NoValue>
struct ElementSliceMerge {
  ConstPairs<Key, Value> input{};               // elements of all slices
  const std::uint64_t* slice_counts = nullptr;  // host memory: elements of each slice
  std::uint32_t slice_count = 0;
  Pairs<Key, Value> output{};  // as many elements as the input
  KeyMap<Key> load_map{};      // from keys of the input to ordered keys
  KeyMap<Key> store_map{};     // to_raw is applied to keys as they leave
  ScratchMemory scratch{};     // of the function's .._scratch_bytes(all elements, slice_count)
  cudaStream_t stream = nullptr;
};
template <class Key>
using SliceMerge = ElementSliceMerge<Key>;

// Merges the slices into output. slice_counts are read before the call returns. The work is queued
// on the stream, the call does not wait for the device, and calls on several streams may overlap
// when each has scratch of its own. Requires: Key is std::uint32_t, std::uint64_t, or UInt128, for
// which there is no load_map; pointers aligned to sizeof(Key); input, output and scratch do not
// overlap and live until the stream has passed this work. Throws: Error(kUsage), with nothing
// queued, for such a map, null pointers with a count, overlap, misalignment, more than 2^35 keys
// and too little scratch; Error(kDevice) naming the operation when CUDA fails.
template <class Key>
void merge_slices(const SliceMerge<Key>& merge);

// Like merge_slices. Calls queued(begin, end) for each piece of the output, in order, as soon as
// the merge of that piece is queued: work that the caller then queues on the piece does not wait
// for later pieces. A piece has about `piece_keys` keys. With fewer than three slices, or more than
// eight, all keys are one piece. Without keys, `queued` is not called. Requires: `queued` is not
// null. Throws: also what `queued` throws, with some of the work queued.
using PieceQueued = std::function<void(std::uint64_t begin, std::uint64_t end)>;
template <class Key>
void merge_slices_in_pieces(const SliceMerge<Key>& merge, std::uint64_t piece_keys,
                            const PieceQueued& queued);

// Scratch memory is for cuts alone, 5 bytes for every 1,000 keys of 32 bits, 10 for 64, 20 for 128.
template <class Key>
[[nodiscard]] std::size_t merge_arrays_scratch_bytes(std::uint64_t total);

// The arguments of a merge of two arrays, ascending by load_map.to_ordered, anywhere in device
// memory.
template <class Key, class Value = NoValue>
struct ElementArrayMerge {
  ConstPairs<Key, Value> a{};  // a_count elements
  std::uint64_t a_count = 0;
  ConstPairs<Key, Value> b{};  // b_count elements; a and b may overlap
  std::uint64_t b_count = 0;
  Pairs<Key, Value> output{};  // a_count + b_count elements
  KeyMap<Key> load_map{};      // from keys of the inputs to ordered keys
  KeyMap<Key> store_map{};     // to_raw is applied to keys as they leave
  ScratchMemory scratch{};     // of the function's .._scratch_bytes(a_count + b_count)
  cudaStream_t stream = nullptr;
};
template <class Key>
using ArrayMerge = ElementArrayMerge<Key>;

// merge_slices for two arrays that lie anywhere; of equal keys those of `a` come first (which shows
// only where a store_map makes different keys equal, so never). Contracts and errors are those of
// merge_slices.
template <class Key>
void merge_arrays(const ArrayMerge<Key>& merge);

}  // namespace gsort::gpu
