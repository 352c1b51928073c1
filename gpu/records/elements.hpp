// Elements<Key, Value>: what one distribution moves and sorts: keys, or a word for each pair. For
// the host and the device.
//
// Problem. Distributing pairs stably takes ballots for ranks and a count of each piece, and values
// travel with their keys.
//
// Idea. A word is a key and, below it, the place of its pair in the input. No two words are equal,
// so any sort of words is a stable sort of pairs. Words are sorted as keys of 64 bits are; values
// are fetched by their places once, when the sorted keys are stored. The input's values must stay
// in the L2 cache until then, so the idea is for few pairs.
//
// Places are shifted to the upper bits of their half. Then the words of a frequent key are as far
// from each other as cells of a range are (key_cells.hpp), whether or not other keys lie beside it.
//
// Example. Keys 7 5 7, places of two bits shifted to four: words 7|0 5|4 7|8, sorted 5|4 7|0 7|8.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/host_device.hpp"
#include "gpu/merge/element_arrays.hpp"

namespace gsort::gpu {

template <class Key, class Value = NoValue>
struct Elements {
  static_assert(!kHasValues<Value> || sizeof(Key) == 4, "words have 64 bits");
  using Word = std::conditional_t<kHasValues<Value>, std::uint64_t, Key>;
};

// The word of an ordered key; place << shift has 32 bits.
template <class Word, class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Word word_of(Key key, std::uint64_t place,
                                                       unsigned shift) {
  if constexpr (sizeof(Word) == sizeof(Key)) {
    return key;
  } else {
    return Word{key} << 32 | static_cast<std::uint32_t>(place << shift);
  }
}
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint32_t key_of_word(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint32_t place_of_word(std::uint64_t word,
                                                                      unsigned shift) {
  return static_cast<std::uint32_t>(word) >> shift;
}

}  // namespace gsort::gpu
