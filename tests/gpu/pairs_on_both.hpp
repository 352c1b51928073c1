// Pairs for the tests on the card: on the host, where std::stable_sort says what is right, and on
// the card. A value is made from its pair's position, so it tells where it came from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device_memory.hpp"
#include "gpu/records/device_pairs.hpp"

namespace gsort::gpu {

template <class KeyType, class ValueType>
struct Types {
  using Key = KeyType;
  using Value = ValueType;
};

// Pairs on the host.
template <class T>
struct HostPairs {
  std::vector<typename T::Key> keys;
  std::vector<typename T::Value> values;

  friend bool operator==(const HostPairs&, const HostPairs&) = default;
  [[nodiscard]] std::size_t count() const { return keys.size(); }
};

template <class T>
HostPairs<T> with_positions(std::vector<typename T::Key> keys) {
  HostPairs<T> pairs{std::move(keys), {}};
  pairs.values.resize(pairs.keys.size());
  for (std::size_t i = 0; i < pairs.values.size(); ++i) {
    // Odd: different positions have different values, in all bits.
    pairs.values[i] = static_cast<typename T::Value>(i * 0x9e3779b97f4a7c15ULL);
  }
  return pairs;
}

// Stably by the keys that load_map makes; these, mapped back by store_map.
template <class T>
HostPairs<T> stably_sorted(const HostPairs<T>& pairs, KeyMap<typename T::Key> load_map,
                           KeyMap<typename T::Key> store_map) {
  std::vector<std::pair<typename T::Key, typename T::Value>> all(pairs.count());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = {load_map.to_ordered(pairs.keys[i]), pairs.values[i]};
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  HostPairs<T> sorted;
  for (const auto& [key, value] : all) {
    sorted.keys.push_back(store_map.to_raw(key));
    sorted.values.push_back(value);
  }
  return sorted;
}

// Pairs on the card; keys and values may be misaligned by different numbers of elements.
template <class T>
struct DevicePairArrays {
  DeviceArray<typename T::Key> keys;
  DeviceArray<typename T::Value> values;

  DevicePairArrays(std::size_t count, std::size_t misalign)
      : keys(count, misalign), values(count, misalign / 2) {}
  DevicePairArrays(const HostPairs<T>& pairs, std::size_t misalign)
      : keys(pairs.keys, misalign), values(pairs.values, misalign * 3) {}

  [[nodiscard]] Pairs<typename T::Key, typename T::Value> get() const {
    return {keys.get(), values.get()};
  }
  [[nodiscard]] HostPairs<T> pairs() const { return {keys.values(), values.values()}; }
  [[nodiscard]] bool guards_hold() const { return keys.guards_hold() && values.guards_hold(); }
};

using Scratch = DeviceArray<unsigned char>;
constexpr std::size_t kScratchShift = 256 - Scratch::kGuard;  // so that scratch is aligned

// Calls and tells whether that was refused as wrong use.
template <class Call>
bool refused(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::kUsage;
  }
  return false;
}

}  // namespace gsort::gpu
