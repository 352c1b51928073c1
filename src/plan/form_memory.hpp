// The memory that text, compression and direct writes take in addition to the sort's own buffers.
#pragma once

#include <cstdint>

#include "base/direct_io.hpp"
#include "form/file_form.hpp"
#include "options/job.hpp"

namespace gsort {

// The plan for an output that is not plain.
struct EncodePlan : Encoding {
  std::uint64_t memory_bytes = 0;  // of all frames and encoders
};

struct Plan;

// Plans how the plan's threads encode the output under its host budget: an eighth of it is for
// frames, a quarter for compressors, but at least one frame and one compressor. If the encoding is
// verified, each compressor has a decompressor.
[[nodiscard]] EncodePlan plan_encoding(const Plan& plan);

// The memory with which the plan's threads write pieces around the page cache: two windows for each
// thread, one being filled and one being written, and some for the disk; at most a sixteenth of the
// budget. Each of the open_parts() has these windows.
[[nodiscard]] WriteWindows plan_write_windows(const Plan& plan);

// The number of a split output's parts that are written at once: each thread may be at the end of
// one and at the start of another.
[[nodiscard]] unsigned open_parts(const Plan& plan);

// The least that `elements` elements of the output can take on disk, before its keys are known.
[[nodiscard]] std::uint64_t least_output_bytes(const Job& job, std::uint64_t elements);

}  // namespace gsort
