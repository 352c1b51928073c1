// Which GPUs of a host each of its processes uses. A launcher may show each process all of them, or
// some: a GPU is known by its place on the bus, not by its number.
#pragma once

#include <string>
#include <vector>

#include "app/prepared_sort.hpp"
#include "cluster/team.hpp"

namespace gsort::cluster {

// A GPU that a process uses, and in how many parts all processes of its host have its memory.
struct DealtDevice {
  int ordinal = 0;
  unsigned parts = 1;

  friend bool operator==(const DealtDevice&, const DealtDevice&) = default;
};

// By process: of the GPUs that each sees, those that it uses. Every process that sees any gets one,
// which it shares only if there are too few. What is left goes to those that have the fewest.
[[nodiscard]] std::vector<std::vector<DealtDevice>> deal_devices(
    const std::vector<std::string>& hosts, const std::vector<std::vector<VisibleGpu>>& seen);

// Together: looks for the GPUs that this process may use, and adds them to the machine, each with
// this process's part of its memory. Throws: as on_this_host(); as Team.
void look_for_dealt_gpus(Team& team, const Job& job, Machine& machine);

}  // namespace gsort::cluster
