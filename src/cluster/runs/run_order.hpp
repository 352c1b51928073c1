// The order of the runs of all processes if it is not that of their numbers. Equal records keep the
// order of the input, so runs are merged in this order. Usually it is the order of the processes,
// and of the runs of each. With --resume, a process may have runs of any part of the input.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/team.hpp"

namespace gsort::cluster {

struct RunOrder {
  // All runs in the order of the input, numbered by process and then within it; empty: as numbered.
  std::vector<std::uint64_t> runs;
  // The places in that order of this process's runs.
  std::vector<std::uint64_t> places;

  [[nodiscard]] bool is_by_number() const { return runs.empty(); }
};

// Together. `ties`: for each search, the number of equal elements in each run of this process.
// Returns, for each of these runs, how many such elements all runs before it hold.
[[nodiscard]] std::vector<std::vector<std::uint64_t>> ties_before(
    Team& team, const RunOrder& order, const std::vector<std::vector<std::uint64_t>>& ties);

}  // namespace gsort::cluster
