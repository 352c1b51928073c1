// The work of one process in a sort by several: it forms the runs of a share, or takes or joins
// parts.
#pragma once

#include "base/meter.hpp"
#include "element/fingerprint.hpp"
#include "io/input/reader.hpp"
#include "options/job.hpp"
#include "options/request.hpp"
#include "plan/machine.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"

namespace gsort {

// The work that was done, for reports.
struct ShareDone {
  Machine machine;
  Plan plan;
  Outcome outcome;
  bool was_there = false;  // another process has done it before; the other fields are then empty
};

// With options.explain, form() and take() check everything and make the plan, and change nothing.

// Requires: options.form; the reader has the inputs of all shares. Throws: Error.
ShareDone form(const Options& options, Job job, io::Reader& reader, Meter& meter);

// Requires: options.take. Throws: Error.
ShareDone take(const Options& options, Meter& meter);

// Returns the fingerprint of the output. Requires: options.join. Throws: Error.
Fingerprint join(const Options& options);

}  // namespace gsort
