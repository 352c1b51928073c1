// The memory that text, compression and direct writes take in addition to the sort's own buffers.
#pragma once

#include <cstdint>

#include "base/direct_io.hpp"
#include "form/file_form.hpp"
#include "options/job.hpp"

namespace gsort {

// The plan for an output that is not plain.
struct EncodePlan : Encoding {
  std::uint64_t memory_bytes = 0;  // for all of it
};

// Plans how `threads` threads encode the job's output under a host budget: an eighth of it is for
// frames, a quarter for compressors, but at least one frame and one compressor. If the encoding is
// verified, each compressor has a decompressor.
[[nodiscard]] EncodePlan plan_encoding(const Job& job, unsigned threads, std::uint64_t host_bytes);

// Memory that `threads` threads that put pieces need to write around the page cache: two windows
// each, one being filled and one being written, and some for the disk; at most a sixteenth of the
// budget. Each of `files` files that are written at the same time has these windows.
[[nodiscard]] WriteWindows plan_write_windows(unsigned threads, std::uint64_t host_bytes,
                                              unsigned files);

// The number of a split output's `parts` that are written at once: each thread may be at the end
// of one and at the start of another.
[[nodiscard]] unsigned open_parts(unsigned parts, unsigned threads);

// The least that the output can take on disk, before its keys are known.
[[nodiscard]] std::uint64_t least_output_bytes(const OutputForm& form, std::uint64_t skip_bytes,
                                               std::uint64_t element_bytes, std::uint64_t elements);

}  // namespace gsort
