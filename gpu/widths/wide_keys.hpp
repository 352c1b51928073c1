// Sorts and merges of keys of 128 bits in device memory: the functions of the other rooms, with the
// same requests, results, requirements and errors. Any host code may include this file.
//
// Keys alone are sorted and merged by kernels for keys of 128 bits. Pairs are sorted twice, stably,
// as pairs of half a key and a number, then gathered; merges of pairs are such sorts. Many arrays
// of keys are sorted as pairs are (device_pair_batch.hpp), at most 2^32 keys.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/distribute/device_distribute.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/records/device_argsort.hpp"
#include "gpu/records/device_pairs.hpp"
#include "gpu/segmented/device_batch.hpp"
#include "gpu/segmented/device_pair_batch.hpp"

namespace gsort::gpu::wide {

template <class Key>
concept WideKey = kIsWide<Key>;

// What sort_keys needs and does (device_sort.hpp).
template <WideKey Key>
[[nodiscard]] std::size_t sort_keys_by_distribution_scratch_bytes(std::uint64_t count);
template <WideKey Key>
void sort_keys_by_distribution(const KeySort<Key>& sort);

// Merges copy keys that are not ordered numbers first; their scratch memory includes room for the
// copy.
template <WideKey Key>
[[nodiscard]] std::size_t merge_arrays_scratch_bytes(std::uint64_t total);
template <WideKey Key>
void merge_arrays(const ArrayMerge<Key>& merge);

template <WideKey Key>
[[nodiscard]] std::size_t merge_slices_scratch_bytes(std::uint64_t total,
                                                     std::uint32_t slice_count);
template <WideKey Key>
void merge_slices(const SliceMerge<Key>& merge);

// One more array of keys, and what pairs need. A single array is sorted as such.
template <WideKey Key>
[[nodiscard]] std::size_t sort_batch_scratch_bytes(std::uint64_t array_count,
                                                   std::uint64_t array_keys);
template <WideKey Key>
void sort_batch(const BatchSort<Key>& sort);

template <WideKey Key>
[[nodiscard]] std::size_t sort_segmented_batch_scratch_bytes(
    std::uint64_t array_count, std::uint64_t count, std::uint64_t longest = kUnknownLongest);
template <WideKey Key>
void sort_segmented_batch(const SegmentedSort<Key>& sort);

// Scratch memory of pairs: a number of each, two arrays of half keys, one of numbers, and a few per
// cent.
template <WideKey Key, class Value>
[[nodiscard]] std::size_t sort_pairs_scratch_bytes(std::uint64_t count);
template <WideKey Key, class Value>
void sort_pairs(const PairSort<Key, Value>& sort);

template <WideKey Key, class Value>
[[nodiscard]] std::size_t merge_pair_arrays_scratch_bytes(std::uint64_t total);
template <WideKey Key, class Value>
void merge_pair_arrays(const PairArrayMerge<Key, Value>& merge);

template <WideKey Key, class Value>
[[nodiscard]] std::size_t merge_pair_slices_scratch_bytes(std::uint64_t total,
                                                          std::uint32_t slice_count);
template <WideKey Key, class Value>
void merge_pair_slices(const PairSliceMerge<Key, Value>& merge);

template <WideKey Key, class Index>
[[nodiscard]] std::size_t argsort_scratch_bytes(std::uint64_t count);
template <WideKey Key, class Index>
void argsort(const KeyArgsort<Key, Index>& sort);

using gpu::sort_pair_batch;
using gpu::sort_pair_batch_scratch_bytes;

}  // namespace gsort::gpu::wide
