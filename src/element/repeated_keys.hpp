// Repeated keys among sorted ones: how many there are, and one of each. Keys are equal if they have
// the same bits, raw or ordered, or if a map that folds classes (key.hpp) gives them the same
// number. Compiled for every vector instruction set and chosen at run time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "element/key.hpp"

namespace gsort {

// The number of keys that differ from the key before them, and the first one.
template <class Key>
[[nodiscard]] std::size_t count_changes(std::span<const Key> keys);

// The sorted keys that may differ in bits from keys that equal them, from first to last: zeros and
// NaN. Empty if `map` folds no classes. class_of(key) is the key's class as a number.
template <class Key, class ClassOf>
[[nodiscard]] std::array<std::span<Key>, 2> floats_of_several_bits(
    std::span<Key> keys, const KeyMap<std::remove_const_t<Key>>& map, const ClassOf& class_of) {
  std::array<std::span<Key>, 2> found;
  found.fill(keys.last(0));
  if (!map.folds_classes) return found;
  std::array classes{map.to_ordered(0),
                     map.class_of_ordered(static_cast<std::remove_const_t<Key>>(~map.flip))};
  std::ranges::sort(classes);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto begin = std::ranges::lower_bound(keys, classes[i], {}, class_of);
    const auto end = std::ranges::upper_bound(begin, keys.end(), classes[i], {}, class_of);
    found[i] = {begin, end};
    keys = {end, keys.end()};
  }
  return found;
}

// The number of keys that differ in class from the key before them, and the first one.
template <class Key, class ClassOf>
[[nodiscard]] std::size_t count_changes(std::span<const Key> keys, const KeyMap<Key>& map,
                                        const ClassOf& class_of) {
  std::size_t changes = count_changes(keys);
  for (const std::span<const Key> equal : floats_of_several_bits(keys, map, class_of)) {
    changes -= count_changes(equal);
  }
  return changes;
}

// The least i for which keys[i + 1] has the class of keys[i]; keys.size() if there is none.
template <class Key>
[[nodiscard]] std::size_t first_repeat(std::span<const Key> keys, KeyMap<Key> map = {}) {
  const auto class_of = [&](Key key) { return map.folds_classes ? map.to_ordered(key) : key; };
  if (keys.empty() || count_changes(keys, map, class_of) + 1 == keys.size()) return keys.size();
  return static_cast<std::size_t>(std::ranges::adjacent_find(keys, {}, class_of) - keys.begin());
}

// Copies the keys that differ from the key before them to `kept`, all others to `repeats`, both in
// order. `before` is the key before the first one. Returns the number of kept keys. Requires: room
// for keys.size() keys at both. `kept` may be where the keys are; else none of the three overlap.
template <class Key>
std::size_t split_repeats(Key before, std::span<const Key> keys, Key* kept, Key* repeats);

// The same, where class_of(key) gives equal keys the same number.
template <class Key, class ClassOf>
std::size_t split_repeats(Key before, std::span<const Key> keys, Key* kept, Key* repeats,
                          const ClassOf& class_of) {
  std::size_t kept_keys = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Key key = keys[i];
    kept[kept_keys] = key;
    repeats[i - kept_keys] = key;
    kept_keys += class_of(key) != class_of(before) ? 1U : 0U;
    before = key;
  }
  return kept_keys;
}

}  // namespace gsort
