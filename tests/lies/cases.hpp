// The sorts that lies are told in: every strategy, every way in and out, so small that thousands of
// them take a minute.
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
  std::set<Seam> seams;  // where lies are told; each must have events
  bool repeats = false;  // there is room for a block that the reader gives twice
  bool resumes = false;  // ends in the middle, and is gone on with
};

// What test lists call it.
void PrintTo(const LieCase& lie_case, std::ostream* out);

[[nodiscard]] const std::vector<LieCase>& lie_cases();

[[nodiscard]] std::size_t element_bytes_of(const SortRequest& request);

// What the case's output must hold: old bytes that no sort would make.
[[nodiscard]] const Bytes& old_output();

// The sort with whatever the liar has been told. A compressed output is given decompressed.
[[nodiscard]] SortResult run_case(const LieCase& lie_case);

}  // namespace gsort::test
