// Loops over many keys, compiled for every vector instruction set and chosen at run time: the key
// maps, and the order check. Keys must have the alignment of their type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "element/key.hpp"

namespace gsort {

// Maps raw keys to ordered ones, or back; input and output may be the same memory, else disjoint.
// Requires: output is as long as input.
template <class Key>
void map_to_ordered(std::span<const Key> raw, std::span<Key> ordered, KeyMap<Key> map);
template <class Key>
void map_to_raw(std::span<const Key> ordered, std::span<Key> raw, KeyMap<Key> map);

// The least i for which raw[i + 1] comes before raw[i] in the map's order; raw.size() if there is
// none.
template <class Key>
[[nodiscard]] std::size_t first_disorder(std::span<const Key> raw, KeyMap<Key> map);

}  // namespace gsort
