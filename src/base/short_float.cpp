#include "base/short_float.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <vector>

#include "base/made_once.hpp"

namespace gsort {
namespace {

template <class Number>
float find_shortest(Number number) {
  const float value = number.value();
  if (!std::isfinite(value)) return value;
  std::array<char, 64> text{};
  char* const end = text.data() + text.size();
  for (int digits = 1; digits <= std::numeric_limits<Number>::max_digits10; ++digits) {
    const auto written =
        std::to_chars(text.data(), end, value, std::chars_format::scientific, digits - 1);
    double read = 0;
    std::from_chars(text.data(), written.ptr, read);
    const auto nearest = Number::nearest(read);
    if (nearest && nearest->bits == number.bits) return static_cast<float>(read);
  }
  return value;
}

// Finds the shortest form of every number in advance: a search takes longer than writing a line.
template <class Number>
std::vector<float> find_all() {
  constexpr std::size_t kCount = std::size_t{1} << 16;
  std::vector<float> all;
  all.reserve(kCount);
  for (std::size_t bits = 0; bits < kCount; ++bits) {
    all.push_back(find_shortest(Number{static_cast<std::uint16_t>(bits)}));
  }
  return all;
}

}  // namespace

float shortest(Float16 number) {
  return made_once([] { return find_all<Float16>(); })[number.bits];
}

float shortest(BFloat16 number) {
  return made_once([] { return find_all<BFloat16>(); })[number.bits];
}

}  // namespace gsort
