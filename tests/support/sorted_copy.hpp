// The reference for every result: std::sort of a copy of the raw keys, as numbers of their C++
// type. Shares nothing with gsort's key maps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

// Sorts each array of `array_bytes` bytes on its own by sort(array); the last one may be shorter.
template <class Sort>
[[nodiscard]] Bytes sorted_arrays(const Bytes& raw, std::size_t array_bytes, const Sort& sort) {
  Bytes all;
  for (std::size_t at = 0; at < raw.size(); at += array_bytes) {
    const auto begin = raw.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t bytes = std::min(array_bytes, raw.size() - at);
    const Bytes array = sort(Bytes(begin, begin + static_cast<std::ptrdiff_t>(bytes)));
    all.insert(all.end(), array.begin(), array.end());
  }
  return all;
}

// Raw keys as numbers, and back.
template <class Number>
[[nodiscard]] std::vector<Number> numbers_in(std::span<const std::byte> raw, bool big_endian) {
  std::vector<Number> numbers(raw.size() / sizeof(Number));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::byte bytes[sizeof(Number)];
    std::memcpy(bytes, raw.data() + i * sizeof(Number), sizeof(Number));
    if (big_endian) std::ranges::reverse(bytes);
    std::memcpy(&numbers[i], bytes, sizeof(Number));
  }
  return numbers;
}
template <class Number>
[[nodiscard]] Bytes raw_of(const std::vector<Number>& numbers, bool big_endian = false) {
  const auto raw = std::as_bytes(std::span(numbers));
  const auto turned = numbers_in<Number>(raw, big_endian);
  const auto bytes = std::as_bytes(std::span(turned));
  return {bytes.begin(), bytes.end()};
}

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
