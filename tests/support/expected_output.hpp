// The reference for whole sorts: every request, on every engine, must give the result of a stable
// sort of its input by the standard library.
#pragma once

#include "support/sort_run.hpp"

namespace gsort::test {

// The output of the request. Requires: the output has raw elements and is not shuffled; the request
// neither adds counts nor has a set operation.
[[nodiscard]] Bytes expected_output(const SortRequest& request);

// Expects the result to have this output and its numbers of elements, and to leave no other file.
void expect_right(const SortRequest& request, const SortResult& result);

// Sorts, and expects the result to be right.
SortResult expect_right(const SortRequest& request);

}  // namespace gsort::test
