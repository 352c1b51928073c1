// splitters: cutting a merge by positions of the input instead of positions of the output.
//
// Problem. Divide merge(A, B) into sections that can be merged independently, each with at most S
// elements of A and at most S of B.
//
// Idea. Every S-th element of A is a splitter: what stands before it in A is known, and a binary
// search tells what precedes it in B. A's splitters alone are not enough: all of B may lie
// between two of them. So every S-th element of B is a splitter too. Between two neighbouring
// splitters, whosever they are, lie at most S elements of A and at most S of B. It remains to put
// the splitters of A and of B in one order. No sort is needed: splitter i of A is preceded by i
// splitters of A, and by those splitters of B that stand before position `b` of its cut: ceil(b /
// S). So each splitter computes its own place in the table of cuts and scatters itself there.
//
// Ties go to A: an element of A is preceded by the elements of B less than it, an element of B by
// the elements of A less than or equal to it.
//
// Example. S = 2, A = 1 3 3 7, B = 3 4 9. Splitters: A[0] = 1, A[2] = 3, B[0] = 3, B[2] = 9.
//   A[0]: cut (0, 0), place 0 + 0 = 0
//   A[2]: cut (2, 0), place 1 + 0 = 1
//   B[0]: 3 elements of A are <= 3: cut (3, 0), place 0 + 2 = 2
//   B[2]: all of A precedes it: cut (4, 2), place 1 + 2 = 3
//   table (0,0) (2,0) (3,0) (4,2), and the end (4,3): sections 1 3 | 3 | 7 with 3 4 | 9
//
// Cost. (|A| + |B|) / S binary searches; sections are uneven: between 0 and 2S elements. The
// co-rank gives even ones for the same number of searches, which is why it replaced this.
//
// Source. T. Hagerup, C. Rueb, "Optimal merging and sorting on the EREW PRAM", Information
// Processing Letters 33(4), 1989, doi:10.1016/0020-0190(89)90138-5; Y. Shiloach, U. Vishkin,
// "Finding the maximum, merging, and sorting in a parallel computation model", J. Algorithms
// 2(1), 1981, doi:10.1016/0196-6774(81)90010-9.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "bench/textbook/two_arrays.hpp"

namespace gsort::textbook {

// The first `a` elements of A and the first `b` of B make up the output before the cut.
struct Cut {
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  friend constexpr bool operator==(const Cut&, const Cut&) = default;
};

// How many elements of keys[0, count) precede `key`: those less than it, or, with kEqualToo,
// those equal to it as well.
template <bool kEqualToo, class Keys, class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t count_before(const Keys& keys,
                                                                     std::uint64_t count, Key key) {
  std::uint64_t low = 0;
  std::uint64_t high = count;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const bool precedes = kEqualToo ? !(key < keys[middle]) : keys[middle] < key;
    if (precedes) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// How many splitters `count` elements have: one at each multiple of `step` below count.
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint64_t splitter_count(std::uint64_t count,
                                                                       std::uint64_t step) {
  return count / step + (count % step != 0 ? 1 : 0);
}

struct PlacedCut {
  std::uint64_t place;
  Cut cut;
};

// Splitter `index` of all: first those of A, then those of B.
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr PlacedCut place_splitter(const TwoArrays<Key>& in,
                                                                   std::uint64_t index,
                                                                   std::uint64_t step) {
  const std::uint64_t of_a = splitter_count(in.a_count, step);
  if (index < of_a) {
    const std::uint64_t a = index * step;
    const std::uint64_t b = count_before<false>(in.b, in.b_count, in.a[a]);
    return {index + splitter_count(b, step), {a, b}};
  }
  const std::uint64_t b = (index - of_a) * step;
  const std::uint64_t a = count_before<true>(in.a, in.a_count, in.b[b]);
  return {index - of_a + splitter_count(a, step), {a, b}};
}

}  // namespace gsort::textbook
