// Words that stand for pairs while a block merges them: a whole key together with the pair's index
// in the tile. The value does not move until the tile is stored; the index tells then which one it
// is.
//
// Idea. A word is the number key << 13 | index: 45 bits for a u32 key, 77 for a u64 key. Indices
// count the tile's pairs in the order of the input, so words are distinct, and their order is the
// stable order of the pairs: networks and searches that compare whole words need not know about
// ties. Words that fill holes are all ones, and no pair's word is greater: so they end up behind
// all pairs, those with the greatest key too.
//
// Example, 3 bits of index: keys 5 2 5 are the words 5|0 2|1 5|2; sorted 2|1 5|0 5|2.
//
// At most 45 bits decide, or those and 32 more. As the bits of an IEEE double 45 bits are
// a positive denormal, and denormals compare and add as integers do, without rounding. So where the
// double-precision pipe is as wide as the integer pipe (sm_80, sm_90, sm_100), it compares, and
// makes the greater of two as their sum less the lesser, which the integer pipe selects.
//
// Cost of a compare-exchange there, in instructions of the integer, double and multiplier pipes
// (sm_90): narrow words 2 + 3 + 0, wide words 4 + 4 + 2. On other architectures (sm_86) narrow
// words 4 + 0 + 4, as u64 keys; wide words 3 + 0 + 9.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/host_device.hpp"
#include "gpu/merge/thread_sort.hpp"

namespace gsort::gpu {

inline constexpr unsigned kPairIndexBits = 13;
inline constexpr unsigned kMaxPairIndex = (1U << kPairIndexBits) - 1;  // also that of a fill

// The double whose bits are `number`. Its order is that of the numbers below 2^52, all denormals.
[[nodiscard]] GSORT_HOST_DEVICE constexpr double as_denormal_double(std::uint64_t number) {
  return std::bit_cast<double>(number);
}

// A u32 key and an index.
struct NarrowPairWord {
  using Key = std::uint32_t;

  std::uint64_t bits;

