// The fingerprint of a multiset of keys: the same for any order of the same keys, and almost
// certainly different for any other multiset. gsort adds it up over the raw keys it reads and over
// the raw keys it writes; equality shows that no key was lost, doubled or changed, also not by key
// maps.
//
// Every key enters two sums modulo 2^64, each through a one-to-one mixing of 64 bits with constants
// of its own (products with odd numbers, between which each half is mixed into the other):
//
//   x = key ^ offset;  x *= a;  x ^= x >> 32;  x *= b;  x ^= x >> 32
//
// Missed changes. Because a mixing is one-to-one, a single key that changes always changes both
// sums. For changes of two keys and more, the mixed keys behave as independent random numbers: each
// sum misses a change with probability 2^-64, and both miss it together with 2^-128, whatever the
// change is (tests/unit/element/fingerprint_test.cpp measures that on structured changes). This
// holds for faults. The constants are fixed, so that fingerprints of different sorts can be
// compared; so it does not protect against a person who constructs keys with the same fingerprint.
//
// Keys of 128 bits enter the sums as records do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/host_device.hpp"
#include "element/key.hpp"

namespace gsort {

struct Fingerprint {
  std::uint64_t count = 0;   // keys
  std::uint64_t first = 0;   // sum of the first mixing, modulo 2^64
  std::uint64_t second = 0;  // sum of the second mixing, modulo 2^64

  Fingerprint& operator+=(const Fingerprint& other) {
    count += other.count;
    first += other.first;
    second += other.second;
    return *this;
  }
  // Removes keys. Requires: they are among the keys of this one.
  Fingerprint& operator-=(const Fingerprint& other) {
    count -= other.count;
    first -= other.first;
    second -= other.second;
    return *this;
  }
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

namespace fingerprint {

// The constants of a mixing: random bits. The factors are odd, so that products modulo 2^64 are
// one-to-one.
struct Mixing {
  std::uint64_t offset;
  std::uint64_t a;
  std::uint64_t b;
};

inline constexpr Mixing kFirst = {0x5851f42d4c957f2dULL, 0xd6e8feb86659fd93ULL,
                                  0xbf58476d1ce4e5b9ULL};
inline constexpr Mixing kSecond = {0x14057b7ef767814fULL, 0x9e3779b97f4a7c15ULL,
                                   0xff51afd7ed558ccdULL};

// One-to-one for each mixing. Keys of 32 bits and less take the lower halves of offset and a: their
// first product is one of 32 bits, which vector units have, and cannot wrap.
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t mixed(Key key, const Mixing& mixing) {
  std::uint64_t x = key;
  if constexpr (sizeof(Key) == 8) {
    x = (x ^ mixing.offset) * mixing.a;
  } else {
    x = (x ^ static_cast<std::uint32_t>(mixing.offset)) * static_cast<std::uint32_t>(mixing.a);
  }
  x ^= x >> 32;
  x *= mixing.b;
  return x ^ (x >> 32);
}

template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Fingerprint of_key(Key key) {
  return {1, mixed(key, kFirst), mixed(key, kSecond)};
}
[[nodiscard]] Fingerprint of_key(UInt128 key);

template <class Key>
GSORT_HOST_DEVICE constexpr void add_key(Key key, Fingerprint& to) {
  ++to.count;
  to.first += mixed(key, kFirst);
  to.second += mixed(key, kSecond);
}

}  // namespace fingerprint

// The fingerprint of raw keys of `key_bytes` (1, 2, 4, 8 or 16) each, vectorised.
// Requires: the size is a multiple of key_bytes.
[[nodiscard]] Fingerprint fingerprint_of(std::span<const std::byte> raw_keys,
                                         std::size_t key_bytes);

// The fingerprint of records of `record_bytes` each: of each record's XXH3-128, the lower half
// enters the first sum, the upper half the second. Records of 1, 2, 4 or 8 bytes have the
// fingerprint of keys of that size, because records that consist only of key bytes are sorted as
// keys (ElementFormat::as_keys). Requires: the size is a multiple of record_bytes.
[[nodiscard]] Fingerprint fingerprint_of_records(std::span<const std::byte> records,
                                                 std::size_t record_bytes);

// The fingerprint of arrays that are sorted separately.
struct ArraysFingerprint {
  Fingerprint all;             // of all elements
  std::uint64_t by_array = 0;  // changes with elements that move from one array to another

  friend bool operator==(const ArraysFingerprint&, const ArraysFingerprint&) = default;
};

// Adds the array with that number, and fingerprint, to those that are in `to`.
void add_array(std::uint64_t number, const Fingerprint& array, ArraysFingerprint& to);

// "n:first:second" in hexadecimal, for reports; equal strings mean equal fingerprints.
[[nodiscard]] std::string to_string(const Fingerprint& fingerprint);

// The fingerprint for which to_string() returns this text; none for any other text.
[[nodiscard]] std::optional<Fingerprint> parse_fingerprint(std::string_view text);

}  // namespace gsort
