// Deals the GPUs of a host to its processes. A launcher may show each process all of them, or some:
// the place on the bus identifies a GPU, not its number.
#pragma once

#include <string>
#include <vector>

#include "app/prepared_sort.hpp"
#include "cluster/team.hpp"

namespace gsort::cluster {

// A GPU that a process uses, and into how many parts the processes of its host divide its memory.
struct DealtDevice {
  int ordinal = 0;
  unsigned parts = 1;

  friend bool operator==(const DealtDevice&, const DealtDevice&) = default;
};

// Returns, by process, the GPUs that it uses of those it sees. Every process that sees a GPU gets
// one, which it shares only if there are too few. The others go to processes with the fewest.
[[nodiscard]] std::vector<std::vector<DealtDevice>> deal_devices(
    const std::vector<std::string>& hosts, const std::vector<std::vector<VisibleGpu>>& seen);

// Together: finds the GPUs that this process may use, and adds them to the machine, each with this
// process's part of its memory. Throws: as on_this_host(); as Team.
void look_for_dealt_gpus(Team& team, const Job& job, Machine& machine);

}  // namespace gsort::cluster
