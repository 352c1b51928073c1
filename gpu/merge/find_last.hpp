// find_last: where a number stands in an ascending table, by bisection.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace gsort::gpu {

// The last i < count with first(i) <= value. Requires: first ascending, first(0) <= value, count >
// 0.
template <class First>
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t find_last(std::uint64_t count,
                                                                  std::uint64_t value,
                                                                  const First& first) {
  std::uint64_t low = 0;
  while (count - low > 1) {
    const std::uint64_t middle = low + (count - low) / 2;
    if (first(middle) <= value) {
      low = middle;
    } else {
      count = middle;
    }
  }
  return low;
}

}  // namespace gsort::gpu
