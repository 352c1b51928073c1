// Whether the processes of a host together have room for their files. Its plan and its output check
// what each process needs by itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/team.hpp"
#include "plan/machine.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

// What one process writes to one file system.
struct RoomNeed {
  std::uint64_t file_system = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t bytes = 0;
};

// Of runs, where they have one file system, and of so many bytes of the output. What may be spread
// over several file systems is left out.
[[nodiscard]] std::vector<RoomNeed> room_needs(const Plan& plan, const Machine& machine,
                                               std::uint64_t output_bytes);

// Adds up what processes need of each file system; `hosts` names their hosts, by rank.
// Throws: Error(kResource) that names the host.
void require_room(const std::vector<std::string>& hosts,
                  const std::vector<std::vector<RoomNeed>>& needs);

// Together: the same for this job. Throws: as that, in rank 0; as Team.
void require_room_on_hosts(Team& team, const std::vector<RoomNeed>& own);

}  // namespace gsort::cluster
