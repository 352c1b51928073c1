// Pairs, or keys alone, for the tests on the card: on the host, where std::stable_sort says what is
// right, and on the card. A value is made from its pair's position, so it tells where it came from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>
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

using AllPairs =
    ::testing::Types<Types<std::uint32_t, std::uint32_t>, Types<std::uint32_t, std::uint64_t>,
                     Types<std::uint64_t, std::uint32_t>, Types<std::uint64_t, std::uint64_t>>;
using AllElements =
    ::testing::Types<Types<std::uint32_t, NoValue>, Types<std::uint64_t, NoValue>,
                     Types<UInt128, NoValue>, Types<std::uint32_t, std::uint32_t>,
                     Types<std::uint32_t, std::uint64_t>, Types<std::uint64_t, std::uint32_t>,
                     Types<std::uint64_t, std::uint64_t>>;

// Keys alone have arrays of no values.
template <class T>
using ValueOf = std::conditional_t<kHasValues<typename T::Value>, typename T::Value, unsigned char>;

// Pairs on the host.
template <class T>
struct HostPairs {
  std::vector<typename T::Key> keys;
  std::vector<ValueOf<T>> values;

  friend bool operator==(const HostPairs&, const HostPairs&) = default;
  [[nodiscard]] std::size_t count() const { return keys.size(); }
};

template <class T>
HostPairs<T> with_positions(std::vector<typename T::Key> keys) {
  HostPairs<T> pairs{std::move(keys), {}};
  if (kHasValues<typename T::Value>) pairs.values.resize(pairs.keys.size());
  for (std::size_t i = 0; i < pairs.values.size(); ++i) {
    // Odd: different positions have different values, in all bits.
    pairs.values[i] = static_cast<ValueOf<T>>(i * 0x9e3779b97f4a7c15ULL);
  }
  return pairs;
}

// Stably by the keys that load_map makes; these, mapped back by store_map.
template <class T>
HostPairs<T> stably_sorted(HostPairs<T> pairs, KeyMap<typename T::Key> load_map,
                           KeyMap<typename T::Key> store_map) {
  for (auto& key : pairs.keys) key = load_map.to_ordered(key);
  if constexpr (kHasValues<typename T::Value>) {
    std::vector<std::pair<typename T::Key, typename T::Value>> all(pairs.count());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = {pairs.keys[i], pairs.values[i]};
    std::ranges::stable_sort(all, {}, [](const auto& pair) { return pair.first; });
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::tie(pairs.keys[i], pairs.values[i]) = all[i];
    }
  } else {
    std::ranges::sort(pairs.keys);
  }
  for (auto& key : pairs.keys) key = store_map.to_raw(key);
  return pairs;
}

// Pairs on the card; keys and values may be misaligned by different numbers of elements.
template <class T>
struct DevicePairArrays {
  DeviceArray<typename T::Key> keys;
  DeviceArray<ValueOf<T>> values;

  DevicePairArrays(std::size_t count, std::size_t misalign)
      : keys(count, misalign), values(kHasValues<typename T::Value> ? count : 0, misalign / 2) {}
  DevicePairArrays(const HostPairs<T>& pairs, std::size_t misalign)
      : keys(pairs.keys, misalign), values(pairs.values, misalign * 3) {}

  [[nodiscard]] Pairs<typename T::Key, typename T::Value> get() const {
    if constexpr (kHasValues<typename T::Value>) {
      return {keys.get(), values.get()};
    } else {
      return keys.get();
    }
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
