// A sort in shares and parts, as --form, --take and --join make them: two shares, three parts, one
// after the other in this process.
#pragma once

#include "support/sort_run.hpp"

namespace gsort::test {

// Sorts the request's input with its change_plan; ignores its other options. The first error ends
// it, and is part of the result.
[[nodiscard]] SortResult sort_in_shares(const SortRequest& request);

}  // namespace gsort::test
