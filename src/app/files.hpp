// The inputs of a job: the options for the reader, and the facts that headers add to the options.
#pragma once

#include <cstdint>
#include <string>

#include "io/input/reader.hpp"
#include "options/job.hpp"
#include "options/request.hpp"

namespace gsort {

// The value of -S, or half of the available memory. Throws: Error(kUsage) as host_budget.
[[nodiscard]] std::uint64_t memory_of(const Resources& resources, unsigned processes = 1);

[[nodiscard]] io::ReaderOptions reader_options(const Options& options);

// Throws: Error(kUsage) if the headers of the inputs disagree with the options.
[[nodiscard]] Job job_of(const Options& options, const io::Reader& reader);

// A note on the assumed type of the keys, if it may be wrong; empty with -q and -C.
[[nodiscard]] std::string note_of_types(const Request& request, const Job& job);

// Keeps decoders within -S for inputs that are only read once, without a plan. Throws:
// Error(kUsage) if that is impossible.
void limit_decoders_of_check(const Job& job, io::Reader& reader);

}  // namespace gsort
