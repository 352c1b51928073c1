// From the type of a key in C++ to gsort's own words for it.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "element/key.hpp"
#include "library/sort_keys.hpp"

namespace gsort::library {

// The unsigned number as wide as Key, as which engines handle it.
template <SortableKey Key>
using Bits = std::conditional_t<
    sizeof(Key) == 1, std::uint8_t,
    std::conditional_t<sizeof(Key) == 2, std::uint16_t,
                       std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>>>;

template <SortableKey Key>
[[nodiscard]] constexpr KeyFormat format_of(Order order) {
  KeyFormat format;
  format.descending = order == Order::kDescending;
  if constexpr (std::is_floating_point_v<Key>) {
    format.type = sizeof(Key) == 4 ? KeyType::kF32 : KeyType::kF64;
  } else {
    for (const KeyType type : kAllKeyTypes) {
      const bool same_sign = is_signed_integer(type) == std::is_signed_v<Key>;
      const bool is_number = fold_of(type) == KeyFold::kNone;
      if (bytes_of(type) == sizeof(Key) && same_sign && is_number) format.type = type;
    }
  }
  return format;
}

template <SortableKey Key>
[[nodiscard]] std::span<Bits<Key>> bits_of(std::span<Key> keys) {
  return {reinterpret_cast<Bits<Key>*>(keys.data()), keys.size()};
}

template <SortableKey Key>
[[nodiscard]] std::span<const Bits<Key>> bits_of(std::span<const Key> keys) {
  return {reinterpret_cast<const Bits<Key>*>(keys.data()), keys.size()};
}

}  // namespace gsort::library
