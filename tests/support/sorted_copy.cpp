#include "support/sorted_copy.hpp"

#include <algorithm>
#include <compare>

#include "support/key_values.hpp"

namespace gsort::test {
namespace {

template <class Number>
Bytes sorted_as(std::span<const std::byte> raw, const KeyFormat& format) {
  std::vector<Number> numbers = numbers_in<Number>(raw, format.big_endian);
  std::sort(numbers.begin(), numbers.end(),
            [](const Number& a, const Number& b) { return std::is_lt(compare_keys(a, b)); });
  if (format.descending) std::reverse(numbers.begin(), numbers.end());
  return raw_of(numbers, format.big_endian);
}

}  // namespace

Bytes sorted_copy(std::span<const std::byte> raw, const KeyFormat& format) {
  Bytes sorted;
  with_value_named(name_of(format.type),
                   [&](auto value) { sorted = sorted_as<decltype(value)>(raw, format); });
  return sorted;
}

Bytes generated(const KeyFormat& format, Distribution distribution, std::uint64_t count,
                std::uint64_t seed) {
  Bytes raw(count * bytes_of(format.type));
  generate({format, distribution, seed, count}, 0, raw);
  return raw;
}

Bytes to_ordered(Bytes raw, const KeyFormat& format) {
  with_key_of_width(bytes_of(format.type), [&](auto width) {
    using Key = decltype(width);
    const std::span<Key> keys(reinterpret_cast<Key*>(raw.data()), raw.size() / sizeof(Key));
    const auto map = KeyMap<Key>::of(format);
    for (Key& key : keys) key = map.to_ordered(key);
  });
  return raw;
}

Bytes to_raw(Bytes ordered, const KeyFormat& format) {
  with_key_of_width(bytes_of(format.type), [&](auto width) {
    using Key = decltype(width);
    const std::span<Key> keys(reinterpret_cast<Key*>(ordered.data()), ordered.size() / sizeof(Key));
    const auto map = KeyMap<Key>::of(format);
    for (Key& key : keys) key = map.to_raw(key);
  });
  return ordered;
}

std::string words_of(const KeyFormat& format) {
  return std::string(name_of(format.type)) + (format.big_endian ? " big" : " little") +
         (format.descending ? " descending" : " ascending");
}

std::vector<KeyFormat> formats_of(KeyType type) {
  return {{type, false, false}, {type, false, true}, {type, true, false}, {type, true, true}};
}

}  // namespace gsort::test
