// The C++ types that keys stand for, where their values matter: decimal text, messages.
#pragma once

#include <cstdint>
#include <type_traits>

#include "element/key.hpp"

namespace gsort {

// The unsigned number that holds a value's bits.
template <class Value>
using KeyOf = std::conditional_t<
    sizeof(Value) == 1, std::uint8_t,
    std::conditional_t<sizeof(Value) == 2, std::uint16_t,
                       std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>>>;

// Calls f(Value{}) with the C++ type of `type`: std::int16_t for kI16, double for kF64.
template <class F>
decltype(auto) with_value_of_type(KeyType type, F&& f) {
  switch (type) {
    case KeyType::kU8:
      return f(std::uint8_t{});
    case KeyType::kI8:
      return f(std::int8_t{});
    case KeyType::kU16:
      return f(std::uint16_t{});
    case KeyType::kI16:
      return f(std::int16_t{});
    case KeyType::kU32:
      return f(std::uint32_t{});
    case KeyType::kI32:
      return f(std::int32_t{});
    case KeyType::kU64:
      return f(std::uint64_t{});
    case KeyType::kI64:
    case KeyType::kTime64:
      return f(std::int64_t{});
    case KeyType::kF32:
      return f(float{});
    case KeyType::kF64:
      break;
  }
  return f(double{});
}

}  // namespace gsort
