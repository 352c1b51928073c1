// Sorting and merging key-value pairs that lie in device memory, on a stream, stably: pairs of
// equal keys keep their order. Keys and values lie in arrays of their own; values are opaque. The
// means are those of device_sort.hpp and device_merge.hpp, on words that stand for pairs
// (pair_code.hpp). Any host code may include this file.
//
// Key and Value are std::uint32_t or std::uint64_t, in all four combinations. Calls queue their
// work on `stream` and do not wait for the device; calls on several streams may overlap when each
// has scratch of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "element/key.hpp"

namespace gsort::gpu {

// Where pairs lie: pair i is keys[i] with values[i].
template <class Key, class Value>
struct Pairs {
  Key* keys = nullptr;
  Value* values = nullptr;
};

template <class Key, class Value>
struct ConstPairs {
  const Key* keys = nullptr;
  const Value* values = nullptr;

  ConstPairs() = default;
  ConstPairs(const Key* keys_at, const Value* values_at) : keys(keys_at), values(values_at) {}
  ConstPairs(const Pairs<Key, Value>& pairs) : keys(pairs.keys), values(pairs.values) {}
};

// Device memory that sort_pairs needs for `count` pairs: one more array of keys and of values, and
// a few per cent for samples and cuts. Never less for a larger count. This and the queries below
// throw Error(kUsage) for more than 2^35 pairs, as the calls do.
template <class Key, class Value>
[[nodiscard]] std::size_t sort_pairs_scratch_bytes(std::uint64_t count);

// Sorts input[0, count) into output, ascending by load_map.to_ordered of the keys, pairs of equal
// keys in their order in the input; store_map.to_raw is applied to the ordered keys as they leave,
// so an identity store_map leaves ordered keys. Values arrive as they are.
// Requires: arrays aligned to their elements. The keys' input and output are the same array, or do
//   not overlap; so are the values'; a keys' array and a values' array do not overlap unless both
//   are inputs that are no outputs. Scratch is aligned to 256 bytes and apart from all. All of it
//   stays alive and untouched until the stream has passed this work.
// Throws: Error(kUsage), with nothing queued, for null pointers with a count, overlap,
//   misalignment, more than 2^35 pairs, and too little scratch; Error(kDevice) naming the operation
//   when CUDA fails.
template <class Key, class Value>
void sort_pairs(ConstPairs<Key, Value> input, Pairs<Key, Value> output, std::uint64_t count,
                KeyMap<Key> load_map, KeyMap<Key> store_map, void* scratch,
                std::size_t scratch_bytes, cudaStream_t stream);

// Device memory that merge_pair_slices needs for slices of `total` pairs together: cuts, for more
// than two slices samples as well, and for more than eight one more array of keys and of values.
template <class Key, class Value>
[[nodiscard]] std::size_t merge_pair_slices_scratch_bytes(std::uint64_t total,
                                                          std::uint32_t slice_count);

// Merges slice_count slices, each ascending by its keys, into output; among equal keys the pairs of
// lower slices come first, and those of one slice in their order. slice_counts (host memory, read
// before the call returns) holds their lengths; the slices lie one behind the other in input. Keys
// are ordered keys; store_map.to_raw is applied as they leave.
// Requires, throws: as sort_pairs, but input and output do not overlap.
template <class Key, class Value>
void merge_pair_slices(ConstPairs<Key, Value> input, const std::uint64_t* slice_counts,
                       std::uint32_t slice_count, Pairs<Key, Value> output, KeyMap<Key> store_map,
                       void* scratch, std::size_t scratch_bytes, cudaStream_t stream);

// The same for two arrays of pairs that lie anywhere, and may overlap each other: merges a[0,
// a_count) and b[0, b_count); of equal keys those of `a` come first. Scratch memory is for cuts.
template <class Key, class Value>
[[nodiscard]] std::size_t merge_pair_arrays_scratch_bytes(std::uint64_t total);
template <class Key, class Value>
void merge_pair_arrays(ConstPairs<Key, Value> a, std::uint64_t a_count, ConstPairs<Key, Value> b,
                       std::uint64_t b_count, Pairs<Key, Value> output, KeyMap<Key> store_map,
                       void* scratch, std::size_t scratch_bytes, cudaStream_t stream);

}  // namespace gsort::gpu
