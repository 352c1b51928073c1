// The sorts in which lies are told: one for each strategy and each form of input and output, so
// small that thousands of them take a minute.
#pragma once

#include <iosfwd>
#include <set>
#include <string>
#include <vector>

#include "lies/liar.hpp"
#include "support/sort_run.hpp"

namespace gsort::test {

struct LieCase {
  std::string name;
  SortRequest request;
  std::set<Seam> seams;            // the seams of the lies; each must have events
  bool may_repeat_blocks = false;  // a chunk has room for a block that the reader gives twice
  bool resumes = false;            // the sort is ended midway, and a second one resumes it
  bool in_shares = false;          // shares and parts are sorted separately
};

// Its name, for the list of tests.
void PrintTo(const LieCase& lie_case, std::ostream* out);

[[nodiscard]] const std::vector<LieCase>& lie_cases();

[[nodiscard]] std::size_t element_bytes_of(const SortRequest& request);

// The content of the output before each sort: bytes that no sort would write.
[[nodiscard]] const Bytes& old_output();

// Runs the sort, in which the liar does what it was told. Decompresses a compressed output.
[[nodiscard]] SortResult run_case(const LieCase& lie_case);

}  // namespace gsort::test
