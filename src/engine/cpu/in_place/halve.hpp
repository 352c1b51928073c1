// halve: divides keys by a pivot, in place and by vector instructions. It is for arrays of a few
// times the cache's size, where a distribution to many buckets costs more.
//
// Idea. A stretch at either end is set aside, which leaves free places there. Vectors are then read
// from the end that has fewer free places; keys below the pivot go to the low end, the others to
// the high end. Neither end runs out of free places: the end that is read gains those of the
// vectors, the other has at least half of all. Last, the keys set aside fill the gap that is left.
//
// Example. Vectors of two keys, pivot 5, keys 7 1 | 8 3 | 2 9 | 6 4; 7 1 and 6 4 are set aside:
//   read 8 3   3 . . . 2 9 . 8;   read 2 9   3 2 . . . . 9 8;   7 1 6 4   3 2 1 4 6 7 9 8
//
// Cost. One read and one write of each key.
#pragma once

#include <cstddef>
#include <span>

#include "element/element.hpp"
#include "element/key.hpp"

namespace gsort::cpu {

// Moves keys below a pivot before the others; returns how many. The pivot is the median of a
// sample, but never its least key. 0: no keys were moved, as there are too few, the sample has only
// one value, or there is no vector code for them. Thread-safe on disjoint keys.
template <class Key>
[[nodiscard]] std::size_t halve(std::span<Key> keys);

// The same for raw keys: all of them, also if none is moved, become ordered keys, as they are read.
// Requires: keys of this width have been mapped before, so that a map takes no memory.
template <class Key>
[[nodiscard]] std::size_t halve(std::span<Key> raw, const KeyMap<Key>& map);

// Whether there is vector code for keys of this many bytes.
[[nodiscard]] bool can_halve(std::size_t key_bytes);

}  // namespace gsort::cpu
