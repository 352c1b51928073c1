// The ten types of keys for typed suites, and keys of them with what std::sort makes of these.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "library/key_types.hpp"
#include "support/sorted_copy.hpp"

namespace gsort::test {

using KeyTypes =
    ::testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                     std::int32_t, std::uint64_t, std::int64_t, float, double>;

// As the device has them.
using WideKeyTypes =
    ::testing::Types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t, float, double>;

// Counts that fit one piece, and counts that take an engine on several cores.
inline constexpr std::size_t kCounts[] = {0, 1, 2, 1'000, 32'767, 32'768, 500'001};

template <class Key>
std::vector<Key> keys_of(const Bytes& bytes) {
  std::vector<Key> keys(bytes.size() / sizeof(Key));
  if (!keys.empty()) std::memcpy(keys.data(), bytes.data(), bytes.size());
  return keys;
}

template <class Key>
Bytes bytes_of_keys(std::span<const Key> keys) {
  const auto bytes = std::as_bytes(keys);
  return {bytes.begin(), bytes.end()};
}

}  // namespace gsort::test
