// The expected result of stable sorts of pairs: std::stable_sort of indices, by the values of keys.
// It does not use gsort's key maps.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "library/sort_keys.hpp"

namespace gsort::test {

// Whether a comes before b. In total order, -NaN is before all numbers, +NaN after them, and -0
// before +0; NaN of one sign are compared by their bits.
template <class Key>
[[nodiscard]] bool is_before(Key a, Key b, bool total) {
  if constexpr (std::is_floating_point_v<Key>) {
    if (total && std::signbit(a) != std::signbit(b)) return std::signbit(a);
    if (total && std::isnan(a) != std::isnan(b)) return std::isnan(a) == std::signbit(a);
    if (total && std::isnan(a)) {
      using Bits = std::conditional_t<sizeof(Key) == 4, std::uint32_t, std::uint64_t>;
      const bool less = std::bit_cast<Bits>(a) < std::bit_cast<Bits>(b);
      return less != std::signbit(a) && std::bit_cast<Bits>(a) != std::bit_cast<Bits>(b);
    }
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  }
  return a < b;
}

// The indices that sort the keys; those of equal keys ascend.
template <class Key>
[[nodiscard]] std::vector<std::uint64_t> stable_order(std::span<const Key> keys, Order order) {
  const bool total = order == Order::kAscendingTotal || order == Order::kDescendingTotal;
  const bool descending = order == Order::kDescending || order == Order::kDescendingTotal;
  std::vector<std::uint64_t> indices(keys.size());
  std::iota(indices.begin(), indices.end(), std::uint64_t{0});
  std::stable_sort(indices.begin(), indices.end(), [&](std::uint64_t a, std::uint64_t b) {
    return descending ? is_before(keys[b], keys[a], total) : is_before(keys[a], keys[b], total);
  });
  return indices;
}

}  // namespace gsort::test
