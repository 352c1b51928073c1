// Sorting and merging keys in host memory, on all cores.
//
//   std::vector<std::uint64_t> keys = ...;
//   gsort::sort_keys<std::uint64_t>(keys);
//   gsort::sort_keys<std::uint64_t>(keys, gsort::Order::kDescending);
//
// Floats are in IEEE total order: -NaN, -inf, ..., -0, +0, ..., +inf, +NaN.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include "base/error.hpp"

namespace gsort {

enum class Order : std::uint8_t { kAscending, kDescending };

// The ten types of keys.
template <class Key>
concept SortableKey = std::same_as<Key, std::uint8_t> || std::same_as<Key, std::int8_t> ||
    std::same_as<Key, std::uint16_t> || std::same_as<Key, std::int16_t> ||
    std::same_as<Key, std::uint32_t> || std::same_as<Key, std::int32_t> ||
    std::same_as<Key, std::uint64_t> || std::same_as<Key, std::int64_t> ||
    std::same_as<Key, float> || std::same_as<Key, double>;

// Sorts in place. `threads` is how many cores to keep busy; 0: all this process may run on. Takes
// memory for a copy of the keys and about a fifth more; for keys of one and two bytes, almost none.
// Thread-safe on disjoint keys.
// Throws: Error(kResource), with the keys as they were, when memory cannot be had.
template <SortableKey Key>
void sort_keys(std::span<Key> keys, Order order = Order::kAscending, unsigned threads = 0);

// Merges two sorted sequences into `merged`; of equal keys those of `a` come first.
// Requires: both are sorted in `order` (else the order of the result is not said, but it holds the
// same keys). Thread-safe on disjoint memory.
// Throws: Error(kUsage) when `merged` is not as long as both together, or overlaps one of them.
template <SortableKey Key>
void merge_keys(std::span<const Key> a, std::span<const Key> b, std::span<Key> merged,
                Order order = Order::kAscending, unsigned threads = 0);

}  // namespace gsort
