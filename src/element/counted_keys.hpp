// Keys with the number of times they occur, as files hold them: a raw key, then its count, a number
// of 64 bits in the byte order of the keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "element/fingerprint.hpp"

namespace gsort {

inline constexpr std::size_t kCountBytes = 8;

// Raw keys, and the count of each as a number of this machine. As many keys as counts.
struct CountedKeys {
  std::span<const std::byte> keys;
  std::size_t key_bytes = 0;
  std::span<const std::uint64_t> counts;

  [[nodiscard]] CountedKeys subspan(std::size_t begin, std::size_t size) const {
    return {keys.subspan(begin * key_bytes, size * key_bytes), key_bytes,
            counts.subspan(begin, size)};
  }
};

// Writes each key with its count behind it. Requires: room at `pairs` for all of them.
void join_counts(const CountedKeys& from, bool big_endian, std::byte* pairs);

// The inverse, for as many pairs as `counts` has room for. Requires: room at `keys` for their keys.
void split_counts(std::span<const std::byte> pairs, std::size_t key_bytes, bool big_endian,
                  std::byte* keys, std::span<std::uint64_t> counts);

// The fingerprint of all keys, each as often as its count says, less `but` times. Requires: no
// count is below `but`.
[[nodiscard]] Fingerprint fingerprint_of_counted(const CountedKeys& keys, std::uint64_t but = 0);

// The sum of the counts, less `but` for each.
[[nodiscard]] std::uint64_t sum_of_counts(const CountedKeys& keys, std::uint64_t but = 0);

}  // namespace gsort
