// PartSplitter: for an output position, finds exactly how many elements each run gives to the
// elements before it; ties go to lower runs (kway_split.hpp).
//
// The fences, all in memory, bracket the key at the position first; only then are blocks read. Keys
// are assumed to be spread evenly between fences, which gives a good guess of the cut: so the first
// blocks that are read, one of each run, mostly hold the cuts. The last block read of each run is
// kept, since the next position's search starts nearby. Without the guess, cutting took half of the
// time of a merge (tools/bench/results/tried.md).
//
// Records are split by their prefixes first, in the same way; records with the prefix of the record
// at the cut are then split by their whole keys (record_ties.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "element/record.hpp"
#include "pipeline/split/run_counter.hpp"

namespace gsort {

// Not thread-safe. Movable.
class PartSplitter {
 public:
  // As RunCounter's constructor.
  explicit PartSplitter(const RunsToCut& runs, std::size_t most_blocks = kABlockOfEach);

  // The cuts for output position `position`, one for each run. Requires: the position is not below
  // that of the previous call, and at most the sum of all elements. Ensures: the cuts lie in their
  // runs, none before that of the previous call, and add up to the position, whatever the blocks
  // hold. Throws: Error(kTemporary), Error(kCorrupt) from reading blocks; Error(kCorrupt) for runs
  // that are not in order.
  [[nodiscard]] std::vector<std::uint64_t> cuts_at(std::uint64_t position);

  // The same, but the cuts are moved behind all elements with the key of the last one before the
  // position, so that no key is on both sides. Requires: no other function was called before.
  // Ensures: as cuts_at, except that the cuts may add up to more than the position. `last_equal`
  // returns the greatest key that equals a key, or equals a prefix that is the whole key.
  using LastEqual = std::function<std::uint64_t(std::uint64_t)>;
  [[nodiscard]] std::vector<std::uint64_t> cuts_behind_ties_at(
      std::uint64_t position, const LastEqual& last_equal = std::identity());

 private:
  struct Range {
    std::uint64_t low;
    std::uint64_t high;
  };

  // Narrows the range of the key at the position, and low_/high_, by the fences.
  [[nodiscard]] Range bracket_by_fences(std::uint64_t position, Range range);
  // Narrows them by two counts near the guessed key.
  void narrow_by_guess(std::uint64_t position, Range& range);
  // The least value in the range up to which this many elements are expected.
  [[nodiscard]] std::uint64_t expected_at(double position, Range range) const;
  // Moves the cuts behind all records with the keys of the last one before the position.
  void move_behind_records(const RecordOrder& order);
  // Counts the elements <= value, narrows by that, and returns their number.
  std::uint64_t narrow_at(std::uint64_t value, std::uint64_t position, Range& range);
  // counts[i]: the elements <= value of run i, which lie in [low[i], high[i]].
  void count_all(std::uint64_t value, const std::uint64_t* low, const std::uint64_t* high,
                 std::uint64_t* counts);

  RunCounter runs_;
  std::vector<std::uint64_t> low_;
  std::vector<std::uint64_t> high_;
  std::vector<std::uint64_t> probe_;
};

}  // namespace gsort
