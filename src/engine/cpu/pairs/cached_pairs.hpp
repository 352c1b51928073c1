// sort_cached: sorts pairs of keys and values that fit the cache, stably, on one core.
//
// Idea. As cache_sort's spreading: find the least and the greatest key, and deal the pairs out by
//   (key - least) >> shift
// to about n/16 buckets, in one counting pass that keeps the order of equal keys. In a bucket of
// few pairs the place of a pair is the number of keys below its own, plus the number of equal keys
// before it: n*n comparisons, a vector of them in one instruction and none mispredicted. A bucket
// of many pairs is dealt out again. Each time, the pairs go from their arrays (`from`) to others of
// the same length (`other`), or back; the last step moves them to their sorted places in `to`.
//
// Example. Keys 41 3 90 3, values a b c d: 3 is preceded by no key, the second 3 by one, 41 by two,
// 90 by three: 3b 3d 41a 90c.
//
// Cost. Two reads and two writes of evenly spread pairs. Each further level needs a bucket whose
// range is at least 2^4 times narrower than its parent's. Buckets of one key end at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "element/key.hpp"

namespace gsort::cpu {

// Pairs in two arrays.
template <class Key, class Value>
struct Pairs {
  Key* keys;
  Value* values;

  [[nodiscard]] Pairs from(std::size_t first) const { return {keys + first, values + first}; }
};

// Makes the ordered numbers of equal floats the same number, their class: those of -0 and +0, and
// those of all NaN. Needed if each key has its own ordered number (KeyMap without folds_classes).
template <class Key>
struct ClassFold {
  bool folds = false;
  Key zero = 0;  // is replaced by other_zero
  Key other_zero = 0;
  Key least = 0;
  Key greatest = static_cast<Key>(~Key{0});

  ClassFold() = default;
  explicit ClassFold(const KeyMap<Key>& classes) : folds(classes.folds_classes) {
    if (!folds) return;
    const auto negative_zero = static_cast<Key>(KeyMap<Key>::kSignBit - 1U - classes.nans);
    const auto first_nan = static_cast<Key>(2U * negative_zero + 2U);
    zero = static_cast<Key>(negative_zero ^ classes.flip);
    other_zero = static_cast<Key>((negative_zero + 1U) ^ classes.flip);
    (classes.flip == 0 ? greatest : least) = static_cast<Key>(first_nan ^ classes.flip);
  }
  // For the same numbers in a wider type.
  template <class Narrow>
  requires(sizeof(Narrow) < sizeof(Key)) explicit ClassFold(const ClassFold<Narrow>& fold)
      : folds(fold.folds),
        zero(fold.zero),
        other_zero(fold.other_zero),
        least(fold.least),
        greatest(fold.greatest) {}

  [[nodiscard]] Key operator()(Key key) const {
    key = key == zero ? other_zero : key;
    key = key < least ? least : key;
    return key < greatest ? key : greatest;
  }
};

// Writes fold(key) of each key to `folded`.
void fold_keys(const ClassFold<std::uint32_t>& fold, const std::uint32_t* keys, std::size_t count,
               std::uint32_t* folded);
void fold_keys(const ClassFold<std::uint64_t>& fold, const std::uint64_t* keys, std::size_t count,
               std::uint64_t* folded);

// More pairs do not fit the cache: sort_cached() sorts them, but slowly.
inline constexpr std::size_t kMostCachedPairs = std::size_t{1} << 17;

// Fewer pairs do not need the arrays of `other`.
inline constexpr std::size_t kLeastDealtPairs = 65;

// Sorts `count` pairs of `from` into `to`, by the classes of their ordered keys. `to` may be `from`
// or `other`, or have one array of either. Overwrites `from` and `other`.
// Requires: all arrays have room for `count` elements; those of `from` and `other` do not overlap,
// unless there are fewer pairs than kLeastDealtPairs.
template <class Key, class Value>
void sort_cached(const Pairs<Key, Value>& from, const Pairs<Key, Value>& other,
                 const Pairs<Key, Value>& to, std::size_t count, const ClassFold<Key>& fold);

}  // namespace gsort::cpu
