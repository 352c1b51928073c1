// The room that a process needs beside its share of the input, and whether the processes of a host
// together have room for their files. The plan and the output of a process check its other needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/team.hpp"
#include "options/job.hpp"
#include "options/request.hpp"
#include "plan/machine.hpp"
#include "plan/make_plan.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

// The least bytes that a process writes of an output of `elements` elements. With -u, the number of
// elements that come out is not known: 0.
[[nodiscard]] std::uint64_t least_output_of(const Request& request, const Job& job,
                                            std::uint64_t elements, unsigned rank, unsigned ranks);

// As make_plan(), for a process that writes `output_bytes`, however long its share of the input is.
// Throws: as on_this_host() for make_plan() and require_disk_space().
[[nodiscard]] Plan plan_of_host(const Job& job, const Machine& machine, std::uint64_t output_bytes,
                                const SuitsPlan& suits = {});

// The temporary files of further runs: one of distinct elements, and one that may be left out. The
// latter has no bytes if it would be empty, or if the host has no room for the runs of all of its
// processes beside the longest output.
struct MoreRuns {
  std::uint64_t distinct_bytes = 0;
  std::optional<std::uint64_t> deferred_bytes;
};

// Adds a run of at most `distinct` elements to the plan, if there are any and keys are not counted,
// and says what one of at most `deferred` elements would take in addition. Throws: as
// require_disk_space(); Error(kResource) if 64 bits cannot count the bytes.
MoreRuns add_runs(Plan& plan, const Machine& machine, std::uint64_t distinct,
                  std::uint64_t deferred);

// Checks the limit of open files. MPI has a connection to each other process, and files of its own.
// The inputs stay open, and so do `folders` folders of --resume. Throws: Error(kResource).
void require_open_files(const Team& team, const Request& request, std::uint64_t folders = 0);

// The bytes that one process writes to one file system.
struct RoomNeed {
  std::uint64_t file_system = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t bytes = 0;
};

// The needs of runs, if they have one file system, and of `output_bytes` of the output. Runs that
// several file systems may share are left out.
[[nodiscard]] std::vector<RoomNeed> room_needs(const Plan& plan, const Machine& machine,
                                               std::uint64_t output_bytes);

// Adds up the needs of processes on each file system; `hosts` names their hosts, by rank.
// Throws: Error(kResource) that names the host.
void require_room(const std::vector<std::string>& hosts,
                  const std::vector<std::vector<RoomNeed>>& needs);

// Together: the same for this job. Throws: as that, in rank 0; as Team.
void require_room_on_hosts(Team& team, const std::vector<RoomNeed>& own);

}  // namespace gsort::cluster
