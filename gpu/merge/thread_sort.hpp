// Sorting the keys that one thread holds in registers: compare-exchange, Batcher's network for any
// order, and the bitonic network for what the gather of block_merge.cuh leaves behind.
//
// A network is a fixed list of compare-exchanges, so it has no branches, and every index is a
// constant: the keys never leave their registers. The list is computed by the compiler and expanded
// by a fold; loops over it went to local memory although the compiler reported no spills.
//
// Cost for 32 keys: 191 compare-exchanges to sort (Batcher's odd-even merge sort), 80 to sort a
// bitonic sequence. One is two or three instructions for 32-bit keys and eight for 64-bit keys.
//
// Source. K. E. Batcher, "Sorting networks and their applications", AFIPS 1968,
// doi:10.1145/1468075.1468121.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/host_device.hpp"
#include "element/key.hpp"
#include "gpu/cuda/static_for.hpp"

namespace gsort::gpu {

// Which of the two ways to compare-exchange: with minima and selections alone, which all run in the
// integer pipe, or with one of the results as first + second - other, two products and sums that
// run in the multiplier pipe, which is idle otherwise. On the H200 the second way makes a merge
// level of 64-bit keys 1.15 times faster; for 32-bit keys half of each do best, 1.05 times.
enum class Comparator : std::uint8_t { kSelect, kMultiply };

#ifdef __CUDACC__
// In constant memory, or the compiler would turn products by one back into sums.
static __constant__ std::uint32_t kOpaqueOne = 1;
static __constant__ std::uint32_t kOpaqueMinusOne = 0xffffffffU;

// first + second - other, modulo 2^32.
__device__ inline std::uint32_t thread_other_of(std::uint32_t first, std::uint32_t second,
                                                std::uint32_t other) {
  return other * kOpaqueMinusOne + (first * kOpaqueOne + second);
}

// Exchanges words of 64 bits, or of 128, by 32-bit parts, if `swap`.
template <class Word>
__device__ void thread_exchange_if(bool swap, Word& first, Word& second) {
  using Half = std::conditional_t<sizeof(Word) == 16, std::uint64_t, std::uint32_t>;
  constexpr unsigned kHalfBits = 8 * sizeof(Half);
  auto first_low = static_cast<Half>(first);
  auto first_high = static_cast<Half>(first >> kHalfBits);
  auto second_low = static_cast<Half>(second);
  auto second_high = static_cast<Half>(second >> kHalfBits);
  if constexpr (sizeof(Word) == 16) {
    thread_exchange_if(swap, first_low, second_low);
    thread_exchange_if(swap, first_high, second_high);
  } else {
    const std::uint32_t low = swap ? second_low : first_low;
    const std::uint32_t high = swap ? second_high : first_high;
    second_low = thread_other_of(first_low, second_low, low);
    second_high = thread_other_of(first_high, second_high, high);
    first_low = low;
    first_high = high;
  }
  first = static_cast<Word>(first_high) << kHalfBits | first_low;
  second = static_cast<Word>(second_high) << kHalfBits | second_low;
}
#endif

// Puts the lesser key into `first`, the greater into `second`.
template <Comparator kComparator = Comparator::kSelect, class Key>
GSORT_HOST_DEVICE constexpr void thread_compare_exchange(Key& first, Key& second) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(Key) == 4 && kComparator == Comparator::kMultiply) {
    const Key least = min(first, second);
    second = thread_other_of(first, second, least);
    first = least;
    return;
  } else if constexpr (sizeof(Key) == 8 || kIsWide<Key>) {
    thread_exchange_if(second < first, first, second);  // one comparison of the whole
    return;
  }
#endif
  const Key least = second < first ? second : first;
  second = second < first ? first : second;
  first = least;
}

// Every other comparator of a network uses the multiplier.
[[nodiscard]] constexpr Comparator comparator_at(std::size_t index) {
  return index % 4 < 2 ? Comparator::kMultiply : Comparator::kSelect;
}

struct ComparatorPair {
  std::uint8_t first = 0;
  std::uint8_t second = 0;
};

// Calls visit(i, j), i < j, for the compare-exchanges of Batcher's odd-even merge sort of `count`
// keys in order. Requires: count is a power of two.
template <class Visit>
constexpr void visit_batcher_pairs(std::size_t count, Visit&& visit) {
  for (std::size_t sorted = 1; sorted < count; sorted *= 2) {
    for (std::size_t distance = sorted; distance >= 1; distance /= 2) {
      for (std::size_t begin = distance % sorted; begin + distance < count; begin += 2 * distance) {
        for (std::size_t i = begin; i < begin + distance && i + distance < count; ++i) {
          if (i / (2 * sorted) == (i + distance) / (2 * sorted)) visit(i, i + distance);
        }
      }
    }
  }
}

[[nodiscard]] constexpr std::size_t batcher_pair_count(std::size_t count) {
  std::size_t pairs = 0;
  visit_batcher_pairs(count, [&](std::size_t, std::size_t) { ++pairs; });
  return pairs;
}

template <std::size_t kCount>
[[nodiscard]] constexpr std::array<ComparatorPair, batcher_pair_count(kCount)> batcher_pairs() {
  std::array<ComparatorPair, batcher_pair_count(kCount)> pairs{};
  std::size_t next = 0;
  visit_batcher_pairs(kCount, [&](std::size_t i, std::size_t j) {
    pairs[next++] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(j)};
  });
  return pairs;
}

template <std::size_t kCount>
inline constexpr auto kBatcherPairs = batcher_pairs<kCount>();

// Sorts keys ascending. Requires: kCount is a power of two.
template <class Key, std::size_t kCount>
GSORT_HOST_DEVICE constexpr void thread_sort(Key (&keys)[kCount]) {
  static_assert((kCount & (kCount - 1)) == 0);
  static_for<batcher_pair_count(kCount)>([&](auto index) {
    constexpr ComparatorPair kPair = kBatcherPairs<kCount>[decltype(index)::value];
    constexpr Comparator kComparator = comparator_at(decltype(index)::value);
    thread_compare_exchange<kComparator>(keys[kPair.first], keys[kPair.second]);
  });
}

// Compares all pairs at `kDistance`, then at half of it, and so on to 1.
template <std::size_t kDistance, class Key, std::size_t kCount>
GSORT_HOST_DEVICE constexpr void thread_bitonic_steps(Key (&keys)[kCount]) {
  static_for<kCount / 2>([&](auto index) {
    constexpr std::size_t kPair = decltype(index)::value;
    constexpr std::size_t kFirst = kPair / kDistance * 2 * kDistance + kPair % kDistance;
    thread_compare_exchange<comparator_at(kPair)>(keys[kFirst], keys[kFirst + kDistance]);
  });
  if constexpr (kDistance > 1) thread_bitonic_steps<kDistance / 2>(keys);
}

// Sorts a bitonic sequence ascending: one that ascends, then descends, or any rotation of such a
// one. Requires: kCount is a power of two.
template <class Key, std::size_t kCount>
GSORT_HOST_DEVICE constexpr void thread_sort_bitonic(Key (&keys)[kCount]) {
  static_assert((kCount & (kCount - 1)) == 0);
  if constexpr (kCount > 1) thread_bitonic_steps<kCount / 2>(keys);
}

}  // namespace gsort::gpu
