// The fingerprint of a multiset of keys: the same for any order of the same keys, different (but
// for chance, about 2^-64) for any other multiset. gsort adds it up over the raw keys it reads and
// over the raw keys it writes; equality proves that nothing was lost, doubled or changed, maps
// included.
//
// Each key x, zero-extended to 64 bits and xor-ed with a constant, is mixed without a carry path
// that a sum could cancel:
//   m = low(x) * kLow  xor  rotate32(high(x) * kHigh)         m ^= m >> 32 for keys of 32 bits and
//   less
// and enters two sums modulo 2^64: the sum of m, and the sum of low(m) * high(m). A plain sum
// misses errors that cancel, xor misses pairs of equal keys; a non-linear mix in two independent
// sums misses neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/host_device.hpp"

namespace gsort {

struct Fingerprint {
  std::uint64_t count = 0;    // keys
  std::uint64_t sum = 0;      // of m, modulo 2^64
  std::uint64_t product = 0;  // of low(m) * high(m), modulo 2^64

  Fingerprint& operator+=(const Fingerprint& other) {
    count += other.count;
    sum += other.sum;
    product += other.product;
    return *this;
  }
  // Takes away keys that are among those of this one.
  Fingerprint& operator-=(const Fingerprint& other) {
    count -= other.count;
    sum -= other.sum;
    product -= other.product;
    return *this;
  }
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

namespace fingerprint {

inline constexpr std::uint64_t kOffset = 0x5851f42d4c957f2dULL;
inline constexpr std::uint32_t kLow = 0x9e3779b1U;
inline constexpr std::uint32_t kHigh = 0x85ebca77U;

template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t mix(Key key) {
  if constexpr (sizeof(Key) == 8) {
    const std::uint64_t x = key ^ kOffset;
    const std::uint64_t high = (x >> 32) * kHigh;
    return (x & 0xffffffffU) * kLow ^ ((high << 32) | (high >> 32));
  } else {
    const std::uint64_t m =
        std::uint64_t{static_cast<std::uint32_t>(key) ^ static_cast<std::uint32_t>(kOffset)} * kLow;
    return m ^ (m >> 32);
  }
}

template <class Key>
GSORT_HOST_DEVICE constexpr void add_key(Key key, std::uint64_t& sum, std::uint64_t& product) {
  const std::uint64_t m = mix(key);
  sum += m;
  product += (m & 0xffffffffU) * (m >> 32);
}

}  // namespace fingerprint

// The fingerprint of raw keys of `key_bytes` (1, 2, 4 or 8) each, vectorised.
// Requires: the size is a multiple of key_bytes.
[[nodiscard]] Fingerprint fingerprint_of(std::span<const std::byte> raw_keys,
                                         std::size_t key_bytes);

// The fingerprint of records of `record_bytes` each: of each record's XXH3-128, the lower half
// enters the sum, the upper half the product. Requires: the size is a multiple of record_bytes.
[[nodiscard]] Fingerprint fingerprint_of_records(std::span<const std::byte> records,
                                                 std::size_t record_bytes);

// "n:sum:product" in hexadecimal, for reports; equal strings mean equal fingerprints.
[[nodiscard]] std::string to_string(const Fingerprint& fingerprint);

}  // namespace gsort
