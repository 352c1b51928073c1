// The slices of all shares' runs that make one part of the output. If memory has no room to merge
// all of them at once, groups of neighbours are merged first (merge_runs.hpp): in the merged
// sequence of a group, the elements in front of its runs' cuts come first, so the slices of the
// group are exactly one range of that sequence. This range becomes a temporary run, which takes the
// place of the group. Example, a part [4, 10) of 12 elements and a fan-in of 2:
//
//   runs     a: 1 4 7 9    b: 2 5 7 8    c: 3 6 8 9     part: 5 6 7 7 8 8
//   slices   a: [2, 3)     b: [1, 4)     c: [1, 3)
//   round    a, b: [3, 7) of 1 2 4 5 7 7 8 9            run d: 5 7 7 8
//   last     d, c: [1, 7) of 3 5 6 7 7 8 8 9            all of d, and c behind its first element
//
// The folders of the shares are only read, so a killed process leaves nothing there. Temporary runs
// have no names.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/merge_runs.hpp"

namespace gsort {

// Cuts all runs at the borders of `part`, a range of all their elements, merged. If elements are
// distinct, cuts them behind all elements whose keys equal that of the last one in front of a
// border; the part then moves, too. Leaves out runs that give nothing to the part. Takes memory for
// no more blocks than a merge has, and frees it at the end. `scratch_bytes` is the least scratch
// for reading any of the runs. Throws: as PartSplitter::cuts_at.
[[nodiscard]] std::vector<RunSlice> slices_of_part(const Plan& plan, std::vector<io::Run> runs,
                                                   std::uint64_t scratch_bytes, OutputRange& part);

}  // namespace gsort
