// The output in parts. A queue hands out the parts of one range of the output, so that several
// queues, of this process or of others, can each do a share; what they give together is what one
// queue gives.
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

namespace gsort {

// The elements [begin, end) of what the runs give when they are merged.
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

  // How many elements each run gives.
  [[nodiscard]] std::vector<std::uint64_t> counts() const;
};

// How many elements parts have. With `least` below `most`, parts become shorter towards the end:
// each is at most half of a lane's share of what is left, so that fast and slow lanes end together.
struct PartElements {
  std::uint64_t most = 1;
  std::uint64_t least = 1;  // but for the last part
  unsigned lanes = 1;       // that take parts
};

// Hands out the parts of a range in order. Thread-safe.
class PartQueue {
 public:
  // The splitter has made no cuts yet. Requires: the range lies in what all runs hold;
  // 0 < least <= most. Throws: as PartSplitter::cuts_at.
  PartQueue(PartSplitter splitter, OutputRange range, PartElements elements);

  // None when all have been handed out. A call that fails hands out none: the next call begins
  // where this one did. Throws: as PartSplitter::cuts_at.
  [[nodiscard]] std::optional<Part> take();

 private:
  // The elements of the next part.
  [[nodiscard]] std::uint64_t next_elements() const;

  std::mutex mutex_;
  PartSplitter splitter_;
  OutputRange left_;
  PartElements elements_;
  std::vector<std::uint64_t> cuts_;  // at left_.begin
};

// Gives the space of runs back as parts are done: what lies in front of the first part that is not.
// One for all ranges of a merge of these runs. Thread-safe.
class SpaceReturn {
 public:
  // Waits until so many ranges have begun. The runs outlive it.
  explicit SpaceReturn(std::span<io::Run> runs, unsigned ranges = 1);

  // A range has its queue. To find the cuts at its begin, the queue may have read the runs
  // anywhere; from now on it reads nothing in front of these cuts.
  void begin_range();

  // The part's slices are not read again. No part is done twice.
  void done(const Part& part);

 private:
  // How often space is given back: larger holes take little longer than small ones.
  static constexpr std::uint64_t kReleases = 32;

  // Where the parts end that are done together with all before them; none if that is little more
  // than was given back before.
  std::vector<std::uint64_t> ends_to_release(const Part& part);

  std::mutex mutex_;
  std::span<io::Run> runs_;
  std::uint64_t total_ = 0;
  unsigned ranges_to_begin_;
  std::map<std::uint64_t, Part> waiting_;  // by where they begin: done, but not all before them
  std::uint64_t done_ = 0;                 // all elements before it are done
  std::vector<std::uint64_t> done_ends_;   // the cuts there
  std::uint64_t released_ = 0;             // so many have been given back, or are being
  std::mutex releasing_;
};

}  // namespace gsort
