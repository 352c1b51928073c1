// sequential_merge: one walker merges two sorted arrays. The reference of all others.
//
// Problem. A and B are ascending; write all their elements, ascending, to one output. Equal
// elements keep their order, and those of A come before those of B (the merge is stable).
//
// Idea. Keep one finger on the first element of A that is not written yet, one on that of B.
// Write the lesser and move its finger; on a tie write A's. When one array is used up, copy the
// other's rest.
//
// Example. A = 1 3 3 7, B = 3 4 9 (a b tell whose 3 it is).
//   fingers 1 3: write 1        fingers 3a 3b: tie, write 3a      fingers 3a 3b: tie, write 3a
//   fingers 7 3: write 3b       fingers 7 4: write 4              fingers 7 9: write 7
//   A is used up: copy 9        output 1 3a 3a 3b 4 7 9
//
// Two mistakes are easy to make: to write B's element on a tie (then equal elements change
// places), and to copy the rest of the one array with the length of the other.
//
// Cost. |A| + |B| writes, at most |A| + |B| - 1 comparisons, each of which depends on the one
// before: one walker, however many could walk. The essay of co_rank_moving.hpp says how to let
// many walk.
//
// Source. D. E. Knuth, "The Art of Computer Programming", volume 3, 2nd edition, 1998, section
// 5.2.4, algorithm M; with the words used here: W. W. Hwu, D. B. Kirk, I. El Hajj, "Programming
// Massively Parallel Processors", 4th edition, 2022, chapter 12, doi:10.1016/C2020-0-02969-5.
#pragma once

#include "base/host_device.hpp"

namespace gsort::textbook {

// A and B are anything that operator[] reads, Out anything that it writes: pointers, views of
// shared memory, circular buffers.
// Requires: a[0, a_count) and b[0, b_count) ascending; out has room for both and overlaps
// neither.
template <class Index, class A, class B, class Out>
GSORT_HOST_DEVICE constexpr void sequential_merge(const A& a, Index a_count, const B& b,
                                                  Index b_count, Out&& out) {
  Index i = 0;
  Index j = 0;
  while (i < a_count && j < b_count) {
    if (b[j] < a[i]) {
      out[i + j] = b[j];
      ++j;
    } else {
      out[i + j] = a[i];
      ++i;
    }
  }
  for (; i < a_count; ++i) out[i + j] = a[i];
  for (; j < b_count; ++j) out[i + j] = b[j];
}

}  // namespace gsort::textbook
