// Stable sorts and merges of pairs in device memory, and the indices that sort keys, queued on a
// stream. Only in builds with CUDA. Pair i is keys[i] with values[i]; a value is anything of 4 or 8
// bytes, and is moved unchanged.
//
//   scratch.bytes = gsort::device_pairs_scratch_bytes<float, int>(count);
//   gsort::sort_device_pairs(keys, keys, values, values, count, gsort::Order::kDescending, scratch,
//                            stream);
//
// The rules of device_keys.hpp for memory, streams, errors, graphs and results hold here, too.
// Results are stable, so that a call gives the same bytes every time: pairs of equal keys, also of
// equal floats (-0 and +0, two NaN), keep their order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "library/device_keys.hpp"
#include "library/sort_pairs.hpp"

namespace gsort {

// The types of values and indices are those for host memory (sort_pairs.hpp).
template <class Value>
concept DeviceWord = PairWord<Value>;
template <class Value>
concept DeviceMoved = PairMoved<Value>;
template <class Index>
concept DeviceIndex = PairIndex<Index>;

// One more array of keys and of values, and a few per cent; up to half as much again for fewer than
// 2^23 pairs with keys of at most 32 bits; for floats another array of keys. Never less for a
// larger count.
template <DeviceKey Key, DeviceWord Value>
[[nodiscard]] std::size_t device_pairs_scratch_bytes(std::uint64_t count);

// Sorts the pairs of keys_in and values_in into keys_out and values_out. The keys may be sorted in
// place, and so may the values.
template <DeviceKey Key, DeviceWord Value>
void sort_device_pairs(const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out,
                       std::uint64_t count, Order order, const DeviceScratch& scratch,
                       DeviceStream stream);

template <DeviceKey Key, DeviceWord Value>
[[nodiscard]] std::size_t device_pair_merge_scratch_bytes(std::uint64_t total);

// Merges the pairs of two arrays, each sorted in `order` by its keys; of equal keys those of `a`
// come first. The inputs may overlap each other.
template <DeviceKey Key, DeviceWord Value>
void merge_device_pairs(const Key* a_keys, const Value* a_values, std::uint64_t a_count,
                        const Key* b_keys, const Value* b_values, std::uint64_t b_count,
                        Key* keys_out, Value* values_out, Order order, const DeviceScratch& scratch,
                        DeviceStream stream);

// The same for two slices; for up to 8, a few per cent of the pairs; for more, one more array of
// keys and of values.
template <DeviceKey Key, DeviceWord Value>
[[nodiscard]] std::size_t device_pair_slices_scratch_bytes(std::uint64_t total,
                                                           std::uint32_t slice_count);

// Merges the pairs of any number of slices, as merge_device_slices does keys; of equal keys those
// of lower slices come first.
template <DeviceKey Key, DeviceWord Value>
void merge_device_pair_slices(const Key* keys_in, const Value* values_in,
                              const std::uint64_t* slice_counts, std::uint32_t slice_count,
                              Key* keys_out, Value* values_out, Order order,
                              const DeviceScratch& scratch, DeviceStream stream);

// As device_pairs_scratch_bytes, and one more array of keys.
template <DeviceKey Key, DeviceIndex Index>
[[nodiscard]] std::size_t device_argsort_scratch_bytes(std::uint64_t count);

// Writes the indices, from 0 to count - 1, that sort the keys; those of equal keys ascend. This and
// device_argsort_scratch_bytes also throw Error(kUsage) if count is greater than the greatest
// Index.
template <DeviceKey Key, DeviceIndex Index>
void argsort_device_keys(const Key* keys, Index* indices, std::uint64_t count, Order order,
                         const DeviceScratch& scratch, DeviceStream stream);

// The same for other types of values.

template <DeviceKey Key, DeviceMoved Value>
[[nodiscard]] std::size_t device_pairs_scratch_bytes(std::uint64_t count) {
  return device_pairs_scratch_bytes<Key, WordOf<Value>>(count);
}

template <DeviceKey Key, DeviceMoved Value>
void sort_device_pairs(const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out,
                       std::uint64_t count, Order order, const DeviceScratch& scratch,
                       DeviceStream stream) {
  using Word = WordOf<Value>;
  sort_device_pairs(keys_in, keys_out, reinterpret_cast<const Word*>(values_in),
                    reinterpret_cast<Word*>(values_out), count, order, scratch, stream);
}

template <DeviceKey Key, DeviceMoved Value>
[[nodiscard]] std::size_t device_pair_merge_scratch_bytes(std::uint64_t total) {
  return device_pair_merge_scratch_bytes<Key, WordOf<Value>>(total);
}

template <DeviceKey Key, DeviceMoved Value>
void merge_device_pairs(const Key* a_keys, const Value* a_values, std::uint64_t a_count,
                        const Key* b_keys, const Value* b_values, std::uint64_t b_count,
                        Key* keys_out, Value* values_out, Order order, const DeviceScratch& scratch,
                        DeviceStream stream) {
  using Word = WordOf<Value>;
  merge_device_pairs(a_keys, reinterpret_cast<const Word*>(a_values), a_count, b_keys,
                     reinterpret_cast<const Word*>(b_values), b_count, keys_out,
                     reinterpret_cast<Word*>(values_out), order, scratch, stream);
}

template <DeviceKey Key, DeviceMoved Value>
[[nodiscard]] std::size_t device_pair_slices_scratch_bytes(std::uint64_t total,
                                                           std::uint32_t slice_count) {
  return device_pair_slices_scratch_bytes<Key, WordOf<Value>>(total, slice_count);
}

template <DeviceKey Key, DeviceMoved Value>
void merge_device_pair_slices(const Key* keys_in, const Value* values_in,
                              const std::uint64_t* slice_counts, std::uint32_t slice_count,
                              Key* keys_out, Value* values_out, Order order,
                              const DeviceScratch& scratch, DeviceStream stream) {
  using Word = WordOf<Value>;
  merge_device_pair_slices(keys_in, reinterpret_cast<const Word*>(values_in), slice_counts,
                           slice_count, keys_out, reinterpret_cast<Word*>(values_out), order,
                           scratch, stream);
}

}  // namespace gsort
