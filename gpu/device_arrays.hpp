// Cuts one scratch allocation into arrays, each aligned as cudaMalloc would. Run once with no
// memory, it tells how much is needed; run again on the memory, it gives the same arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/units.hpp"
#include "gpu/merge_pass.hpp"

namespace gsort::gpu {

inline constexpr std::size_t kScratchAlignment = 256;

// Throws: Error(kUsage) for more than kMaxSortedKeys `elements`.
inline void require_count(std::uint64_t count, std::string_view operation,
                          std::string_view elements = "keys") {
  if (count <= kMaxSortedKeys) return;
  throw Error(
      ErrorKind::kUsage, std::string(operation),
      "more than " + format_count(kMaxSortedKeys) + " " + std::string(elements) + " in one call");
}

class ScratchCutter {
 public:
  explicit ScratchCutter(void* memory) : memory_(static_cast<std::byte*>(memory)) {}

  // The next array of `count` T; nullptr when there is no memory.
  template <class T>
  [[nodiscard]] T* take(std::uint64_t count) {
    std::byte* const place = memory_ == nullptr ? nullptr : memory_ + used_bytes_;
    used_bytes_ += round_up(count * sizeof(T), kScratchAlignment);
    return reinterpret_cast<T*>(place);
  }

  [[nodiscard]] std::size_t used_bytes() const { return used_bytes_; }

 private:
  std::byte* memory_;
  std::size_t used_bytes_ = 0;
};

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
