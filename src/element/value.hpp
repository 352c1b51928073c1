// The C++ types of keys, for code that needs their values: decimal text, messages.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "element/key.hpp"

namespace gsort {

// The unsigned number that holds a value's bits.
template <class Value>
using KeyOf = std::conditional_t<
    sizeof(Value) == 1, std::uint8_t,
    std::conditional_t<
        sizeof(Value) == 2, std::uint16_t,
        std::conditional_t<sizeof(Value) == 4, std::uint32_t,
                           std::conditional_t<sizeof(Value) == 8, std::uint64_t, UInt128>>>>;

// Calls f(Value{}) with the C++ type of `type`: std::int16_t for kI16, double for kF64.
template <class F>
decltype(auto) with_value_of_type(KeyType type, F&& f) {
  switch (type) {
#define GSORT_CASE(type, name, Value, fold) \
  case KeyType::type:                       \
    return f(Value{});
    GSORT_KEY_TYPES(GSORT_CASE)
#undef GSORT_CASE
  }
  __builtin_unreachable();
}

// The value as a number that fmt and std::to_chars can print.
template <class Value>
[[nodiscard]] auto printable(Value value) {
  if constexpr (kIsShortFloat<Value>) {
    return shortest(value);
  } else {
    return value;
  }
}

// Like std::from_chars, for numbers of 128 bits: the digits, then whether all of them fit.
template <class Value>
std::from_chars_result read_wide(const char* begin, const char* end, Value& value) {
  const bool negative = kIsSigned<Value> && begin != end && *begin == '-';
  const UInt128 most = kIsSigned<Value> ? (~UInt128{0} >> 1) + (negative ? 1U : 0U) : ~UInt128{0};
  const char* const first = begin + (negative ? 1 : 0);
  constexpr auto kFitting = std::numeric_limits<UInt128>::digits10;  // digits that always fit
  const char* at = first;
  UInt128 number = 0;
  bool fits = true;
  for (; at != end && *at >= '0' && *at <= '9'; ++at) {
    const auto digit = static_cast<unsigned>(*at - '0');
    fits = fits && (at - first < kFitting || number <= (most - digit) / 10);
    number = number * 10 + digit;
  }
  if (at == first) return {begin, std::errc::invalid_argument};
  if (!fits) return {at, std::errc::result_out_of_range};
  value = static_cast<Value>(negative ? UInt128{0} - number : number);
  return {at, std::errc()};
}

// Like std::from_chars. Numbers of 16 bits are read as double and rounded, as NumPy does.
template <class Value>
std::from_chars_result read_value(const char* begin, const char* end, Value& value) {
  if constexpr (kIsShortFloat<Value>) {
    double number = 0;
    std::from_chars_result result = std::from_chars(begin, end, number);
    if (result.ec != std::errc()) return result;
    if (const auto nearest = Value::nearest(number)) {
      value = *nearest;
    } else {
      result.ec = std::errc::result_out_of_range;
    }
    return result;
  } else if constexpr (kIsWide<Value>) {
    return read_wide(begin, end, value);
  } else {
    return std::from_chars(begin, end, value);
  }
}

}  // namespace gsort
