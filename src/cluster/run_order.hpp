// The order of the runs of all processes where it is not that of their numbers. Equal records come
// out in the order of the input, so their runs are merged in this order. Usually it is that of
// processes, and of the runs of each; a process that goes on with the runs of another one may have
// any.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/team.hpp"

namespace gsort::cluster {

struct RunOrder {
  // All runs, numbered by process and then in it, in the order of the input; empty: as numbered.
  std::vector<std::uint64_t> runs;
  // Of the runs of this process: their places in that order.
  std::vector<std::uint64_t> places;

  [[nodiscard]] bool is_by_number() const { return runs.empty(); }
};

// Together. `ties`: of each of several searches, how many elements are equal in each run of this
// process. Returns, for each of these, how many are in all runs before it.
[[nodiscard]] std::vector<std::vector<std::uint64_t>> ties_before(
    Team& team, const RunOrder& order, const std::vector<std::vector<std::uint64_t>>& ties);

}  // namespace gsort::cluster
