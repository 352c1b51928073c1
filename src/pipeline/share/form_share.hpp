// Forms the runs of a share of the inputs, which stay in a folder for those who take parts of the
// output from the folders of all shares.
//
// The folder is made under a hidden name and gets its own when all is in it. So it is there as a
// whole or not at all, and of several processes with the same share the first one to end has made
// it; the others find it done. What a process that was killed has left, the next one removes.
#pragma once

#include <cstdint>
#include <string>

#include "base/meter.hpp"
#include "io/input/reader.hpp"
#include "pipeline/share/share_range.hpp"
#include "pipeline/sort_job.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"

namespace gsort {

struct ShareJob {
  std::string folder;
  ShareNumber share;
  bool has_own_inputs = false;  // the inputs are those of this share alone
  io::Manifest manifest;        // of all inputs, before the reader is held to the share
  io::DirectIo direct_io = io::DirectIo::kAuto;
  Packing packing = Packing::kAuto;
  bool verify = true;
};

// Elements that engines put into runs: keys of one and two bytes are records of one key.
[[nodiscard]] ElementFormat format_in_runs(const ElementFormat& element);

// Whether the folder holds just this share already. If so, removes what killed processes have left
// beside it. Throws: Error(kTemporary) where it holds anything else. `dtype` is the inputs'.
[[nodiscard]] bool is_formed(const ShareJob& job, const std::optional<StoredDtype>& dtype);

// Requires: the plan is for the share's bytes and format_in_runs(); the reader gives the share.
// Throws: Error; nothing is left then.
Outcome form_share(const ShareJob& job, const Plan& plan, const EngineMaker& make_engine,
                   io::Reader& reader, Meter& meter);

}  // namespace gsort
