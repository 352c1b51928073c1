// The memory that text, compression and direct writes take beside the sort's own buffers, and how
// much of it there is at once.
#pragma once

#include <cstdint>

#include "base/direct_io.hpp"
#include "element/key.hpp"
#include "form/file_form.hpp"

namespace gsort {

// How an output that is not plain is made: sorted keys are cut into frames, and each is formatted
// and compressed by itself, on many cores.
struct EncodePlan {
  std::uint64_t frame_elements = 0;  // 0: the output is plain
  unsigned encoders = 0;             // compressors at work at the same time, at most
  std::uint64_t memory_bytes = 0;    // for all of it
  bool is_proven = false;            // what was encoded is decoded again, and compared
};

// Memory that `threads` threads need under a host budget: an eighth of it for frames, a quarter for
// compressors, but one frame and one compressor at least. Proven: each compressor has a
// decompressor beside it. Counted: elements are keys with their counts.
[[nodiscard]] EncodePlan plan_encoding(const OutputForm& form, const KeyFormat& key,
                                       std::uint64_t element_bytes, unsigned threads,
                                       std::uint64_t host_bytes, bool proven, bool counted = false);

// Memory that `threads` threads that put pieces need to write around the page cache: two windows
// each, one being filled and one being written, and some for the disk; at most a sixteenth of the
// budget. These are the windows of each of `files` files that are written at the same time.
[[nodiscard]] WriteWindows plan_write_windows(unsigned threads, std::uint64_t host_bytes,
                                              unsigned files);

// The number of a split output's `parts` that are written at once: each thread may be at the end
// of one and at the start of another.
[[nodiscard]] unsigned open_parts(unsigned parts, unsigned threads);

// The least that the output can take on disk, before its keys are known.
[[nodiscard]] std::uint64_t least_output_bytes(const OutputForm& form, std::uint64_t skip_bytes,
                                               std::uint64_t element_bytes, std::uint64_t elements);

}  // namespace gsort
