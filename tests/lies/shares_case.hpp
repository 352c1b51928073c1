// A sort whose shares and parts are processes of their own, as --form, --take and --join make them:
// two shares, three parts, one after the other in this process.
#pragma once

#include "support/sort_run.hpp"

namespace gsort::test {

// Sorts the request's input under its change_plan; other options of it are not looked at. The first
// error ends it, and is part of the result.
[[nodiscard]] SortResult sort_in_shares(const SortRequest& request);

}  // namespace gsort::test
