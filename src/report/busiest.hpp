// The busiest stages: the resources for which a sort waited, found only from its own times.
//
// In each phase every stage that moves data needs at least its bytes divided by its best rate in
// any stretch of the sort (base/rate_window.hpp), and the cores need at least the processor time
// that was spent, divided by their number. Stages of a phase overlap, so the phase takes as
// long as the one that needs longest; phases follow each other, so these times add up. The time for
// making the output durable is taken unchanged, since there is nothing to compare it with.
//
// So this measures waiting, not speed: the time of the same work, at the best rates of this sort,
// if no stage ever waited for another, which is never more than the measured time. A resource that
// is slow during the whole sort is not found here; limit.hpp compares with rates that were measured
// without gsort. The work of a GPU is known only from its transfers over the bus.
#pragma once

#include <optional>
#include <string_view>

#include "plan/outcome.hpp"

namespace gsort {

// The resources on which a phase can spend its time.
enum class Resource : std::uint8_t { kInput, kRunsOut, kRunsIn, kOutput, kBus, kCores };

// "reading", "the cores".
[[nodiscard]] std::string_view words_for(Resource resource);

struct BusiestStages {
  double seconds = 0;
  // The resource that needs most of this time; none if the sort took more than twice as long, so
  // that something else must have delayed it.
  std::optional<Resource> stage;
};

// `cores` is the number of cores that the sort was allowed to use. None if this is unknown: for
// sorts of less than a second, and if a stage of a long phase moved too few pieces for a best rate.
[[nodiscard]] std::optional<BusiestStages> busiest_of(const Outcome& outcome, unsigned cores);

}  // namespace gsort
