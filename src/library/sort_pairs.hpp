// Stable sorts of pairs in host memory, and the indices that sort keys, on all cores. Pair i is
// keys[i] with values[i]; a value is anything of 4 or 8 bytes, and is moved unchanged.
//
//   std::vector<float> prices = ...;
//   std::vector<std::uint32_t> numbers = ...;
//   gsort::sort_pairs<float, std::uint32_t>(prices, numbers, gsort::Order::kDescending);
//   gsort::argsort_keys<float, std::uint32_t>(prices, numbers);
//
// The order is that of sort_keys.hpp, but equal floats (-0 and +0, two NaN) keep their order, as
// all pairs of equal keys do.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#include "library/sort_keys.hpp"

namespace gsort {

// The library has code for values of these types. Other values of 4 or 8 bytes (PairMoved) are
// moved as the one of their size.
template <class Value>
concept PairWord = std::same_as<Value, std::uint32_t> || std::same_as<Value, std::uint64_t>;
template <class Value>
concept PairMoved = !PairWord<Value> && std::is_trivially_copyable_v<Value> &&
                    (sizeof(Value) == 4 || sizeof(Value) == 8) && alignof(Value) == sizeof(Value);

// Types of indices.
template <class Index>
concept PairIndex =
    PairWord<Index> || std::same_as<Index, std::int32_t> || std::same_as<Index, std::int64_t>;

template <class Value>
using WordOf = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;

// Sorts in place. `threads` is as in sort_keys. Takes memory for a copy of the keys and the values,
// unless they are at most 64, and about 2.5 MiB for each core. Thread-safe on disjoint memory.
// Requires: keys and values do not overlap.
// Throws: Error(kResource), with keys and values unchanged, if memory cannot be allocated;
// Error(kUsage) if there are not as many values as keys, and for too many threads.
template <SortableKey Key, PairWord Value>
void sort_pairs(std::span<Key> keys, std::span<Value> values, Order order = Order::kAscending,
                unsigned threads = 0);

// The same for other types of values.
template <SortableKey Key, PairMoved Value>
void sort_pairs(std::span<Key> keys, std::span<Value> values, Order order = Order::kAscending,
                unsigned threads = 0) {
  using Word = WordOf<Value>;
  sort_pairs<Key, Word>(keys, {reinterpret_cast<Word*>(values.data()), values.size()}, order,
                        threads);
}

// Writes the indices, from 0 on, that sort the keys; those of equal keys ascend. `threads` is as in
// sort_keys. Takes memory for a copy of the keys and the indices, unless they are at most 64, and
// about 2.5 MiB for each core; if many keys are equal, also for up to one more copy of the keys.
// Requires and throws: as sort_pairs, but after Error(kResource) the indices are undefined;
// Error(kUsage), too, if the last index does not fit an Index.
template <SortableKey Key, PairIndex Index>
void argsort_keys(std::span<const Key> keys, std::span<Index> indices,
                  Order order = Order::kAscending, unsigned threads = 0);

}  // namespace gsort
