// What the runs of all shares give to one part of the output, and how it is merged where memory has
// no room for all of them at once.
//
// All runs are cut at the borders of the part first. Of neighbours in a group, the elements in
// front of their cuts are the first ones of what the group gives: so one group's slices are merged
// as a range of what its runs give, exactly, into a temporary run, which holds that range alone and
// takes their place. Example, a part [4, 10) of 12 elements and a fan-in of 2:
//
//   runs     a: 1 4 7 9    b: 2 5 7 8    c: 3 6 8 9     part: 5 6 7 7 8 8
//   slices   a: [2, 3)     b: [1, 4)     c: [1, 3)
//   round    a, b: [3, 7) of 1 2 4 5 7 7 8 9            run d: 5 7 7 8
//   last     d, c: [1, 7) of 3 5 6 7 7 8 8 9            all of d, and c behind its first element
//
// The folders of the shares are only read, so a process that is killed leaves nothing there; its
// temporary runs have no names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/merge_runs.hpp"
#include "pipeline/run_view.hpp"

namespace gsort {

// Not thread-safe. The plan, and the runs that the views show, outlive it.
class PartRuns {
 public:
  // All runs, and the part of what they give. `scratch_bytes` is the least scratch for reading any
  // of them. Nothing is cut yet.
  PartRuns(const Plan& plan, RunViews runs, std::uint64_t scratch_bytes, OutputRange part);

  // Where a part's borders are.
  enum class Borders : std::uint8_t { kExact, kBehindTies };

  // Cuts all runs at the borders of the part, or behind the elements that tie with the last ones in
  // front of these, and forgets the runs that give nothing to it. Memory is taken for no more
  // blocks than a merge would have, and gone at the end. Throws: as PartSplitter::cuts_at.
  void cut(Borders borders = Borders::kExact);

  // The part, after cut() as it was cut.
  [[nodiscard]] const OutputRange& range() const { return part_; }
  [[nodiscard]] std::size_t runs() const { return runs_.size(); }
  // How many elements each gives. Requires: cut().
  [[nodiscard]] std::vector<std::uint64_t> slices() const;

  // Merges groups of neighbours into runs of the context's store, which outlives this, until one
  // merge takes the rest. Requires: cut(). Throws: as merge_range.
  void merge_rounds(const MergeContext& context);

  // Merges what is left; positions are as of all that the first runs give.
  // Requires: at most as many runs as the plan's fan-in. Throws: as merge_range.
  void merge(const MergeContext& context, PieceSink& sink) const;

 private:
  // Elements of the merged runs [first, first + count).
  [[nodiscard]] OutputRange range_of(std::size_t first, std::size_t count) const;
  [[nodiscard]] std::unique_ptr<const RunView> merge_group(const MergeContext& context,
                                                           std::size_t first,
                                                           std::size_t count) const;

  const Plan& plan_;
  RunViews runs_;
  const std::uint64_t scratch_bytes_;
  OutputRange part_;
  // Run i gives [begin_[i], end_[i]); empty until cut().
  std::vector<std::uint64_t> begin_;
  std::vector<std::uint64_t> end_;
};

}  // namespace gsort
