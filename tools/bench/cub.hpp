// CUB's contenders, each queued on the default stream. CUB's rate depends on its version and on the
// type of its counts, so every contender exists for both types, and for two versions: the toolkit's
// and, if the build found it, the newest release (from tools/setup --newest-cub). The best of these
// is the rival. CUB's namespace names its version, so that one program can hold both; each
// contender has its own .cu file, since they take long to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench/contender.hpp"

namespace gsort::bench {

struct ToolkitCub {};
struct NewestCub {};

// Such as "3.0.1".
template <class Cub>
[[nodiscard]] std::string cub_version();

// Calls f(Cub{}) for each version in this build.
template <class F>
void for_each_cub(const F& f) {
  f(ToolkitCub{});
#ifdef GSORT_HAS_NEWEST_CUB
  f(NewestCub{});
#endif
}

// Calls f(Cub{}, Count{}) for each version and each type of count that can hold `count`.
template <class F>
void for_each_cub_and_count(std::uint64_t count, const F& f) {
  for_each_cub([&](auto cub) {
    if (count < std::uint64_t{1} << 31) f(cub, std::uint32_t{});
    f(cub, std::uint64_t{});
  });
}

// "cub 3.0.1 radix sort", a sort of "cub radix sort".
template <class Cub>
[[nodiscard]] Contender cub_contender(const std::string& algorithm) {
  return {"cub " + cub_version<Cub>() + " " + algorithm, "cub " + algorithm};
}

// "cub 3.0.1 radix sort, 32-bit counts", a sort of "cub radix sort".
template <class Cub, class Count>
[[nodiscard]] Contender cub_contender(const std::string& algorithm) {
  Contender contender = cub_contender<Cub>(algorithm);
  contender.name += sizeof(Count) == 4 ? ", 32-bit counts" : ", 64-bit counts";
  return contender;
}

// Memory that any of these may need for `bytes` of keys and values together. Too little is an
// Error.
struct CubScratch {
  void* memory;
  std::size_t bytes;
};
[[nodiscard]] constexpr std::size_t cub_scratch_bytes(std::uint64_t bytes) {
  return bytes + bytes / 4 + (std::size_t{64} << 20);
}

// Keys of 32 and 64 bits.
template <class Cub, class Count, class Key>
void cub_radix_sort(const Key* in, Key* out, std::uint64_t count, CubScratch scratch);
template <class Cub, class Count, class Key>
void cub_merge_sort(const Key* in, Key* out, std::uint64_t count, CubScratch scratch);
// Knows counts of 64 bits only.
template <class Cub, class Key>
void cub_merge(const Key* a, std::uint64_t a_count, const Key* b, std::uint64_t b_count, Key* out,
               CubScratch scratch);

// Arrays of u32 keys, back to back. `offsets` (device memory) holds where each begins, and the end.
template <class Offset>
struct CubArrays {
  const std::uint32_t* in;
  std::uint32_t* out;
  std::uint64_t total;
  std::uint64_t arrays;
  const Offset* offsets;
};
template <class Cub, class Offset>
void cub_segmented_sort(const CubArrays<Offset>& arrays, CubScratch scratch);
template <class Cub, class Offset>
void cub_segmented_radix_sort(const CubArrays<Offset>& arrays, CubScratch scratch);

// Pairs of u32 keys with u32 values, or of u64 keys with either; the merge and the segmented sorts
// also take u32 keys with u64 values. All are stable.
template <class Key, class Value>
struct CubPairs {
  const Key* keys_in;
  const Value* values_in;
  Key* keys_out;
  Value* values_out;
  std::uint64_t count;
};
template <class Cub, class Count, class Key, class Value>
void cub_radix_sort_pairs(const CubPairs<Key, Value>& pairs, CubScratch scratch);
template <class Cub, class Count, class Key, class Value>
void cub_merge_sort_pairs(const CubPairs<Key, Value>& pairs, CubScratch scratch);
// Merges the first half and the second half, each sorted.
template <class Cub, class Key, class Value>
void cub_merge_pairs(const CubPairs<Key, Value>& pairs, CubScratch scratch);

// The arrays of pairs. `offsets` is as in CubArrays.
template <class Offset>
struct CubSegments {
  std::uint64_t count;
  const Offset* offsets;
};
template <class Cub, class Offset, class Key, class Value>
void cub_segmented_sort_pairs(const CubPairs<Key, Value>& pairs,
                              const CubSegments<Offset>& segments, CubScratch scratch);
template <class Cub, class Offset, class Key, class Value>
void cub_segmented_radix_sort_pairs(const CubPairs<Key, Value>& pairs,
                                    const CubSegments<Offset>& segments, CubScratch scratch);

}  // namespace gsort::bench
