// The reference of whole sorts: every request on every engine gives a stable sort of its input, by
// the standard library.
#pragma once

#include "support/sort_run.hpp"

namespace gsort::test {

// The output of the request. Requires: it is neither shuffled nor in another form than raw
// elements, and takes neither counts nor sets.
[[nodiscard]] Bytes expected_output(const SortRequest& request);

// Expects this output, the counts that belong to it, and no file left.
void expect_right(const SortRequest& request, const SortResult& result);

// Sorts, and expects that.
SortResult expect_right(const SortRequest& request);

}  // namespace gsort::test
