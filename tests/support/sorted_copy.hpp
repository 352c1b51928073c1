// The reference for every result: std::sort of a copy of the raw keys, as numbers of their C++
// type. Shares nothing with gsort's key maps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "element/key.hpp"
#include "gen/generate.hpp"

namespace gsort::test {

using Bytes = std::vector<std::byte>;

// The keys of `raw` in the order of `format`; floats by IEEE totalOrder.
[[nodiscard]] Bytes sorted_copy(std::span<const std::byte> raw, const KeyFormat& format);

// `count` generated raw keys.
[[nodiscard]] Bytes generated(const KeyFormat& format, Distribution distribution,
                              std::uint64_t count, std::uint64_t seed = 1);

// Raw keys as the ordered numbers that runs and slices hold, and back.
[[nodiscard]] Bytes to_ordered(Bytes raw, const KeyFormat& format);
[[nodiscard]] Bytes to_raw(Bytes ordered, const KeyFormat& format);

// The keys as unsigned numbers of their width, with the same bits.
template <class Key>
[[nodiscard]] std::span<const Key> keys_in(const Bytes& bytes) {
  return {reinterpret_cast<const Key*>(bytes.data()), bytes.size() / sizeof(Key)};
}

// "f64 big descending", for messages and names of cases.
[[nodiscard]] std::string words_of(const KeyFormat& format);

// All byte orders and directions of `type`.
[[nodiscard]] std::vector<KeyFormat> formats_of(KeyType type);

}  // namespace gsort::test
