// CutValues: the values between which that of a cut lies, and which of them a search tries next. As
// if elements were spread evenly between what has been counted; whatever they are, each round
// leaves few of the values.
#pragma once

#include <cstdint>
#include <vector>

namespace gsort::cluster {

// The values [least, greatest], and about how many elements are less than the first one, and not
// greater than the last one.
struct CutValues {
  std::uint64_t least = 0;
  std::uint64_t greatest = 0;
  double before = 0;
  double up_to = 0;

  [[nodiscard]] std::uint64_t width() const { return greatest - least; }
  // That up to which so many elements are likely to be.
  [[nodiscard]] std::uint64_t likely(double elements) const;
};

// At most so many values, ascending, all below the greatest: every one if they are few. Otherwise a
// third are where the cut is nearly certain if elements are at random places and have been counted
// with an error of `doubt`, half are spread evenly, and the others lie around the first ones, the
// nearer the denser. Requires: most >= 8.
[[nodiscard]] std::vector<std::uint64_t> values_to_try(const CutValues& values,
                                                       std::uint64_t position, std::uint64_t most,
                                                       double doubt);

// At most so many values, ascending: both ends of the guess, and others spread evenly between them;
// none below the least of all values, or not below the greatest. Requires: most >= 2.
[[nodiscard]] std::vector<std::uint64_t> values_within(const CutValues& guess,
                                                       const CutValues& values, std::uint64_t most);

}  // namespace gsort::cluster
