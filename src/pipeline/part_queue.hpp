// The output in parts. A queue hands out the parts of one range of the output, so that several
// queues, of this process or of others, can each take a range; together they give the same parts as
// one queue.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "io/runs/run_store.hpp"
#include "pipeline/split/part_splitter.hpp"
#include "plan/plan.hpp"

namespace gsort {

// The elements [begin, end) of the merged runs.
struct OutputRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t elements() const { return end - begin; }
};

// A part with its slices: run i gives [begin[i], end[i]).
struct Part {
  OutputRange range;
  std::vector<std::uint64_t> begin;
  std::vector<std::uint64_t> end;

  // The number of elements that each run gives.
  [[nodiscard]] std::vector<std::uint64_t> counts() const;
};

// Hands out the parts of a range in order. Thread-safe.
class PartQueue {
 public:
  // If sizes.least_part_elements is below the most of a part, parts become shorter towards the end:
  // each is at most half of a lane's average of the remaining elements, so that fast and slow lanes
  // end together. Requires: the splitter has made no cuts yet; the range lies in the merged runs;
  // the least, which only the last part may go below, is not 0. Throws: as PartSplitter::cuts_at.
  PartQueue(PartSplitter splitter, OutputRange range, const MergePlan& sizes);

  // The next part; none if all have been handed out. A call that fails hands out none: the next
  // call begins where this one did. Throws: as PartSplitter::cuts_at.
  [[nodiscard]] std::optional<Part> take();

 private:
  // The elements of the next part.
  [[nodiscard]] std::uint64_t next_elements() const;

  std::mutex mutex_;
  PartSplitter splitter_;
  OutputRange left_;
  const MergePlan sizes_;
  std::vector<std::uint64_t> cuts_;  // at left_.begin
};

// Gives the space of runs back as parts are done: the space before the first part that is not done.
// Thread-safe.
class SpaceReturn {
 public:
  // The runs outlive it. The first part begins at element `begin` of the merged runs.
  SpaceReturn(std::span<io::Run> runs, std::uint64_t begin);

  // Call it when the part's slices are not read again, once for each part.
  void done(const Part& part);

 private:
  // The number of times that space is given back: large holes take little longer than small ones.
  static constexpr std::uint64_t kReleases = 32;

  // The end of the parts that are done, with all earlier ones; none if little would be given back.
  std::vector<std::uint64_t> ends_to_release(const Part& part);

  std::mutex mutex_;
  std::span<io::Run> runs_;
  std::uint64_t total_ = 0;
  std::map<std::uint64_t, Part> waiting_;  // by their beginnings: done, but not all earlier parts
                                           // are
  std::uint64_t done_;                     // all elements before it are done
  std::vector<std::uint64_t> done_ends_;   // the cuts there
  std::uint64_t released_ = 0;             // the elements that have been given back, or are being
                                           // given back
  std::mutex releasing_;
};

}  // namespace gsort
