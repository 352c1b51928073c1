// co_rank_moving: the co-rank as textbooks print it, with low marks that move up as the search
// goes.
//
// Problem. Many walkers are to merge A and B together, each its own range of the output. The
// walker that begins at output k must know how many of the k outputs before it came from A (i,
// the co-rank) and how many from B (j = k - i), without merging them.
//
// Idea. Start with the most that A can give, i = min(k, |A|), and correct. i and j are right when
//   A[i-1] <= B[j]   else i is too large: the last element taken from A belongs behind B[j];
//   B[j-1] <  A[i]   else j is too large: the last element taken from B does not precede A[i]
// (a tie belongs to A, so the first test allows it and the second does not). A step corrects by
// half of what is possible: i was too large, so it moves half-way down to its low mark and j,
// which is as much too small, moves up; the j of now becomes j's low mark, because less was just
// shown to be too little.
//
// Example. A = 1 3 3 7, B = 3 4 9, k = 4. Start: i = 4, j = 0, low marks 1 and 0.
//   A[3] = 7 > B[0] = 3: i too large by up to 3: i = 2, j = 2, j's low mark 0.
//   A[1] = 3 <= B[2] = 9, B[1] = 4 >= A[2] = 3: j too large by up to 2: j = 1, i = 3.
//   A[2] = 3 <= B[1] = 4, B[0] = 3 < A[3] = 7: right: 1 3 3 3 are A[0, 3) and B[0, 1).
//
// Versions that are passed around have >= in both tests: on a tie both then hold for ever and the
// search never ends. Others step by half of the distance rounded down, which is 0 at distance 1.
//
// Cost. About log2(min(k, |A|, |B|)) steps of up to four reads. co_rank_bisection.hpp has the
// same answers for two reads a step.
//
// Source. C. Siebert, J. L. Traeff, "Perfectly load-balanced, stable, synchronization-free
// parallel merge", 2013, arXiv:1303.4312; Hwu, Kirk, El Hajj, "Programming Massively Parallel
// Processors", 4th edition, 2022, figure 12.5, doi:10.1016/C2020-0-02969-5.
#pragma once

#include "base/host_device.hpp"

namespace gsort::textbook {

// Requires: a[0, a_count) and b[0, b_count) ascending, k <= a_count + b_count; Index unsigned.
// Ensures: merge(a, b)[0, k) == merge(a[0, i), b[0, k - i)), ties from a first, for the i
// returned.
template <class Index, class A, class B>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Index co_rank_moving(Index k, const A& a, Index a_count,
                                                               const B& b, Index b_count) {
  Index i = k < a_count ? k : a_count;
  Index j = k - i;
  Index i_low = k > b_count ? k - b_count : Index{0};
  Index j_low = k > a_count ? k - a_count : Index{0};
  for (;;) {
    if (i > i_low && j < b_count && b[j] < a[i - 1]) {
      const Index step = (i - i_low + 1) / 2;
      j_low = j;
      i -= step;
      j += step;
    } else if (j > j_low && i < a_count && !(b[j - 1] < a[i])) {
      const Index step = (j - j_low + 1) / 2;
      i_low = i;
      i += step;
      j -= step;
    } else {
      return i;
    }
  }
}

}  // namespace gsort::textbook
