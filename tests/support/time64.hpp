// What a key of the type time64 stands for, for tests that sort values.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

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

}  // namespace gsort::test
