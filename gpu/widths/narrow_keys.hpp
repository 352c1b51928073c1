// Sorts and merges of keys of 8 and 16 bits in device memory: the functions of the other rooms,
// with the same requests, results, requirements and errors. Any host code may include this file.
//
// A call turns the keys into words of 32 bits, sorts or merges these, and turns them into keys
// again. Scratch memory is 4 bytes a key, 8 where a call does not work in place, and what the same
// call needs for keys of 32 bits.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "gpu/distribute/device_distribute.hpp"
#include "gpu/merge/device_merge.hpp"
#include "gpu/records/device_argsort.hpp"
#include "gpu/records/device_pairs.hpp"
#include "gpu/segmented/device_batch.hpp"
#include "gpu/segmented/device_pair_batch.hpp"

namespace gsort::gpu::narrow {

template <class Key>
concept NarrowKey = std::same_as<Key, std::uint8_t> || std::same_as<Key, std::uint16_t>;

template <NarrowKey Key>
[[nodiscard]] std::size_t sort_keys_by_distribution_scratch_bytes(
    std::uint64_t count, const DistributionChoice& choice = {});
template <NarrowKey Key>
void sort_keys_by_distribution(const KeySort<Key>& sort, const DistributionChoice& choice = {});

template <NarrowKey Key>
[[nodiscard]] std::size_t merge_arrays_scratch_bytes(std::uint64_t total);
template <NarrowKey Key>
void merge_arrays(const ArrayMerge<Key>& merge);

template <NarrowKey Key>
[[nodiscard]] std::size_t merge_slices_scratch_bytes(std::uint64_t total,
                                                     std::uint32_t slice_count);
template <NarrowKey Key>
void merge_slices(const SliceMerge<Key>& merge);

template <NarrowKey Key>
[[nodiscard]] std::size_t sort_batch_scratch_bytes(std::uint64_t array_count,
                                                   std::uint64_t array_keys);
template <NarrowKey Key>
void sort_batch(const BatchSort<Key>& sort);

template <NarrowKey Key>
[[nodiscard]] std::size_t sort_segmented_batch_scratch_bytes(
    std::uint64_t array_count, std::uint64_t count, std::uint64_t longest = kUnknownLongest);
template <NarrowKey Key>
void sort_segmented_batch(const SegmentedSort<Key>& sort);

template <NarrowKey Key, class Value>
[[nodiscard]] std::size_t sort_pairs_scratch_bytes(std::uint64_t count);
template <NarrowKey Key, class Value>
void sort_pairs(const PairSort<Key, Value>& sort);

template <NarrowKey Key, class Value>
[[nodiscard]] std::size_t merge_pair_arrays_scratch_bytes(std::uint64_t total);
template <NarrowKey Key, class Value>
void merge_pair_arrays(const PairArrayMerge<Key, Value>& merge);

template <NarrowKey Key, class Value>
[[nodiscard]] std::size_t merge_pair_slices_scratch_bytes(std::uint64_t total,
                                                          std::uint32_t slice_count);
template <NarrowKey Key, class Value>
void merge_pair_slices(const PairSliceMerge<Key, Value>& merge);

template <NarrowKey Key, class Index>
[[nodiscard]] std::size_t argsort_scratch_bytes(std::uint64_t count);
template <NarrowKey Key, class Index>
void argsort(const KeyArgsort<Key, Index>& sort);

template <NarrowKey Key>
[[nodiscard]] std::size_t sort_pair_batch_scratch_bytes(const ArrayPlaces& arrays);
template <NarrowKey Key, class Value>
void sort_pair_batch(const PairBatchSort<Key, Value>& sort);

}  // namespace gsort::gpu::narrow
