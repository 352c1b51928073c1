// co_rank_bisection: the co-rank as one plain bisection.
//
// Problem. As in co_rank_moving.hpp: how many of the first k outputs of merge(A, B) come from A.
//
// Idea. Ask of every i between max(0, k - |B|) and min(k, |A|): is A[i] among the first k
// outputs? If the answer for i is yes it is yes for all smaller i, since A is sorted, so the
// answers read yes ... yes no ... no, and the co-rank is the number of the first no. A[i] is
// among the first k exactly when at most k - 1 outputs precede it; i of them are A's, so the
// answer is yes when at most k - 1 - i elements of B precede A[i], that is, when B[k - 1 - i]
// does not: A[i] <= B[k - 1 - i]. On the grid of A against B this walks along the diagonal i + j
// = k to where the merge path crosses it.
//
// Example. A = 1 3 3 7, B = 3 4 9, k = 4: i is one of 1 .. 4.
//   i = 2: A[2] = 3 <= B[1] = 4, yes: more than 2.
//   i = 3: A[3] = 7 >  B[0] = 3, no: not more than 3. So i = 3, j = 1.
//
// Cost. ceil(log2(min(k, |A|, |B|) + 1)) steps of two reads and one comparison; no case is
// special, ties and empty arrays included.
//
// Source. S. Odeh, O. Green, Z. Mwassi, O. Shmueli, Y. Birk, "Merge Path - Parallel Merging Made
// Simple", IPDPSW 2012, doi:10.1109/IPDPSW.2012.202. This form gsort uses itself, so the body
// stands in element/co_rank.hpp.
#pragma once

#include "base/host_device.hpp"
#include "element/co_rank.hpp"

namespace gsort::textbook {

// Requires and ensures what co_rank_moving does.
template <class Index, class A, class B>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Index co_rank_bisection(Index k, const A& a,
                                                                  Index a_count, const B& b,
                                                                  Index b_count) {
  return co_rank(k, a, a_count, b, b_count);
}

}  // namespace gsort::textbook
