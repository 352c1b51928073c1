// The slices of all shares' runs that make one part of the output, and how they are merged if
// memory has no room to merge all of them at once.
//
// First, all runs are cut at the borders of the part. Then groups of neighbours are merged. In the
// merged sequence of a group, the elements in front of its runs' cuts come first, so the slices of
// the group are exactly one range of that sequence. This range is merged into a temporary run,
// which takes the place of the group. Example, a part [4, 10) of 12 elements and a fan-in of 2:
//
//   runs     a: 1 4 7 9    b: 2 5 7 8    c: 3 6 8 9     part: 5 6 7 7 8 8
//   slices   a: [2, 3)     b: [1, 4)     c: [1, 3)
//   round    a, b: [3, 7) of 1 2 4 5 7 7 8 9            run d: 5 7 7 8
//   last     d, c: [1, 7) of 3 5 6 7 7 8 8 9            all of d, and c behind its first element
//
// The folders of the shares are only read, so a killed process leaves nothing there. Temporary runs
// have no names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/merge_runs.hpp"

namespace gsort {

// Not thread-safe. The plan, and the stores of the runs, outlive it.
class PartRuns {
 public:
  // `part` is a range of all elements of `runs`, merged. Nothing is cut yet.
  PartRuns(const Plan& plan, std::vector<io::Run> runs, OutputRange part);

  // Where runs are cut: exactly at the borders of the part, or behind all elements whose keys are
  // equal to that of the last one in front of a border.
  enum class Borders : std::uint8_t { kExact, kBehindTies };

  // Cuts all runs, and drops those that give nothing to the part. Takes memory for no more blocks
  // than a merge has, and frees it at the end. `scratch_bytes` is the least scratch for reading any
  // of the runs. Throws: as PartSplitter::cuts_at.
  void cut(std::uint64_t scratch_bytes, Borders borders = Borders::kExact);

  // The part; after cut(), as it was cut.
  [[nodiscard]] const OutputRange& range() const { return part_; }
  [[nodiscard]] std::size_t runs() const { return runs_.size() + slices_.size(); }
  // How many elements each run gives. Requires: cut().
  [[nodiscard]] std::vector<std::uint64_t> slices() const;

  // Merges groups of neighbours into runs of the context's store, which outlives this object, until
  // one merge can take all that are left. Requires: cut(). Throws: as merge_range.
  void merge_rounds(const SortContext& context);

  // Merges the runs that are left. Call it once. Positions are those among all elements of the
  // original runs. Requires: at most as many runs as the plan's fan-in. Throws: as merge_range.
  void merge(const SortContext& context, PieceSink& sink);

 private:
  // A run that gives its elements [begin, end).
  struct Slice {
    io::Run run;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  // Slices of neighbours: one range of the elements that their runs give when they are merged.
  struct Group {
    std::vector<io::Run> runs;
    OutputRange range;
  };
  [[nodiscard]] static Group group_of(std::span<Slice> slices);

  const Plan& plan_;
  std::vector<io::Run> runs_;  // until cut()
  OutputRange part_;
  std::vector<Slice> slices_;  // since cut()
};

}  // namespace gsort
