// Selection of the keys that come before a bound, compiled for every vector instruction set and
// chosen at run time. If few keys come before the bound, it runs at the speed of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "element/key.hpp"

namespace gsort {

template <class Key>
struct KeySelection {
  std::size_t taken;  // the number of keys before the bound
  Key least_left;     // the first of all other keys, as an ordered number; the greatest number if
                      // there are none
};

// The number of keys in a stretch, for which least_of_stretches() gives one number.
inline constexpr std::size_t kKeysOfStretch = 256;

// Writes the least ordered number of each stretch of keys to `least`; the last stretch may be
// shorter. Requires: room for a number of each.
template <class Key>
void least_of_stretches(std::span<const Key> raw, KeyMap<Key> map, std::uint64_t* least);

// Copies the raw keys whose ordered number is less than `bound` to `taken`, in order.
// Requires: room for raw.size() keys at `taken`, which does not overlap them.
template <class Key>
KeySelection<Key> select_below(std::span<const Key> raw, KeyMap<Key> map, Key bound, Key* taken);

}  // namespace gsort
