// co_rank: how many of the first k elements of merge(A, B) come from A.
//
// Problem. To merge two sorted arrays in parallel, every worker must know where its part of the
// output comes from, without merging what lies before it.
//
// Idea. For an output position k there is exactly one i, with j = k - i, such that the first k
// outputs are A[0, i) and B[0, j). Ties go to A, so i is the least number for which the next
// element of A is not needed any more: A[i] > B[j-1] or j == 0. This condition is monotone in i, so
// i is found by bisection between max(0, k - |B|) and min(k, |A|).
//
// Example. A = 1 3 3 7, B = 3 4 9. merge = 1 3A 3A 3B 4 7 9.
//   k = 3: i = 3 (both 3s of A come before B's 3), j = 0.
//   k = 4: i = 3, j = 1.
//   k = 6: i = 4, j = 2.
// With k = 4 the bisection runs over i in [1, 4]: i = 2: A[2] = 3 <= B[1] = 4, so i > 2; i = 3:
// A[3] = 7 > B[0] = 3, so i <= 3; done, i = 3.
//
// Cost. At most ceil(log2(min(k, |A|, |B|) + 1)) comparisons. Always terminates, also on ties and
// on empty arrays.
//
// Source. S. Odeh, O. Green, Z. Mwassi, O. Shmueli, Y. Birk, "Merge Path - Parallel Merging Made
// Simple", IPDPSW 2012, doi:10.1109/IPDPSW.2012.202; C. Siebert, J. L. Traeff, "Perfectly
// load-balanced, stable, synchronization-free parallel merge", 2013, arXiv:1303.4312 (where it is
// called co-rank).
#pragma once

#include "base/host_device.hpp"

namespace gsort {

// `a` and `b` are anything that operator[] reads (a pointer, a view of shared memory); Index is the
// integer type of positions: 64 bits for positions in files and arrays, 32 bits inside a tile.
// Requires: a[0, a_count) and b[0, b_count) ascending, k <= a_count + b_count.
// Ensures: merge(a, b)[0, k) == merge(a[0, i), b[0, k - i)), ties from a first, for the i returned.
template <class Index, class A, class B>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Index co_rank(Index k, const A& a, Index a_count,
                                                        const B& b, Index b_count) {
  Index low = k > b_count ? k - b_count : Index{0};
  Index high = k < a_count ? k : a_count;
  while (low < high) {
    const Index i = low + (high - low) / 2;
    // The wanted i is larger exactly when a[i] is among the first k: b[k-1-i] does not precede it.
    if (b[k - 1 - i] < a[i]) {
      high = i;
    } else {
      low = i + 1;
    }
  }
  return low;
}

}  // namespace gsort
