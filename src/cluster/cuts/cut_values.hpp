// CutValues: the range of values in which that of a cut lies, and which of them a search tries
// next. The choice assumes that elements are spread evenly between the values that have been
// counted. If they are not, each round still leaves few of the values.
#pragma once

#include <cstdint>
#include <vector>

namespace gsort::cluster {

// The values [least, greatest]. About `before` elements are less than the least one, and about
// `up_to` are not greater than the greatest one.
struct CutValues {
  std::uint64_t least = 0;
  std::uint64_t greatest = 0;
  double before = 0;
  double up_to = 0;

  [[nodiscard]] std::uint64_t width() const { return greatest - least; }
  // The value up to which there are probably this many elements.
  [[nodiscard]] std::uint64_t likely(double elements) const;
};

// At most `most` values, ascending, all below the greatest: every one if they are few. Otherwise
// half are spread evenly. A third lie where the cut nearly certainly is, if elements are random and
// their counts have an error of `doubt`. The others lie around these, denser near them.
// Requires: most >= 8.
[[nodiscard]] std::vector<std::uint64_t> values_to_try(const CutValues& values,
                                                       std::uint64_t position, std::uint64_t most,
                                                       double doubt);

// At most `most` values, ascending: both ends of the guess, and others spread evenly between them.
// All are in [least, greatest) of `values`. Requires: most >= 2.
[[nodiscard]] std::vector<std::uint64_t> values_within(const CutValues& guess,
                                                       const CutValues& values, std::uint64_t most);

}  // namespace gsort::cluster
