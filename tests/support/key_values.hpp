// The values of keys of each type, as C++ types, and their order: by value, with -0 equal to 0, and
// all NaN equal and last. The list belongs to the tests and shares nothing with gsort.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

namespace gsort::test {

// A time, or none (NumPy's NaT), which comes last.
struct Time64 {
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

  std::int64_t count;

  friend bool operator==(Time64, Time64) = default;
  friend std::strong_ordering operator<=>(Time64 left, Time64 right) {
    if ((left.count == kNone) != (right.count == kNone)) {
      return left.count == kNone ? std::strong_ordering::greater : std::strong_ordering::less;
    }
    return left.count <=> right.count;
  }
};

// Numbers of 16 bits, as the floats that have the same sign and payload.
template <unsigned kExponentBits>
struct Short {
  static constexpr std::uint16_t kUsualNan = 0x8000U - (1U << (14 - kExponentBits));

  std::uint16_t bits;

  [[nodiscard]] float value() const {
    constexpr unsigned kFractionBits = 15 - kExponentBits;
    const unsigned exponent = (bits & 0x7fffU) >> kFractionBits;
    const unsigned fraction = bits & ((1U << kFractionBits) - 1);
    const auto sign = std::uint32_t{bits & 0x8000U} << 16;
    if (exponent == (1U << kExponentBits) - 1) {
      return std::bit_cast<float>(sign | 0x7f800000U | fraction << (23 - kFractionBits));
    }
    const double significand = fraction + (exponent == 0 ? 0.0 : std::exp2(kFractionBits));
    const double power =
        std::max(1, static_cast<int>(exponent)) - std::exp2(kExponentBits - 1) + 1 - kFractionBits;
    const auto magnitude = static_cast<float>(significand * std::exp2(power));
    return sign == 0 ? magnitude : -magnitude;
  }
  friend bool operator==(Short, Short) = default;
};

__extension__ typedef unsigned __int128 Unsigned128;  // NOLINT(modernize-use-using)
__extension__ typedef __int128 Signed128;             // NOLINT(modernize-use-using)

template <class Value>
struct NamedValue {
  std::string_view name;
};

template <class Value>
inline constexpr bool kIsFloating = std::is_floating_point_v<Value>;
template <unsigned kExponentBits>
inline constexpr bool kIsFloating<Short<kExponentBits>> = true;

template <class Value>
auto number_of(const Value& value) {
  if constexpr (requires { value.value(); }) {
    return value.value();
  } else {
    return value;
  }
}

template <class Value>
[[nodiscard]] std::weak_ordering compare_numbers(const Value& left, const Value& right) {
  if constexpr (kIsFloating<Value>) {
    const auto a = number_of(left);
    const auto b = number_of(right);
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) <=> std::isnan(b);
    return a < b   ? std::weak_ordering::less
           : b < a ? std::weak_ordering::greater
                   : std::weak_ordering::equivalent;
  } else {
    return left <=> right;
  }
}

// Gives a zero, or a NaN, the usual bits.
template <class Value>
void make_alike(Value& value) {
  if constexpr (std::is_floating_point_v<Value>) {
    if (value == 0) value = 0;
    if (std::isnan(value)) value = std::numeric_limits<Value>::quiet_NaN();
  } else if constexpr (kIsFloating<Value>) {
    const bool is_nan = std::isnan(value.value());
    if (value.value() == 0) value.bits = 0;
    if (is_nan) value.bits = Value::kUsualNan;
  }
}

// The order of keys without values: equal keys are ordered by their bits, negative zero first,
// negative NaN last.
template <class Value>
[[nodiscard]] std::strong_ordering compare_keys(const Value& left, const Value& right) {
  if constexpr (kIsFloating<Value>) {
    const auto order = compare_numbers(left, right);
    if (order != 0) return order < 0 ? std::strong_ordering::less : std::strong_ordering::greater;
    const auto a = number_of(left);
    const auto b = number_of(right);
    const bool are_nan = std::isnan(a);
    if (are_nan && std::signbit(a) != std::signbit(b)) return std::signbit(a) <=> std::signbit(b);
    return std::strong_order(a, b);
  } else {
    return left <=> right;
  }
}

inline constexpr std::tuple kNamedValues = {
    NamedValue<std::uint8_t>{"u8"},   NamedValue<std::int8_t>{"i8"},
    NamedValue<std::uint16_t>{"u16"}, NamedValue<std::int16_t>{"i16"},
    NamedValue<std::uint32_t>{"u32"}, NamedValue<std::int32_t>{"i32"},
    NamedValue<std::uint64_t>{"u64"}, NamedValue<std::int64_t>{"i64"},
    NamedValue<float>{"f32"},         NamedValue<double>{"f64"},
    NamedValue<Time64>{"time64"},     NamedValue<Short<5>>{"f16"},
    NamedValue<Short<8>>{"bf16"},     NamedValue<Unsigned128>{"u128"},
    NamedValue<Signed128>{"i128"}};

// Calls f(Value{}) with the C++ type of the key type of this name.
template <class F>
void with_value_named(std::string_view name, const F& f) {
  const auto call_if_named = [&]<class Value>(NamedValue<Value> named) {
    if (named.name == name) f(Value{});
    return named.name == name;
  };
  const bool is_known =
      std::apply([&](auto... named) { return (call_if_named(named) || ...); }, kNamedValues);
  if (!is_known) throw std::invalid_argument("tests do not know the type " + std::string(name));
}

}  // namespace gsort::test
