// path_step: output k of merge(A, B), from where the merge path crosses diagonal k. The essay
// stands in merge_path.cu; the batch sorts take the same step in global and in shared memory.
#pragma once

#include "base/host_device.hpp"
#include "bench/textbook/co_rank_bisection.hpp"

namespace gsort::textbook {

// Requires: a[0, a_count) and b[0, b_count) ascending, k < a_count + b_count.
template <class Index, class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Key path_step(Index k, const Key* a, Index a_count,
                                                        const Key* b, Index b_count) {
  const Index i = co_rank_bisection(k, a, a_count, b, b_count);
  const Index j = k - i;
  const bool take_a = i < a_count && (j >= b_count || !(b[j] < a[i]));
  return take_a ? a[i] : b[j];
}

}  // namespace gsort::textbook
