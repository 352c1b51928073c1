// The sort that sort_file and gsort.h share.
#pragma once

#include <cstdint>

#include "options/job.hpp"
#include "options/options.hpp"
#include "plan/outcome.hpp"

namespace gsort {

// Whether keys without a given type may be read as keys of the default type.
enum class AssumedType : std::uint8_t { kAllowed, kRefused };

// Throws: as sort_file does; and what the libraries below throw.
[[nodiscard]] Outcome run_sort(const Options& options, AssumedType assumed);

// Throws: Error(kUsage) if the type is the default and the result depends on it.
void require_known_type(const Options& options, const Job& job);

}  // namespace gsort
