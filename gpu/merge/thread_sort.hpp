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

// The same of words of 64 bits, half by half.
__device__ inline std::uint64_t thread_other_of(std::uint64_t first, std::uint64_t second,
                                                std::uint64_t other) {
  const auto upper = [](std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); };
  const auto lower = [](std::uint64_t word) { return static_cast<std::uint32_t>(word); };
  return std::uint64_t{thread_other_of(upper(first), upper(second), upper(other))} << 32 |
         thread_other_of(lower(first), lower(second), lower(other));
}

// The lesser of two, as PTX: from C++ the compiler makes two comparisons, one for each half.
__device__ inline std::uint64_t thread_lesser(std::uint64_t first, std::uint64_t second) {
  std::uint64_t least = 0;
  asm("{\n\t"
      ".reg .pred swap;\n\t"
      "setp.lt.u64 swap, %2, %1;\n\t"
      "selp.b64 %0, %2, %1, swap;\n\t"
      "}"
      : "=l"(least)
      : "l"(first), "l"(second));
  return least;
}

// Exchanges words of 128 bits, if `swap`.
template <class Word>
__device__ void thread_exchange_if(bool swap, Word& first, Word& second) {
  const auto half = [](Word word, unsigned shift) {
    return static_cast<std::uint64_t>(word >> shift);
  };
  const std::uint64_t lower = half(swap ? second : first, 0);
  const std::uint64_t upper = half(swap ? second : first, 64);
  second = static_cast<Word>(thread_other_of(half(first, 64), half(second, 64), upper)) << 64 |
           thread_other_of(half(first, 0), half(second, 0), lower);
  first = static_cast<Word>(upper) << 64 | lower;
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
  } else if constexpr (sizeof(Key) == 8) {
    static_assert(std::is_unsigned_v<Key>);
    const Key least = thread_lesser(first, second);
    second = thread_other_of(first, second, least);
    first = least;
    return;
  } else if constexpr (kIsWide<Key>) {
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
// keys in order; every `sorted` neighbours are sorted already. Requires: both are powers of two.
template <class Visit>
constexpr void visit_batcher_pairs(std::size_t sorted, std::size_t count, Visit&& visit) {
  for (; sorted < count; sorted *= 2) {
    for (std::size_t distance = sorted; distance >= 1; distance /= 2) {
      for (std::size_t begin = distance % sorted; begin + distance < count; begin += 2 * distance) {
        for (std::size_t i = begin; i < begin + distance && i + distance < count; ++i) {
          if (i / (2 * sorted) == (i + distance) / (2 * sorted)) visit(i, i + distance);
        }
      }
    }
  }
}

[[nodiscard]] constexpr std::size_t batcher_pair_count(std::size_t count, std::size_t sorted = 1) {
  std::size_t pairs = 0;
  visit_batcher_pairs(sorted, count, [&](std::size_t, std::size_t) { ++pairs; });
  return pairs;
}

template <std::size_t kCount, std::size_t kSorted>
[[nodiscard]] constexpr auto batcher_pairs() {
  std::array<ComparatorPair, batcher_pair_count(kCount, kSorted)> pairs{};
  std::size_t next = 0;
  visit_batcher_pairs(kSorted, kCount, [&](std::size_t i, std::size_t j) {
    pairs[next++] = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(j)};
  });
  return pairs;
}

template <std::size_t kCount, std::size_t kSorted = 1>
inline constexpr auto kBatcherPairs = batcher_pairs<kCount, kSorted>();

// Sorts keys ascending, of which every kSorted neighbours are sorted already. Requires: kCount and
// kSorted are powers of two.
template <std::size_t kSorted = 1, class Key, std::size_t kCount>
GSORT_HOST_DEVICE constexpr void thread_sort(Key (&keys)[kCount]) {
  static_assert((kCount & (kCount - 1)) == 0 && (kSorted & (kSorted - 1)) == 0);
  static_for<batcher_pair_count(kCount, kSorted)>([&](auto index) {
    constexpr ComparatorPair kPair = kBatcherPairs<kCount, kSorted>[decltype(index)::value];
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
