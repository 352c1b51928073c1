// Sorts files as the program does: reads, sorts, spills data that does not fit in memory, proves,
// and gives the output its name only when it is complete.
//
//   gsort::Options options;
//   options.inputs = {"dump.u64"};
//   options.output = "sorted.u64";
//   options.key.type = gsort::KeyType::kU64;
//   gsort::sort_file(options);
//
// Read next: options.hpp, error.hpp.
#pragma once

#include <cstdint>

#include "base/error.hpp"
#include "options/options.hpp"

namespace gsort {

struct SortedFile {
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;          // of the elements
  std::uint64_t runs = 0;           // 0: all fitted in memory
  std::uint64_t spilled_bytes = 0;  // written to temporary folders
  bool verified = false;            // order and fingerprint of the output were proved
  double seconds = 0;
};

// Sorts options.inputs into options.output. Options mean the same as on the command line, with
// three differences: key.type is the type, unless the header of a NumPy array has another one
// (suffixes of files and the environment are ignored, except by parse_options); there must be an
// output; and nothing is written to standard error.
// If parse_options found no type, the assumed one replaces no input, and inputs that are plainly
// not raw keys are an error, as on the command line.
// Thread-safe; sorts at the same time do not share limits, so give each a buffer_size.
// A sort on GPUs may change the calling thread's current CUDA device.
// Does not change signals or their handlers: ignore SIGXFSZ if files have a size limit, and SIGPIPE
// if the output is a pipe; otherwise they end the process.
// Throws: Error(kUsage) for no input or no output, and for options that ask for something else than
// a sort (check, each, explain, show, stats, trace); Error of any kind from the sort: then no
// output has appeared, unless the hint says that it is in place (a failed sync of its folder), and
// nothing temporary is left.
SortedFile sort_file(const Options& options);

}  // namespace gsort
