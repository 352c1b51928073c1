#include "cluster/runs/room.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/checked.hpp"
#include "base/units.hpp"
#include "cluster/message.hpp"
#include "io/system/host_facts.hpp"
#include "pipeline/share/share_range.hpp"
#include "plan/disk_space.hpp"
#include "plan/form_memory.hpp"

namespace gsort::cluster {
namespace {

// All that a host's processes write to one file system.
struct Room {
  std::uint64_t free_bytes = 0;
  std::uint64_t bytes = 0;
  std::set<std::size_t> ranks;
};

Error too_small(const std::string& host, const Room& room) {
  return Error(ErrorKind::kResource,
               fmt::format("making room for {} processes on {}", room.ranks.size(), host),
               fmt::format("{} needed, {} free", format_bytes(room.bytes),
                           format_bytes(room.free_bytes)))
      .hint("give each process a folder of its own on another disk, or free some space");
}

// Adds one run of at most `elements` elements to those of the plan.
void add_run(Plan& plan, const Machine& machine, std::uint64_t elements) {
  Plan with_run = plan;
  with_run.elements = checked_sum(plan.elements, elements);
  (void)checked_product(with_run.elements, plan.element_bytes);
  with_run.run.count = plan.run.count + 1;
  plan.temporary_bytes = std::max(plan.temporary_bytes, temporary_need(with_run));
  require_disk_space(plan, machine);
  plan.run.through_page_cache = runs_fit_page_cache(plan, machine);
}

// As MoreRuns, beside the runs of the plan and one of `others` elements.
std::optional<std::uint64_t> bytes_of_run(const Plan& plan, const Machine& machine,
                                          std::uint64_t elements, std::uint64_t others) {
  // The output grows while such runs are there. A key takes up to four times its bytes as text.
  constexpr std::uint64_t kMostText = 4;
  if (elements == 0 || plan.run.block_elements == 0) return std::nullopt;
  Machine own = machine;
  if (own.output) own.output->free_bytes /= machine.processes;
  for (Folder& folder : own.temporary) folder.free_bytes /= machine.processes;
  Plan without = plan;
  without.output.least_bytes =
      std::max(plan.output.least_bytes, capped_product(elements, kMostText * plan.element_bytes));
  Plan with_run = without;
  try {
    add_run(without, own, others);
    add_run(with_run, own, checked_sum(elements, others));
  } catch (const Error&) {
    return std::nullopt;
  }
  return with_run.temporary_bytes - without.temporary_bytes;
}

}  // namespace

std::uint64_t least_output_of(const Request& request, const Job& job, std::uint64_t elements,
                              unsigned rank, unsigned ranks) {
  if (job.unique || (!request.parts && rank > 0)) return 0;
  const std::uint64_t own = request.parts ? share_of(elements, rank, ranks).elements() : elements;
  return least_output_bytes(job, own);
}

Plan plan_of_host(const Job& job, const Machine& machine, std::uint64_t output_bytes,
                  const SuitsPlan& suits) {
  return on_this_host([&] {
    Plan plan = make_plan(job, with_room(machine), suits);  // how much the output takes comes now
    plan.output.least_bytes = output_bytes;
    require_disk_space(plan, machine);
    return plan;
  });
}

MoreRuns add_runs(Plan& plan, const Machine& machine, std::uint64_t distinct,
                  std::uint64_t deferred) {
  const Plan before = plan;
  if (distinct > 0) add_run(plan, machine, distinct);
  return {plan.temporary_bytes - before.temporary_bytes,
          bytes_of_run(before, machine, deferred, distinct)};
}

std::vector<RoomNeed> room_needs(const Plan& plan, const Machine& machine,
                                 std::uint64_t output_bytes) {
  std::vector<RoomNeed> needs;
  std::set<std::uint64_t> systems;
  for (const Folder& folder : machine.temporary) systems.insert(folder.file_system);
  if (systems.size() == 1) {
    const Folder& folder = machine.temporary.front();
    needs.push_back({folder.file_system, folder.free_bytes, plan.temporary_bytes});
  }
  if (machine.output) {
    needs.push_back({machine.output->file_system, machine.output->free_bytes, output_bytes});
  }
  return needs;
}

void require_room(const std::vector<std::string>& hosts,
                  const std::vector<std::vector<RoomNeed>>& needs) {
  std::map<std::pair<std::string, std::uint64_t>, Room> rooms;
  for (std::size_t rank = 0; rank < needs.size(); ++rank) {
    for (const RoomNeed& need : needs[rank]) {
      if (need.bytes == 0) continue;
      Room& room = rooms[{hosts[rank], need.file_system}];
      room.free_bytes = std::max(room.free_bytes, need.free_bytes);
      room.bytes = capped_sum(room.bytes, need.bytes);
      room.ranks.insert(rank);
    }
  }
  for (const auto& [place, room] : rooms) {
    if (room.ranks.size() > 1 && room.bytes > room.free_bytes) throw too_small(place.first, room);
  }
}

void require_open_files(const Team& team, const Request& request, std::uint64_t folders) {
  constexpr std::uint64_t kOwn = 40;
  constexpr std::uint64_t kOfFolder = 2;  // itself, and its file of runs
  const std::uint64_t needed = kOwn + team.count() + request.inputs.size() + kOfFolder * folders;
  const std::uint64_t limit = io::host_facts().open_files;
  if (limit >= needed) return;
  throw Error(ErrorKind::kResource, "opening files",
              fmt::format("a process needs {}, and the limit is {}", needed, limit))
      .hint(fmt::format("raise the hard limit of open files on this host to {} (see ulimit -Hn)",
                        needed));
}

void require_room_on_hosts(Team& team, const std::vector<RoomNeed>& own) {
  std::vector<std::string> hosts;
  std::vector<std::vector<RoomNeed>> needs;
  for (const Message& message : team.gather(std::as_bytes(std::span(own)))) {
    hosts.push_back(team.host_of(static_cast<unsigned>(hosts.size())));
    needs.push_back(MessageReader(message).take_rest<RoomNeed>());
  }
  require_room(hosts, needs);
}

}  // namespace gsort::cluster
