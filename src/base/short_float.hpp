// Floating-point numbers of 16 bits: f16 (IEEE 754 binary16, NumPy's float16) and bf16 (the upper
// half of a binary32, which has its range). No arithmetic: numbers are only read from text and
// printed as text.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace gsort {

template <unsigned kExponentBits>
struct ShortFloat {
  static constexpr unsigned kFractionBits = 15 - kExponentBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr std::uint16_t kSign = 0x8000;
  static constexpr std::uint16_t kInfinity = ((1U << kExponentBits) - 1) << kFractionBits;
  static constexpr std::uint16_t kQuiet = 1U << (kFractionBits - 1);

  std::uint16_t bits;

  // The same number, exactly; a NaN keeps only its sign.
  [[nodiscard]] float value() const {
    const unsigned magnitude = bits & 0x7fffU;
    const float sign = (bits & kSign) != 0 ? -1.0F : 1.0F;
    if (magnitude > kInfinity) return std::copysign(std::numeric_limits<float>::quiet_NaN(), sign);
    if (magnitude == kInfinity) return sign * std::numeric_limits<float>::infinity();
    const unsigned exponent = magnitude >> kFractionBits;
    const unsigned fraction = magnitude & ((1U << kFractionBits) - 1);
    const unsigned significand = exponent == 0 ? fraction : fraction | 1U << kFractionBits;
    const int power = exponent == 0 ? 1 : static_cast<int>(exponent);
    constexpr int kShift = kBias + static_cast<int>(kFractionBits);
    return sign * std::ldexp(static_cast<float>(significand), power - kShift);
  }

  // The nearest number, or of two equally near ones that with an even last bit, as in IEEE 754; a
  // NaN keeps only its sign. None if a number other than 0 would become 0, or a finite one
  // infinite.
  [[nodiscard]] static std::optional<ShortFloat> nearest(double number) {
    constexpr unsigned kDoubleFractionBits = 52;
    const std::uint16_t sign = std::signbit(number) ? kSign : 0;
    const auto signed_bits = [sign](std::uint64_t magnitude) {
      return ShortFloat{static_cast<std::uint16_t>(sign | magnitude)};
    };
    if (std::isnan(number)) return signed_bits(kInfinity | kQuiet);
    if (std::isinf(number)) return signed_bits(kInfinity);
    if (number == 0) return signed_bits(0);
    const auto raw = std::bit_cast<std::uint64_t>(std::abs(number));
    const int exponent = static_cast<int>(raw >> kDoubleFractionBits) - 1023 + kBias;
    if (exponent < -static_cast<int>(kFractionBits)) return std::nullopt;
    const std::uint64_t implicit = std::uint64_t{1} << kDoubleFractionBits;
    const std::uint64_t significand = (raw & (implicit - 1)) | implicit;
    const bool is_normal = exponent > 0;
    const unsigned shift = kDoubleFractionBits - kFractionBits +
                           (is_normal ? 0U : static_cast<unsigned>(1 - exponent));
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    const std::uint64_t odd = significand >> shift & 1U;
    const std::uint64_t rounded = (significand + half - 1 + odd) >> shift;
    // A carry out of the fraction increments the exponent, as it must.
    const std::uint64_t scale =
        is_normal ? (static_cast<std::uint64_t>(exponent) - 1) << kFractionBits : 0U;
    const std::uint64_t magnitude = scale + rounded;
    if (magnitude == 0 || magnitude >= kInfinity) return std::nullopt;
    return signed_bits(magnitude);
  }
};

using Float16 = ShortFloat<5>;
using BFloat16 = ShortFloat<8>;

template <class Value>
inline constexpr bool kIsShortFloat = false;
template <unsigned kExponentBits>
inline constexpr bool kIsShortFloat<ShortFloat<kExponentBits>> = true;

template <class Value>
inline constexpr bool kIsFloat = std::is_floating_point_v<Value> || kIsShortFloat<Value>;

// The number whose shortest text is that of `number`: the fewest digits from which it can be read
// back. A NaN keeps only its sign.
[[nodiscard]] float shortest(Float16 number);
[[nodiscard]] float shortest(BFloat16 number);

}  // namespace gsort

template <unsigned kExponentBits>
class std::numeric_limits<gsort::ShortFloat<kExponentBits>> {
  using Number = gsort::ShortFloat<kExponentBits>;

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  // As for the types of C++: 1 + digits * log10(2), and log10 of the greatest number, rounded.
  static constexpr int max_digits10 =
      2 + static_cast<int>((Number::kFractionBits + 1) * 30103 / 100000);
  static constexpr int max_exponent10 = (Number::kBias + 1) * 30103 / 100000;

  static constexpr Number lowest() { return {Number::kSign | (Number::kInfinity - 1)}; }
  static constexpr Number max() { return {Number::kInfinity - 1}; }
  static constexpr Number denorm_min() { return {1}; }
  static constexpr Number infinity() { return {Number::kInfinity}; }
  static constexpr Number quiet_NaN() { return {Number::kInfinity | Number::kQuiet}; }
};
