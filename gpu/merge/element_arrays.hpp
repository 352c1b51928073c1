// Elements in device memory, as calls take them: pairs of keys and values, or keys alone, which are
// pairs with NoValue, so that one template serves both. Host code; NoValue also for the device.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "gpu/cuda/call_memory.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/cuda/tuning.hpp"

namespace gsort::gpu {

// The type of the values if keys have none.
struct NoValue {};

template <class Value>
inline constexpr bool kHasValues = !std::is_same_v<Value, NoValue>;

// For messages.
template <class Value>
inline constexpr const char* kElements = kHasValues<Value> ? "pairs" : "keys";

// The type that names the tuning (tuning.hpp).
template <class Key, class Value>
using ElementOf = std::conditional_t<kHasValues<Value>, PairOf<Key, Value>, Key>;

// Where pairs lie: pair i is keys[i] with values[i]. A pointer to keys is enough for keys alone.
template <class Key, class Value>
struct Pairs {
  Key* keys = nullptr;
  Value* values = nullptr;

  Pairs() = default;
  Pairs(Key* keys_at, Value* values_at) : keys(keys_at), values(values_at) {}
  Pairs(Key* keys_at) requires(!kHasValues<Value>) : keys(keys_at) {}
};

template <class Key, class Value>
struct ConstPairs {
  const Key* keys = nullptr;
  const Value* values = nullptr;

  ConstPairs() = default;
  ConstPairs(const Key* keys_at, const Value* values_at) : keys(keys_at), values(values_at) {}
  ConstPairs(const Key* keys_at) requires(!kHasValues<Value>) : keys(keys_at) {}
  ConstPairs(const Pairs<Key, Value>& pairs) : keys(pairs.keys), values(pairs.values) {}
};

// The elements behind the first `count`. Null pointers stay null.
template <class Elements>
[[nodiscard]] Elements behind(Elements all, std::uint64_t count) {
  if (all.keys != nullptr) all.keys += count;
  if (all.values != nullptr) all.values += count;
  return all;
}

template <class Key, class Value>
[[nodiscard]] Pairs<Key, Value> take_elements(ScratchCutter& cutter, std::uint64_t count) {
  Pairs<Key, Value> taken;
  taken.keys = cutter.take<Key>(count);
  if constexpr (kHasValues<Value>) taken.values = cutter.take<Value>(count);
  return taken;
}

// The names of arrays in messages: of keys alone, and of the two arrays of pairs.
struct ArrayNames {
  const char* keys_alone;
  const char* keys;
  const char* values;
};
inline constexpr ArrayNames kInput{"the input", "the input's keys", "the input's values"};
inline constexpr ArrayNames kAnInput{"an input", "an input's keys", "an input's values"};
inline constexpr ArrayNames kOutput{"the output", "the output's keys", "the output's values"};

// For require_call_memory.
template <class Key, class Value>
[[nodiscard]] auto extents_of(const ConstPairs<Key, Value>& all, std::uint64_t count,
                              const ArrayNames& names) {
  if constexpr (kHasValues<Value>) {
    return std::array{extent_of(all.keys, count, names.keys),
                      extent_of(all.values, count, names.values)};
  } else {
    return std::array{extent_of(all.keys, count, names.keys_alone)};
  }
}
template <class Key, class Value>
[[nodiscard]] auto extents_of(const Pairs<Key, Value>& all, std::uint64_t count,
                              const ArrayNames& names = kOutput) {
  return extents_of(ConstPairs<Key, Value>(all), count, names);
}

// The extents of two inputs.
template <std::size_t kCount>
[[nodiscard]] std::array<Extent, 2 * kCount> both(const std::array<Extent, kCount>& a,
                                                  const std::array<Extent, kCount>& b) {
  std::array<Extent, 2 * kCount> all{};
  for (std::size_t i = 0; i < kCount; ++i) {
    all[i] = a[i];
    all[kCount + i] = b[i];
  }
  return all;
}

}  // namespace gsort::gpu
