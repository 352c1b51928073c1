// The merge phase: the output is cut into parts; each lane takes the next part, loads its slices,
// and merges them. When there are more runs than one merge takes, rounds before the last make
// longer runs of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "io/runs/run_store.hpp"
#include "pipeline/part_queue.hpp"
#include "pipeline/sort_context.hpp"
#include "plan/rounds.hpp"

namespace gsort {

// The runs that are merged, and the range of the output that comes out.
struct MergedRange {
  std::span<const io::Run> runs;  // at most as many as the plan's fan-in
  OutputRange range;
  KeyForm form = KeyForm::kRaw;
  SpaceReturn* space = nullptr;  // null: the runs keep their space
};

// Merges one range of the output into `sink`, at its positions in the whole output. Several ranges
// may be merged at the same time, each with an engine and memory of its own. Requires: the context
// has engine, memory and store. Throws: Error; all threads have ended by then.
void merge_range(const SortContext& context, const MergedRange& merged, PieceSink& sink);

// Tells the meter that round `number` begins, from 1. The last merge counts as a round, after the
// `rounds` of the plan. Without rounds, tells it nothing.
void begin_round(const SortContext& context, std::size_t number, std::size_t rounds);

// Carries out the rounds of merging: a run for each group of neighbours, until one merge can take
// all that are left. merge_group(group, first) returns that run; `first` runs are before it. The
// runs of the group are destroyed.
template <class AnyRun, class MergeGroup>
void merge_rounds(const SortContext& context, std::vector<AnyRun>& runs,
                  const MergeGroup& merge_group) {
  const std::vector<MergeRound> rounds = plan_rounds(runs.size(), context.plan.run.fan_in);
  std::size_t number = 0;
  for (const MergeRound& round : rounds) {
    begin_round(context, ++number, rounds.size());
    std::vector<AnyRun> merged;
    std::size_t next = 0;
    for (const std::uint32_t size : round.group_sizes) {
      const std::span<AnyRun> group(runs.data() + next, size);
      merged.push_back(size == 1 ? std::move(group[0]) : merge_group(group, merged.size()));
      for (AnyRun& run : group) run = AnyRun();
      next += size;
    }
    runs = std::move(merged);
  }
  begin_round(context, ++number, rounds.size());
}

// Merges `runs` (after rounds, if they are more than the plan's fan-in) into `output`, as raw
// keys. Gives the runs' space back as parts are merged; with a run folder, when the merged run is
// kept. Throws: Error; all threads have ended by then.
void merge_runs(const SortContext& context, std::vector<io::Run> runs, PieceSink& output);

}  // namespace gsort
