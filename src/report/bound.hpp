// The bound: how fast this very sort could have been, from what was measured in it.
//
// In each phase every stage that moves data needs at least its bytes over the best rate that it has
// shown in any stretch of the run (base/rate_window.hpp), and the cores need at least the processor
// time that was spent over their number. Stages of a phase overlap, so the phase is bound by the
// one that needs longest; phases follow each other, so their bounds add up. Making the output
// durable is taken as it was: nothing is known that it could be compared with.
//
// So the bound is about waiting, not about algorithms: it says what the same work, on the same
// devices at their best of this run, would take if nothing ever waited for anything else. It is
// never more than the time that was taken. Work of a GPU is known only as far as the bus shows it.
#pragma once

#include <optional>
#include <string_view>

#include "plan/outcome.hpp"

namespace gsort {

// What a phase can be bound by.
enum class Resource : std::uint8_t { kInput, kRunsOut, kRunsIn, kOutput, kBus, kCores };

// "reading", "the cores": what a sort waits for.
[[nodiscard]] std::string_view words_for(Resource resource);

struct Bound {
  double seconds = 0;
  // What bounds most of it; nothing where the sort took more than twice the bound, so that
  // something else must have held it up.
  std::optional<Resource> waited_for;
};

// `cores` is how many the sort was allowed to keep busy. Nothing where no honest bound can be
// given: for sorts of less than a second, and where a stage of a long phase moved too few pieces to
// tell its best rate.
[[nodiscard]] std::optional<Bound> bound_of(const Outcome& outcome, unsigned cores);

}  // namespace gsort
