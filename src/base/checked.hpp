// Sums and products of numbers from outside: options, headers, manifests, sizes of files, facts
// from the kernel. They never wrap.
//
// If 64 bits cannot hold a number that is needed, checked_sum() and checked_product() throw. For
// limits, free space and numbers that are only compared with these, capped_sum() and
// capped_product() return the greatest number instead.
//
// Most numbers are bounded once, where they are read: elements by what a file can hold. After that,
// plain arithmetic cannot overflow, and the preset `overflow` checks it.
#pragma once

#include <cstdint>
#include <limits>

namespace gsort {

// The size of the largest possible file: offsets are signed numbers of 64 bits.
inline constexpr std::uint64_t kMostFileBytes = std::numeric_limits<std::int64_t>::max();

// Throws: Error(kResource).
[[noreturn]] void throw_beyond_counting();

// Throws: Error(kResource) if the sum needs more than 64 bits.
[[nodiscard]] constexpr std::uint64_t checked_sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw_beyond_counting();
  return sum;
}

// Throws: as checked_sum.
[[nodiscard]] constexpr std::uint64_t checked_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw_beyond_counting();
  return product;
}

[[nodiscard]] constexpr std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

[[nodiscard]] constexpr std::uint64_t capped_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max()
                                                : product;
}

}  // namespace gsort
