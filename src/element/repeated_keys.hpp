// Repeated keys among sorted ones: how many there are, and one of each. Equal means the same bits;
// the map of a format is one to one, so raw and ordered keys have the same repetitions. Compiled
// for every vector instruction set and chosen at run time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "element/key.hpp"

namespace gsort {

// How many keys differ from the key in front of them; the first one has none in front of it.
template <class Key>
[[nodiscard]] std::size_t count_changes(std::span<const Key> keys);

// The least i for which keys[i + 1] equals keys[i]; keys.size() if there is none.
template <class Key>
[[nodiscard]] std::size_t first_repeat(std::span<const Key> keys) {
  if (keys.empty() || count_changes(keys) + 1 == keys.size()) return keys.size();
  return static_cast<std::size_t>(std::ranges::adjacent_find(keys) - keys.begin());
}

// Copies the keys that differ from the key in front of them to `kept`, all others to `repeats`,
// both in order. `before` stands in front of the first key. Returns the number of kept keys.
// Requires: room for keys.size() keys at both. `kept` may be where the keys are; else none of the
// three overlap.
template <class Key>
std::size_t split_repeats(Key before, std::span<const Key> keys, Key* kept, Key* repeats);

}  // namespace gsort
