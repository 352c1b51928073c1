// Arrays in device memory, as callers hand them over: how many elements one call takes, how much
// scratch memory is enough on any card, and how two arrays become runs of one input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/units.hpp"
#include "gpu/cuda/scratch.hpp"
#include "gpu/cuda/tuning.hpp"
#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

// Throws: Error(kUsage) for more than kMaxSortedKeys `elements`.
inline void require_count(std::uint64_t count, std::string_view operation,
                          std::string_view elements = "keys") {
  if (count <= kMaxSortedKeys) return;
  throw Error(
      ErrorKind::kUsage, std::string(operation),
      "more than " + format_count(kMaxSortedKeys) + " " + std::string(elements) + " in one call");
}

// The most that bytes(architecture) is on any card.
template <class Bytes>
[[nodiscard]] std::size_t most_on_any_card(const Bytes& bytes) {
  std::size_t most = 0;
  for (const TuningRow& row : kTunings) {
    most = std::max<std::size_t>(most, bytes(row.architecture));
  }
  return most;
}

// How far b lies behind a, in elements. Should it lie before a, a number so large that the address
// a + number wraps around and is b: a kernel that counts from `a` reaches `b` either way. Requires:
// both aligned to sizeof(T).
template <class T>
[[nodiscard]] std::uint64_t elements_between(const T* a, const T* b) {
  return (reinterpret_cast<std::uintptr_t>(b) - reinterpret_cast<std::uintptr_t>(a)) / sizeof(T);
}

// Two arrays as runs of one input, which begins at `a`, or at `b` if `a` is empty: an empty array
// may have no address.
template <class T>
[[nodiscard]] TwoRuns two_runs_of(const T* a, std::uint64_t a_count, const T* b,
                                  std::uint64_t b_count) {
  return {0, a_count, a_count > 0 && b_count > 0 ? elements_between(a, b) : 0, b_count};
}

}  // namespace gsort::gpu
