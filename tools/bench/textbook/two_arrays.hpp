// TwoArrays: the two sorted inputs of a merge, and what every merge of the textbook is asked.
// Counts and positions are 64 bits everywhere outside a tile.
// Read next: sequential_merge.hpp, co_rank_moving.hpp, merges.hpp.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace gsort::textbook {

// Both ascending; either may be empty, and its pointer null then.
template <class Key>
struct TwoArrays {
  const Key* a = nullptr;
  std::uint64_t a_count = 0;
  const Key* b = nullptr;
  std::uint64_t b_count = 0;

  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t total() const {
    return a_count + b_count;
  }
};

// The lesser of two, on the host and on the device.
template <class Number>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Number lesser(Number x, Number y) {
  return y < x ? y : x;
}

}  // namespace gsort::textbook
