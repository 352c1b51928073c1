#include "support/sorted_copy.hpp"

#include <algorithm>
#include <compare>
#include <utility>

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

// Every key becomes map_key(map of the format, key).
template <class MapKey>
Bytes mapped(Bytes bytes, const KeyFormat& format, const MapKey& map_key) {
  with_key_of_width(bytes_of(format.type), [&](auto width) {
    using Key = decltype(width);
    const std::span<Key> keys(reinterpret_cast<Key*>(bytes.data()), bytes.size() / sizeof(Key));
    const auto map = KeyMap<Key>::of(format);
    for (Key& key : keys) key = map_key(map, key);
  });
  return bytes;
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
  return mapped(std::move(raw), format, [](auto map, auto key) { return map.to_ordered(key); });
}

Bytes to_raw(Bytes ordered, const KeyFormat& format) {
  return mapped(std::move(ordered), format, [](auto map, auto key) { return map.to_raw(key); });
}

std::string words_of(const KeyFormat& format) {
  return std::string(name_of(format.type)) + (format.big_endian ? " big" : " little") +
         (format.descending ? " descending" : " ascending");
}

std::vector<KeyFormat> formats_of(KeyType type) {
  return {{type, false, false}, {type, false, true}, {type, true, false}, {type, true, true}};
}

}  // namespace gsort::test
