// Converts C++ types of keys to gsort's key types.
#pragma once

#include <concepts>
#include <span>

#include "element/value.hpp"
#include "library/sort_keys.hpp"

namespace gsort::library {

// The unsigned number with the width of Key, which engines sort.
template <class Key>
using Bits = KeyOf<Key>;

[[nodiscard]] constexpr KeyFormat format_of_order(Order order) {
  KeyFormat format;
  format.descending = order == Order::kDescending || order == Order::kDescendingTotal;
  const bool is_total = order == Order::kAscendingTotal || order == Order::kDescendingTotal;
  format.float_order = is_total ? FloatOrder::kTotal : FloatOrder::kNumeric;
  return format;
}

template <SortableKey Key>
[[nodiscard]] constexpr KeyFormat format_of(Order order) {
  KeyFormat format = format_of_order(order);
#define GSORT_MATCH(number, name, Value, fold) \
  if (std::same_as<Key, Value>) format.type = KeyType::number;
  GSORT_NUMBER_TYPES(GSORT_MATCH)
#undef GSORT_MATCH
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
