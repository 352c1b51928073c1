// cache_sort: sorts keys that fit the cache, on one core.
//
// Problem. A comparison sort of n keys in the cache spends log2(n) levels on them; each level is
// fast, but there are 17 of them in a megabyte. A radix sort from the low digit spends one pass a
// digit, needed or not.
//
// Idea. Use the range of the keys. Find the least and the greatest key; spread the keys by
//   (key - least) >> shift
// into about n/16 buckets in one counting pass, which leaves buckets of some 16 keys if they are
// evenly spread; sort those by counting, for each key, how many others precede it: n*n comparisons,
// but n/lanes of them in one instruction and none mispredicted. A bucket that is still large (skew)
// is treated the same way again, by its own least and greatest key.
//
// Example. 8 keys 17 3 90 41 5 66 12 88, four buckets: least 3, greatest 90, shift 5 (87 >> 5 = 2):
//   0: 17 3 5 12   1: 41 66   2: 90 88
//   bucket 0: 17 is preceded by 3 others, 3 by 0, 5 by 1, 12 by 2  ->  3 5 12 17; and so on.
//
// Cost. Two reads and two writes of the keys for evenly spread keys. Each further level needs a
// bucket whose range is at least 2^4 times narrower than its parent's, so there are at most bits /
// 4 levels, whatever the keys are. Buckets of one value end at once.
//
// With vectors of 32 or 64 bytes, a quicksort by vector instructions is faster
// (in_place/vector_sort-inl.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "element/element.hpp"
#include "element/key.hpp"

namespace gsort::cpu {

enum class CacheSorter : std::uint8_t {
  kDefault,  // the quicksort with wide vectors, else spreading
  kSpread,   // the algorithm above
  kQuick,    // in_place/vector_sort-inl.hpp
};

// Sets what cache_sort() does from now on in the whole process; for tests.
template <class Key>
void use_cache_sorter(CacheSorter sorter);

// Fewer keys need no scratch memory, and keys of 128 bits never do.
inline constexpr std::size_t kLeastScratchKeys = 65;

// Sorts `keys` (ordered keys) ascending; `scratch` is as long as `keys` if they need any; its
// contents are lost. Not stable: equal keys are indistinguishable. Thread-safe on disjoint memory.
// Throws: std::bad_alloc if there is no memory for VQSort, which needs some for each thread (128
// bits).
void cache_sort(std::span<std::uint32_t> keys, std::span<std::uint32_t> scratch);
void cache_sort(std::span<std::uint64_t> keys, std::span<std::uint64_t> scratch);
void cache_sort(std::span<UInt128> keys, std::span<UInt128> scratch);  // VQSort, always

// How the keys of a sort become ordered keys, if they are raw before, and how they become raw ones.
template <class Key>
struct CacheForms {
  const KeyMap<Key>* to_ordered = nullptr;  // null: they are ordered before
  const KeyMap<Key>* to_raw = nullptr;      // null: they stay ordered
};

// The same, and maps the keys in stretches that the sort reads next, or has just written. The first
// map of keys of a width takes memory: if there is none, this throws, and some keys are mapped.
template <class Key>
void cache_sort(std::span<Key> keys, std::span<Key> scratch, const CacheForms<Key>& forms);

// Merges sorted slices into `keys`, which is as long as all slices together; so is `scratch`. No
// slice is empty. Changes `slices`, but not the keys of the slices. Throws: as cache_sort().
template <class Key>
void cache_merge(std::span<std::span<const Key>> slices, std::span<Key> keys,
                 std::span<Key> scratch);

// The least and the greatest of `keys`. Requires: not empty.
template <class Key>
struct KeyRange {
  Key least;
  Key greatest;
};
[[nodiscard]] KeyRange<std::uint32_t> range_of(std::span<const std::uint32_t> keys);
[[nodiscard]] KeyRange<std::uint64_t> range_of(std::span<const std::uint64_t> keys);
[[nodiscard]] KeyRange<UInt128> range_of(std::span<const UInt128> keys);

}  // namespace gsort::cpu
