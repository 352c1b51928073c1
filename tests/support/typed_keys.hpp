// The key types that are C++ numbers, for typed suites, and keys of these types with the result of
// std::sort.
#pragma once

#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "library/key_types.hpp"
#include "support/sorted_copy.hpp"

namespace gsort::test {

template <class... Keys>
::testing::Types<Keys...> types_of(std::tuple<Keys...>);

template <bool kTaken, class Key>
using OneOrNone = std::conditional_t<kTaken, std::tuple<Key>, std::tuple<>>;

#define GSORT_ONE(type, name, Key, fold) , std::tuple<Key>()
#define GSORT_ONE_IF_WIDE(type, name, Key, fold) , OneOrNone<sizeof(Key) >= 4, Key>()
using KeyTypes = decltype(types_of(std::tuple_cat(std::tuple<>() GSORT_NUMBER_TYPES(GSORT_ONE))));
// The types of the device.
using WideKeyTypes =
    decltype(types_of(std::tuple_cat(std::tuple<>() GSORT_NUMBER_TYPES(GSORT_ONE_IF_WIDE))));
#undef GSORT_ONE
#undef GSORT_ONE_IF_WIDE

// Counts that fit one piece, and counts that need several cores.
inline constexpr std::size_t kCounts[] = {0,  1,     2,      10,     32,      33,     64,
                                          65, 1'000, 16'383, 16'384, 131'072, 500'001};

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
