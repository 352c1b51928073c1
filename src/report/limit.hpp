// The limit: the least time that any sort of these bytes needs on these disks and this memory, by
// rates that were measured without gsort (gsort-bench ceilings --keep; rates_file.hpp).
//
// Inputs are read at most at the disks' read rate and outputs written at most at their write rate;
// these overlap within a phase, and phases follow each other. All bytes that are read and written,
// also those of runs, take their time at these rates, and pass through memory. The limit is the
// longest of these times. Bytes from the page cache, or from a codec, come faster than from a disk:
// a sort of such files can be faster than its limit.
#pragma once

#include <optional>

#include "plan/outcome.hpp"
#include "plan/rates.hpp"

namespace gsort {

// None if nothing was measured or moved.
[[nodiscard]] std::optional<double> limit_seconds(const Outcome& outcome,
                                                  const std::optional<Limits>& limits);

}  // namespace gsort
