// Checks the output of a contender on the card, by kernels that share nothing with any contender:
// the order, and an order-free sum over all keys, which must be that of the input.
#pragma once

#include <cstdint>

#include "element/key.hpp"

namespace gsort::bench {

// Equal sums mean equal multisets of keys in each array, except by chance (about 2^-64).
struct DeviceCheck {
  std::uint64_t descents = 0;  // keys that are less than their predecessor in the same array
  std::uint64_t sum = 0;
};

// keys[0, count) as arrays of array_keys each. `map` makes them ordered keys.
// Requires: array_keys > 0. Waits for the device.
template <class Key>
[[nodiscard]] DeviceCheck check_arrays(const Key* keys, std::uint64_t count,
                                       std::uint64_t array_keys, KeyMap<Key> map);

// Pairs, as arrays of array_keys each: a descent is also an equal key whose value is less than its
// predecessor's, so that values that counted up in the input prove a stable sort; the sum is over
// keys with their values and arrays.
template <class Key, class Value>
[[nodiscard]] DeviceCheck check_pairs(const Key* keys, const Value* values, std::uint64_t count,
                                      std::uint64_t array_keys, KeyMap<Key> map);

// The number of places in which the two differ. Waits for the device.
template <class Key>
[[nodiscard]] std::uint64_t count_differences(const Key* keys, const Key* expected,
                                              std::uint64_t count);

}  // namespace gsort::bench
