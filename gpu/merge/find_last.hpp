// find_last: where a number stands in an ascending table, by bisection.
#pragma once

#include "base/host_device.hpp"

namespace gsort::gpu {

// The last i < count with first(i) <= value. Requires: first ascending, first(0) <= value, count >
// 0. Numbers of 32 bits take half of the instructions.
template <class Index, class Value, class First>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Index find_last(Index count, Value value,
                                                          const First& first) {
  Index low = 0;
  while (count - low > 1) {
    const Index middle = low + (count - low) / 2;
    if (first(middle) <= value) {
      low = middle;
    } else {
      count = middle;
    }
  }
  return low;
}

}  // namespace gsort::gpu
