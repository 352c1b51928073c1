// The end of a search for cuts. For each cut, all processes send rank 0 what they have counted, or
// the few elements among which the cut is. Rank 0 chooses, and sends the result to all.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "cluster/team.hpp"

namespace gsort::cluster {

// The message of a process about one cut.
struct Offer {
  std::uint64_t position = 0;
  bool is_few = false;       // values are elements; otherwise the counts of Chosen, of this process
  std::uint64_t before = 0;  // of few elements: how many of all processes are less than these
  std::vector<std::uint64_t> values;
};

// The value of the last element before a cut. `below` elements of all processes are less than it,
// `up_to` are not greater.
struct Chosen {
  std::uint64_t value = 0;  // of few elements
  std::uint64_t below = 0;
  std::uint64_t up_to = 0;
};

// Together, with offers of the same cuts. Throws: Error(kCorrupt) in rank 0 if the number of
// elements is not the number that was counted; as Team.
[[nodiscard]] std::vector<Chosen> choose_together(Team& team, const std::vector<Offer>& offers);

// The bytes sent between two processes for a cut with this many values.
[[nodiscard]] constexpr std::uint64_t bytes_of_choice(std::uint64_t values) {
  return (1 + values) * sizeof(std::uint64_t) + sizeof(Chosen);
}

[[nodiscard]] Error not_in_order(std::uint64_t position);

}  // namespace gsort::cluster
