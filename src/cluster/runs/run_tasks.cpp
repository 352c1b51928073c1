#include "cluster/runs/run_tasks.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "pipeline/share/share_range.hpp"

namespace gsort::cluster {
namespace {

using Ranges = std::vector<OutputRange>;

// A folder, and the processes that see it.
struct Found {
  SeenFolder folder;
  std::vector<std::size_t> viewers;
  std::size_t server = 0;           // who goes on with it
  std::vector<std::uint64_t> used;  // of its runs

  [[nodiscard]] std::uint64_t elements() const {
    std::uint64_t elements = 0;
    for (const OutputRange& run : folder.runs) elements += run.elements();
    return elements;
  }
};

std::vector<Found> found_in(const std::vector<std::vector<SeenFolder>>& seen) {
  std::map<std::pair<std::string, std::uint64_t>, Found> by_name;
  for (std::size_t rank = 0; rank < seen.size(); ++rank) {
    for (const SeenFolder& folder : seen[rank]) {
      Found& found = by_name[{folder.name, folder.store}];
      if (found.viewers.empty()) found.folder = folder;
      // If inputs are equal, only one process takes its own for the input that the runs hold.
      const bool is_same_place = std::ranges::equal(found.folder.runs, folder.runs, {},
                                                    &OutputRange::begin, &OutputRange::begin);
      if (is_same_place) found.viewers.push_back(rank);
    }
  }
  std::vector<Found> all;
  for (auto& [name, found] : by_name) all.push_back(std::move(found));
  return all;
}

// The larger ones first, each to the process that has the fewest elements of those that see it.
void choose_servers(std::vector<Found>& found, std::size_t processes) {
  std::ranges::stable_sort(found, std::ranges::greater{}, &Found::elements);
  std::vector<std::uint64_t> elements(processes);
  for (Found& each : found) {
    each.server = *std::ranges::min_element(each.viewers, {},
                                            [&](std::size_t rank) { return elements[rank]; });
    elements[each.server] += each.elements();
  }
}

// Chooses runs that do not overlap. Returns what lies between them, up to `end`.
Ranges use_runs(std::vector<Found>& found, std::uint64_t end) {
  struct Candidate {
    OutputRange range;
    Found* of = nullptr;
    std::uint64_t number = 0;
  };
  std::vector<Candidate> candidates;
  for (Found& each : found) {
    for (std::uint64_t run = 0; run < each.folder.runs.size(); ++run) {
      candidates.push_back({each.folder.runs[run], &each, run});
    }
  }
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    return std::pair(a.range.begin, b.range.end) < std::pair(b.range.begin, a.range.end);
  });
  Ranges gaps;
  std::uint64_t at = 0;
  for (const Candidate& candidate : candidates) {
    if (candidate.range.begin < at) continue;
    if (at < candidate.range.begin) gaps.push_back({at, candidate.range.begin});
    at = candidate.range.end;
    candidate.of->used.push_back(candidate.number);
  }
  if (at < end) gaps.push_back({at, end});
  return gaps;
}

// Returns a range of the elements in the gaps, which count one after the other.
Ranges stretch_of(const Ranges& gaps, const OutputRange& range) {
  Ranges some;
  std::uint64_t before = 0;
  for (const OutputRange& gap : gaps) {
    const std::uint64_t from = std::clamp(range.begin, before, before + gap.elements());
    const std::uint64_t to = std::clamp(range.end, before, before + gap.elements());
    if (from < to) some.push_back({gap.begin + (from - before), gap.begin + (to - before)});
    before += gap.elements();
  }
  return some;
}

// Returns the elements of `gaps` that lie in `range`.
Ranges within(const Ranges& gaps, const OutputRange& range) {
  Ranges some;
  for (const OutputRange& gap : gaps) {
    const OutputRange both{std::max(gap.begin, range.begin), std::min(gap.end, range.end)};
    if (both.begin < both.end) some.push_back(both);
  }
  return some;
}

}  // namespace

std::vector<RunTask> share_out(const std::vector<OutputRange>& inputs, bool has_own_inputs,
                               const std::vector<std::vector<SeenFolder>>& seen) {
  std::vector<RunTask> tasks(inputs.size());
  std::vector<Found> found = found_in(seen);
  choose_servers(found, tasks.size());
  const Ranges gaps = use_runs(found, inputs.back().end);
  for (Found& each : found) {
    tasks[each.server].folders.push_back(
        {each.folder.name, each.folder.store, std::move(each.used)});
  }
  std::uint64_t missing = 0;
  for (const OutputRange& gap : gaps) missing += gap.elements();
  const auto processes = static_cast<unsigned>(tasks.size());
  for (unsigned rank = 0; rank < processes; ++rank) {
    tasks[rank].to_form = has_own_inputs ? within(gaps, inputs[rank])
                                         : stretch_of(gaps, share_of(missing, rank, processes));
  }
  return tasks;
}

}  // namespace gsort::cluster
