// run_pair: the bookkeeping of a merge sort from the bottom up. Runs of `width` keys lie end to
// end in an array; a level merges the runs 0 and 1, 2 and 3, and so on, into runs of twice the
// width. The last run may be short, and the last pair may lack its second run: it is then merged
// with nothing.
//
// Example. 7 keys, width 2: runs [0,2) [2,4) [4,6) [6,7). Output 5 belongs to the pair that
// begins at 4, with 2 keys in its first run and 1 in its second. At width 4 it belongs to the
// pair that begins at 0, with runs of 4 and 3.
#pragma once

#include "base/host_device.hpp"

namespace gsort::textbook {

template <class Index>
struct RunPair {
  Index begin;
  Index a_count;
  Index b_count;

  friend constexpr bool operator==(const RunPair&, const RunPair&) = default;
};

// The pair whose merge makes output k of an array of `count` keys.
// Requires: width is a power of two, k < count, 2 * width does not overflow.
template <class Index>
[[nodiscard]] GSORT_HOST_DEVICE constexpr RunPair<Index> run_pair_at(Index k, Index width,
                                                                     Index count) {
  const Index begin = k & ~(2 * width - 1);
  const Index left = count - begin;
  const Index a_count = left < width ? left : width;
  const Index b_count = left - a_count < width ? left - a_count : width;
  return {begin, a_count, b_count};
}

// How many levels make one run of `count` keys out of runs of `width`.
template <class Index>
[[nodiscard]] GSORT_HOST_DEVICE constexpr unsigned levels_from(Index width, Index count) {
  unsigned levels = 0;
  for (; width < count; width *= 2) ++levels;
  return levels;
}

}  // namespace gsort::textbook