  [[nodiscard]] static GSORT_HOST_DEVICE constexpr NarrowPairWord of(Key key, unsigned index) {
    return {std::uint64_t{key} << kPairIndexBits | index};
  }
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr NarrowPairWord fill() {
    return of(~Key{0}, kMaxPairIndex);
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr Key key() const {
    return static_cast<Key>(bits >> kPairIndexBits);
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned index() const {
    return static_cast<unsigned>(bits) & kMaxPairIndex;
  }
  [[nodiscard]] friend GSORT_HOST_DEVICE constexpr bool operator<(NarrowPairWord a,
                                                                  NarrowPairWord b) {
    return a.bits < b.bits;
  }
};

// A u64 key and an index: the upper 45 of their 77 bits, and the lower 32.
struct WidePairWord {
  using Key = std::uint64_t;
  static constexpr unsigned kHighShift = 32 - kPairIndexBits;

  std::uint64_t high;
  std::uint32_t low;

  [[nodiscard]] static GSORT_HOST_DEVICE constexpr WidePairWord of(Key key, unsigned index) {
    return {key >> kHighShift, (static_cast<std::uint32_t>(key) << kPairIndexBits) + index};
  }
  [[nodiscard]] static GSORT_HOST_DEVICE constexpr WidePairWord fill() {
    return of(~Key{0}, kMaxPairIndex);
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr Key key() const {
    return high << kHighShift | low >> kPairIndexBits;
  }
  [[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned index() const { return low & kMaxPairIndex; }
  [[nodiscard]] friend GSORT_HOST_DEVICE constexpr bool operator<(WidePairWord a, WidePairWord b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
  }
};

template <class Key>
using PairWord = std::conditional_t<sizeof(Key) == 4, NarrowPairWord, WidePairWord>;

// Architectures, as 10 * major + minor, whose double-precision pipe is as wide as the integer pipe;
// on others it is many times narrower. gsort_offers_ptx_of_fast_doubles of
// tools/cmake/GsortCuda.cmake names the same ones.
[[nodiscard]] constexpr bool doubles_are_fast(unsigned architecture) {
  return architecture == 80 || architecture == 90 || architecture == 100;
}

// Decided when code is compiled, since the choice is in every compare-exchange. This is right for
// native code: a card runs the code of its own architecture, or of the next lower one with the same
// major number, and packages have both 80 and 86, and both 100 and 103. If other cards may run the
// PTX of an architecture with fast doubles, the build defines GSORT_PTX_FOR_OTHER_CARDS, and
// integers are compared.
#if defined(__CUDA_ARCH__) && !defined(GSORT_PTX_FOR_OTHER_CARDS)
inline constexpr bool kDoublesAreFast = doubles_are_fast(__CUDA_ARCH__ / 10);
#else
inline constexpr bool kDoublesAreFast = false;
#endif

// The lesser and the greater of two upper parts of words, by double precision, once it is known
// whether they swap. The greater is the sum less the lesser, without rounding; a move under a
// predicate would be one instruction less, but the compiler makes three of it.
struct DenormalPair {
  std::uint64_t least;
  std::uint64_t most;

  [[nodiscard]] static GSORT_HOST_DEVICE constexpr DenormalPair of(std::uint64_t a, std::uint64_t b,
                                                                   bool swap) {
    const double sum = as_denormal_double(a) + as_denormal_double(b);
    const double least = as_denormal_double(swap ? b : a);
    return {std::bit_cast<std::uint64_t>(least), std::bit_cast<std::uint64_t>(sum - least)};
  }
};

#ifdef __CUDACC__
// The same, and the comparison, as PTX: C++ would come out as more instructions and branches, and
// as several copies of the whole network.
__device__ inline void thread_exchange_by_doubles(NarrowPairWord& first, NarrowPairWord& second) {
  asm("{\n\t"
      ".reg .pred swap;\n\t"
      ".reg .b64 sum;\n\t"
      "add.rn.f64 sum, %0, %1;\n\t"
      "setp.lt.f64 swap, %1, %0;\n\t"
      "selp.b64 %0, %1, %0, swap;\n\t"
      "sub.rn.f64 %1, sum, %0;\n\t"
      "}"
      : "+l"(first.bits), "+l"(second.bits));
}

__device__ inline void thread_exchange_by_doubles(WidePairWord& first, WidePairWord& second) {
  std::uint32_t least_low;
  asm("{\n\t"
      ".reg .pred swap;\n\t"
      ".reg .b64 sum;\n\t"
      "add.rn.f64 sum, %0, %1;\n\t"
      "setp.lt.u32 swap, %4, %3;\n\t"
      "setp.eq.and.f64 swap, %1, %0, swap;\n\t"
      "setp.lt.or.f64 swap, %1, %0, swap;\n\t"
      "selp.b64 %0, %1, %0, swap;\n\t"
      "selp.b32 %2, %4, %3, swap;\n\t"
      "sub.rn.f64 %1, sum, %0;\n\t"
      "}"
      : "+l"(first.high), "+l"(second.high), "=&r"(least_low)
      : "r"(first.low), "r"(second.low));
  second.low = thread_other_of(first.low, second.low, least_low);
  first.low = least_low;
}

// Is a < b? One borrow through three halves, where C++ would compare them twice and branch.
__device__ inline bool thread_precedes(WidePairWord a, WidePairWord b) {
  std::uint32_t borrow;
  asm("{\n\t"
      ".reg .b32 difference;\n\t"
      "sub.cc.u32 difference, %1, %4;\n\t"
      "subc.cc.u32 difference, %2, %5;\n\t"
      "subc.cc.u32 difference, %3, %6;\n\t"
      "subc.u32 %0, 0, 0;\n\t"
      "}"
      : "=r"(borrow)
      : "r"(a.low), "r"(static_cast<std::uint32_t>(a.high)),
        "r"(static_cast<std::uint32_t>(a.high >> 32)), "r"(b.low),
        "r"(static_cast<std::uint32_t>(b.high)), "r"(static_cast<std::uint32_t>(b.high >> 32)));
  return borrow != 0;
}
#endif

// Puts the lesser word into `first`, the greater into `second`; see thread_sort.hpp.
template <Comparator kComparator = Comparator::kSelect>
GSORT_HOST_DEVICE constexpr void thread_compare_exchange(NarrowPairWord& first,
                                                         NarrowPairWord& second) {
#ifdef __CUDA_ARCH__
  if constexpr (kDoublesAreFast) {
    thread_exchange_by_doubles(first, second);
  } else {
    thread_compare_exchange<kComparator>(first.bits, second.bits);
  }
#else
  const auto pair = DenormalPair::of(first.bits, second.bits, second < first);
  first.bits = pair.least;
  second.bits = pair.most;
#endif
}

template <Comparator kComparator = Comparator::kSelect>
GSORT_HOST_DEVICE constexpr void thread_compare_exchange(WidePairWord& first,
                                                         WidePairWord& second) {
#ifdef __CUDA_ARCH__
  if constexpr (kDoublesAreFast) {
    thread_exchange_by_doubles(first, second);
    return;
  }
  const bool swap = thread_precedes(second, first);
#else
  const bool swap = second < first;
#endif
  const WidePairWord least = swap ? second : first;
  second = swap ? first : second;
  first = least;
}

}  // namespace gsort::gpu
