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

#include "gpu/merge/device_merge.hpp"
#include "gpu/sort/device_sort.hpp"

namespace gsort::gpu {

// Device memory that sort_pairs needs for `count` pairs: one more array of keys and of values, and
// a few per cent for samples and cuts. Never less for a larger count. This and the queries below
// throw Error(kUsage) for more than 2^35 pairs, as the calls do.
template <class Key, class Value>
[[nodiscard]] std::size_t sort_pairs_scratch_bytes(std::uint64_t count);

template <class Key, class Value>
using PairSort = ElementSort<Key, Value>;

// Sorts input[0, count) into output, ascending by load_map.to_ordered of the keys, pairs of equal
// keys in their order in the input; an identity store_map leaves ordered keys. Values arrive as
// they are.
// Requires: arrays aligned to their elements. The keys' input and output are the same array, or do
//   not overlap; so are the values'; a keys' array and a values' array do not overlap unless both
//   are inputs that are no outputs. Scratch is apart from all. All of it stays alive and untouched
//   until the stream has passed this work.
// Throws: Error(kUsage), with nothing queued, for null pointers with a count, overlap,
//   misalignment, more than 2^35 pairs, and too little scratch; Error(kDevice) naming the operation
//   when CUDA fails.
template <class Key, class Value>
void sort_pairs(const PairSort<Key, Value>& sort);

// Device memory that merge_pair_slices needs for slices of `total` pairs together: cuts, for more
// than two slices samples as well, and for more than eight one more array of keys and of values.
template <class Key, class Value>
[[nodiscard]] std::size_t merge_pair_slices_scratch_bytes(std::uint64_t total,
                                                          std::uint32_t slice_count);

template <class Key, class Value>
using PairSliceMerge = ElementSliceMerge<Key, Value>;

// Merges the slices into output; among equal keys the pairs of lower slices come first, and those
// of one slice in their order. slice_counts are read before the call returns.
// Requires, throws: as sort_pairs, but input and output do not overlap.
template <class Key, class Value>
void merge_pair_slices(const PairSliceMerge<Key, Value>& merge);

// Scratch memory is for cuts.
template <class Key, class Value>
[[nodiscard]] std::size_t merge_pair_arrays_scratch_bytes(std::uint64_t total);

template <class Key, class Value>
using PairArrayMerge = ElementArrayMerge<Key, Value>;

// merge_pair_slices for two arrays; of equal keys those of `a` come first.
template <class Key, class Value>
void merge_pair_arrays(const PairArrayMerge<Key, Value>& merge);

}  // namespace gsort::gpu
