// The inputs of a job in the options' terms: what the reader is opened with, and what its headers
// add to what was asked.
#pragma once

#include <cstdint>
#include <string>

#include "io/input/reader.hpp"
#include "options/job.hpp"
#include "options/request.hpp"
#include "pipeline/check_order.hpp"

namespace gsort {

// -S, or else half of the available memory. Throws: Error(kUsage) as host_budget.
[[nodiscard]] std::uint64_t memory_of(const Resources& resources, unsigned processes = 1);

[[nodiscard]] io::ReaderOptions reader_options(const Options& options);

// Throws: Error(kUsage) where the headers of the inputs do not go with the options.
[[nodiscard]] Job job_of(const Options& options, const io::Reader& reader);

// Says what the keys are read as where that may not be what they are; empty with -q and -C.
[[nodiscard]] std::string note_of_types(const Request& request, const Job& job);

// The order that -c looks for.
[[nodiscard]] WantedOrder wanted_order(const Job& job);

// For inputs that are read once and not sorted, which needs no plan: their decoders stay within -S.
// Throws: Error(kUsage) where they cannot.
void limit_decoders_of_check(const Resources& resources, io::Reader& reader);

}  // namespace gsort
