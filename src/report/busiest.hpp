// The busiest stages: what a sort waited for, from its own times alone.
//
// In each phase every stage that moves data needs at least its bytes over the best rate that it has
// shown in any stretch of the sort (base/rate_window.hpp), and the cores need at least the
// processor time that was spent over their number. Stages of a phase overlap, so the phase takes as
// long as the one that needs longest; phases follow each other, so these times add up. Making the
// output durable is taken as it was: nothing is known that it could be compared with.
//
// So this is about waiting, not about speed: it says what the same work, at the best rates of this
// sort, would take if nothing ever waited for anything else, and it is never more than the time
// that was taken. What is slow in the whole sort does not show here; limit.hpp compares with rates
// that were measured without gsort. Work of a GPU is known only as far as the bus shows it.
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
  // The resource that needs most of it; none if the sort took more than twice as long, so that
  // something else must have delayed it.
  std::optional<Resource> stage;
};

// `cores` is how many the sort was allowed to keep busy. None where that cannot be told:
// for sorts of less than a second, and where a stage of a long phase moved too few pieces to
// tell its best rate.
[[nodiscard]] std::optional<BusiestStages> busiest_of(const Outcome& outcome, unsigned cores);

}  // namespace gsort
