// The limit: how fast any sort of these bytes could have been on these disks and this memory, by
// rates that were measured without gsort (gsort-bench ceilings --keep; rates_file.hpp).
//
// Inputs are read at the disks' read rate at most and outputs written at their write rate; in one
// phase that overlaps, and phases follow each other. All that is read and written, runs too, needs
// its bytes over these rates, and passes through memory. The limit is the longest of these times.
// Bytes that the page cache serves, or that a codec makes of fewer, come faster than from a disk: a
// sort of such files can be faster than its limit.
#pragma once

#include <optional>

#include "plan/outcome.hpp"
#include "plan/rates.hpp"

namespace gsort {

// None where nothing was measured or moved.
[[nodiscard]] std::optional<double> limit_seconds(const Outcome& outcome,
                                                  const std::optional<Limits>& limits);

}  // namespace gsort
