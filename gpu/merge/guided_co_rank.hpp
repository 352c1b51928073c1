// guided_co_rank: element/co_rank.hpp with few reads, for one thread and runs in device memory.
//
// Problem. A merge of two long arrays is cut at every tile's begin. Bisection reads one pair of
// keys a step, 28 of them for 2^28 keys; the first ten places are the same for all tiles, but the
// others are scattered, and memory serves scattered reads slowly.
//
// Idea. f(i) = a[i] - b[d - 1 - i] grows with i, and the co-rank is where it becomes positive. So
// the difference at a place tells about how far away that is, if one knows how much f grows from
// place to place: at first on the average of the whole arrays, then between the last two places.
// With random keys, a guess misses by the square root of the distance, so that three or four
// guesses come down from 2^28 to a few places; then the window is closed by growing strides and
// bisected, in memory that has just been read. Keys that mislead cost kMostGuesses reads before
// bisection does the rest.
//
// Example. a = 10 20 30 40, b = 12 21 33 45, d = 4: f grows by (30 + 33) / 3 = 21 a place. Begin at
// i = 2: f = a[2] - b[1] = 9 > 0, the co-rank is at most 2; 9 / 21 of a place further down lies
// i = 1: f = a[1] - b[2] = -13, so more than 1: it is 2.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace gsort::gpu {

inline constexpr unsigned kMostGuesses = 8;

// The places in which the co-rank is looked for: [low, high].
struct CoRankWindow {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  // The place nearest to `wanted` that may be looked at. Requires: low < high.
  [[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t clamped(double wanted) const {
    if (!(wanted > static_cast<double>(low))) return low;
    if (wanted >= static_cast<double>(high)) return high - 1;
    return static_cast<std::uint64_t>(wanted);
  }
};

template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr double signed_difference(Key x, Key y) {
  return x < y ? -static_cast<double>(y - x) : static_cast<double>(x - y);
}

// The co-rank of position d of merge(a, b): how many of the first d keys come from a, ties from a
// first. `a` and `b` are anything that operator[] reads unsigned numbers from.
// Requires: a[0, a_count) and b[0, b_count) ascending; d <= a_count + b_count < 2^52.
template <class A, class B>
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t guided_co_rank(std::uint64_t d, const A& a,
                                                                       std::uint64_t a_count,
                                                                       const B& b,
                                                                       std::uint64_t b_count) {
  CoRankWindow window{d > b_count ? d - b_count : 0, d < a_count ? d : a_count};
  double difference = 0;
  // Looks at a place; whether the co-rank lies behind it.
  const auto look_at = [&](std::uint64_t i) {
    const auto from_a = a[i];
    const auto from_b = b[d - 1 - i];
    difference = signed_difference(from_a, from_b);
    const bool is_behind = !(from_b < from_a);
    (is_behind ? window.low : window.high) = is_behind ? i + 1 : i;
    return is_behind;
  };

  constexpr std::uint64_t kNear = 4;
  if (window.high - window.low > 4 * kNear) {
    const auto keys = static_cast<double>(a_count + b_count);
    std::uint64_t place =
        window.clamped(static_cast<double>(d) * static_cast<double>(a_count) / keys);
    double growth = signed_difference(a[a_count - 1], a[0]) / static_cast<double>(a_count) +
                    signed_difference(b[b_count - 1], b[0]) / static_cast<double>(b_count);
    bool is_near = false;
    bool is_behind = false;
    for (unsigned guess = 0; guess < kMostGuesses && window.low < window.high && !is_near;
         ++guess) {
      const double last_difference = difference;
      const std::uint64_t last_place = place;
      if (guess > 0) place = window.clamped(static_cast<double>(place) - difference / growth);
      is_behind = look_at(place);
      if (guess > 0 && place != last_place) {
        const double seen = (difference - last_difference) / signed_difference(place, last_place);
        if (seen > 0) growth = seen;
      }
      if (guess == 0 && difference == 0) break;  // many equal keys: they do not guide
      const double distance = difference / growth;
      is_near = -static_cast<double>(kNear) < distance && distance < static_cast<double>(kNear);
    }
    // The co-rank is probably near the end that moved last.
    for (std::uint64_t stride = kNear; is_near && window.high - window.low > stride; stride *= 4) {
      const bool still_behind = look_at(is_behind ? window.low + stride - 1 : window.high - stride);
      is_near = still_behind == is_behind;
    }
  }
  while (window.low < window.high) look_at(window.low + (window.high - window.low) / 2);
  return window.low;
}

}  // namespace gsort::gpu
