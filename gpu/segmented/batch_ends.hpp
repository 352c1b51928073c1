// Both ends of a batch sort: how its elements become words, which the tiles sort, and how words
// become the output. Keys are words as they are. A pair is a word of 64 bits: its key, and below it
// the pair's number; words are distinct, so sorting them is stable, and the value is fetched by the
// number as the word is stored. For the host and the device.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "element/key.hpp"

namespace gsort::gpu {

// The maps at both ends of a sort.
template <class Key>
struct EndMaps {
  KeyMap<Key> load_map;
  KeyMap<Key> store_map;
  bool loads_mapped = false;  // the maps are not the identity
  bool stores_mapped = false;

  [[nodiscard]] static EndMaps of(KeyMap<Key> load_map, KeyMap<Key> store_map) {
    return {load_map, store_map, !load_map.is_identity(), !store_map.is_identity()};
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr Key raw(Key ordered) const {
    return stores_mapped ? store_map.to_raw(ordered) : ordered;
  }
};

template <class KeyType>
struct KeyEnds {
  using Key = KeyType;   // as loaded
  using Word = KeyType;  // as sorted
  using Position = std::uint64_t;
  using Fetched = bool;                            // nothing, in fact
  static constexpr unsigned kFetches = 1;          // of a thread at once
  static constexpr bool kWordsLieInOutput = true;  // between the passes over long arrays

  const Key* keys_in = nullptr;
  Key* keys_out = nullptr;
  EndMaps<Key> maps{};

  // The number of the element at `position`, the in_array-th of its array.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned number(Position /*position*/,
                                                            unsigned /*in_array*/) const {
    return 0;
  }
  // The word of an element `next` elements after number `first`.
  [[nodiscard]] GSORT_HOST_DEVICE static constexpr Word word(Key key, unsigned /*first*/,
                                                             unsigned /*next*/) {
    return key;
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr Fetched fetch(Word /*word*/) const { return true; }
  GSORT_HOST_DEVICE constexpr void store(Position position, Word word, Fetched /*value*/) const {
    keys_out[position] = maps.raw(word);
  }
};

// Pairs with keys of 32 bits, at most 2^32 of them.
struct PairEnds {
  using Key = std::uint32_t;
  using Word = std::uint64_t;
  using Position = std::uint32_t;
  using Fetched = std::uint64_t;
  static constexpr unsigned kFetches = 4;
  static constexpr bool kWordsLieInOutput = false;

  const Key* keys_in = nullptr;
  Key* keys_out = nullptr;  // null: not wanted
  EndMaps<Key> maps{};
  const void* values_in = nullptr;  // null: the output's values are numbers
  void* values_out = nullptr;
  bool wide_values = false;       // of 64 bits, not 32
  bool numbers_in_array = false;  // they count in the array, not in the input; only without values

  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned number(Position position,
                                                            unsigned in_array) const {
    return numbers_in_array ? in_array : position;
  }
  // Fill has the greatest key, and numbers behind those of its array, but at most 2^32 - 1: none
  // wraps around.
  [[nodiscard]] GSORT_HOST_DEVICE static constexpr Word word(Key key, unsigned first,
                                                             unsigned next) {
    return Word{key} << 32 | (first + (next < ~first ? next : ~first));
  }
  [[nodiscard]] GSORT_HOST_DEVICE Fetched fetch(Word word) const {
    const auto number = static_cast<std::uint32_t>(word);
    if (values_in == nullptr) return number;
    return wide_values ? static_cast<const std::uint64_t*>(values_in)[number]
                       : static_cast<const std::uint32_t*>(values_in)[number];
  }
  GSORT_HOST_DEVICE void store(Position position, Word word, Fetched value) const {
    if (keys_out != nullptr) {
      keys_out[position] = maps.load_map.folds_classes ? keys_in[static_cast<std::uint32_t>(word)]
                                                       : maps.raw(static_cast<Key>(word >> 32));
    }
    if (wide_values) {
      static_cast<std::uint64_t*>(values_out)[position] = value;
    } else {
      static_cast<std::uint32_t*>(values_out)[position] = static_cast<std::uint32_t>(value);
    }
  }
};

}  // namespace gsort::gpu
