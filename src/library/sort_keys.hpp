// Sorting and merging keys in host memory, on all cores.
//
//   std::vector<std::uint64_t> keys = ...;
//   gsort::sort_keys<std::uint64_t>(keys);
//   gsort::sort_keys<std::uint64_t>(keys, gsort::Order::kDescending);
//
// Floats are sorted by value: -0 equals +0, and all NaN are equal and come last, or first if
// descending. Equal floats are ordered by their bits. kAscendingTotal and kDescendingTotal are
// IEEE 754's total order: -NaN, -inf, ..., -0, +0, ..., +inf, +NaN.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "element/key.hpp"

namespace gsort {

enum class Order : std::uint8_t { kAscending, kDescending, kAscendingTotal, kDescendingTotal };

// std::uint8_t to std::uint64_t, std::int8_t to std::int64_t, float and double: the C++ types of
// GSORT_NUMBER_TYPES in element/key.hpp.
template <class Key>
concept SortableKey = kIsNumberType<Key>;

// Sorts in place. `threads` is how many cores to keep busy, at most 4096; 0: all this process may
// run on. Less than 1 MiB is sorted by the calling thread alone. Takes about 2 MiB of memory for
// each core at most; for arrays of up to 1 MiB, it may be 1 MiB instead, which the process keeps
// for the next sort; for keys of one and two bytes, 1 MiB for each core at most. Thread-safe on
// disjoint keys.
// Throws: Error(kResource), with the keys unchanged, if memory cannot be allocated; Error(kUsage)
// for too many threads.
template <SortableKey Key>
void sort_keys(std::span<Key> keys, Order order = Order::kAscending, unsigned threads = 0);

// Merges two sorted sequences into `merged`; of equal keys those of `a` come first.
// Requires: both are sorted in `order`; otherwise the result has the same keys in an unspecified
// order. Thread-safe on disjoint memory.
// Throws: Error(kUsage) if `merged` is not as long as both together, or overlaps one of them, and
// for too many threads; Error(kResource), with `merged` undefined, if memory cannot be allocated.
template <SortableKey Key>
void merge_keys(std::span<const Key> a, std::span<const Key> b, std::span<Key> merged,
                Order order = Order::kAscending, unsigned threads = 0);

}  // namespace gsort
