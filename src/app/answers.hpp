// The answers of -c and --fingerprint. Both functions print one, and return whether the elements
// are as expected: in order, and those that --expect names.
#pragma once

#include "element/fingerprint.hpp"
#include "options/job.hpp"
#include "options/request.hpp"
#include "plan/outcome.hpp"

namespace gsort {

// Throw: Error(kOutput) if it cannot be printed.
[[nodiscard]] bool answer_check(const Request& request, const Job& job,
                                const CheckOutcome& outcome);
[[nodiscard]] bool answer_fingerprint(const Request& request, const Fingerprint& found);

}  // namespace gsort
