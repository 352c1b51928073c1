// wide_co_rank: element/co_rank.hpp by a team of lanes, 32 say, for runs in device memory.
//
// Problem. Bisection reads one pair of keys a step, and each step waits for the one before it: 14
// waits for runs of 2^14 keys, each as long as a read of the L2 cache or of device memory takes.
//
// Idea. The lanes try 32 places of the window at once. "The element of A at this place is among the
// first d" is true for the places before the co-rank and false from there on, so the number of
// lanes that say yes tells which 32nd of the window holds it: five bisections for one wait.
//
// Example. Window [0, 64), co-rank 21: lane l tries the place 2 l; lanes 0 .. 10 (places 0 .. 20)
// say yes; the window is now [21, 22), and lane 0 alone tries 21, says no: 21.
//
// Cost. About log2(window) / 5 + 1 rounds of two reads a lane.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace gsort::gpu {

// The lanes on the CPU, one after the other.
template <unsigned kLanes>
struct SerialLanes {
  static constexpr unsigned kCount = kLanes;

  // How many of the lanes answer yes.
  template <class Question>
  [[nodiscard]] constexpr unsigned count(const Question& question) const {
    unsigned yes = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) yes += question(lane) ? 1U : 0U;
    return yes;
  }
};

// The co-rank of position d of merge(a, b): how many of the first d keys come from a, ties from a
// first. `a` and `b` are anything that operator[] reads keys from. Requires: a[0, a_count) and b[0,
// b_count) ascending; d <= a_count + b_count < 2^59.
template <class Lanes, class Keys>
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t wide_co_rank(const Lanes& lanes,
                                                                     std::uint64_t d, Keys a,
                                                                     std::uint64_t a_count, Keys b,
                                                                     std::uint64_t b_count) {
  std::uint64_t low = d > b_count ? d - b_count : 0;
  std::uint64_t high = d < a_count ? d : a_count;
  while (low < high) {
    const std::uint64_t width = high - low;
    const unsigned tries = width < Lanes::kCount ? static_cast<unsigned>(width) : Lanes::kCount;
    const auto place = [=](unsigned lane) {
      return width < Lanes::kCount ? low + lane : low + lane * width / Lanes::kCount;
    };
    const unsigned yes = lanes.count([&](unsigned lane) {
      if (lane >= tries) return false;
      const std::uint64_t i = place(lane);
      return !(b[d - 1 - i] < a[i]);
    });
    const std::uint64_t next_low = yes == 0 ? low : place(yes - 1) + 1;
    high = yes < tries ? place(yes) : high;
    low = next_low;
  }
  return low;
}

}  // namespace gsort::gpu
