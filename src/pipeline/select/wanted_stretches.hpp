// WantedStretches: gives their positions to elements of a selection (--argsort --top), but only in
// stretches of the input with an element that may be wanted. The others cost as much as keys
// without positions.
//
// Proof. All elements enter the proof as they are read, without positions. Elements that get their
// positions leave the proof and enter it again with them, after a check that nothing else changed
// and that each position is right; all others are left out as they are. So an element that gets no
// position and is not left out is missed at the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/meter.hpp"
#include "element/fingerprint.hpp"
#include "element/numbered_elements.hpp"
#include "element/select_keys.hpp"
#include "io/input/reader.hpp"
#include "pipeline/proof/proof.hpp"
#include "plan/plan.hpp"

namespace gsort {

class WantedStretches {
 public:
  // Whether this is of use for the elements of a selection: keys of 4 or 8 bytes with positions.
  [[nodiscard]] static bool are_of(const Job& job);

  // Requires: are_of(job). `proof` and `meter`, which may be null, outlive it.
  WantedStretches(const Job& job, Proof& proof, Meter* meter);

  // As read_next() and Proof::add_input(), for elements that the reader does not number
  // (Reader::number_elements).
  [[nodiscard]] std::optional<io::InputBlock> read_next(io::Reader& reader, ByteSpan block) const;
  Fingerprint add_input(ConstByteSpan block) const;

  // Adds the stretches of a block in which an element may be wanted to the candidates, with
  // positions. The block's first element has the position `first`. Throws: Error(kCorrupt).
  template <class Candidates>
  void add(ConstByteSpan block, std::uint64_t first, Candidates& candidates) {
    begin(block);
    const auto index_of = [first](std::size_t stretch) { return first + stretch * kKeysOfStretch; };
    const auto may_want = [&](std::size_t stretch) {
      return candidates.may_want(least_[stretch], index_of(stretch));
    };
    for (std::size_t from = 0, to = 1; from < stretches_; from = to++) {
      const bool are_wanted = may_want(from);
      const std::size_t end = are_wanted ? std::min(stretches_, from + kMostAtOnce) : stretches_;
      while (to < end && may_want(to) == are_wanted) ++to;
      if (are_wanted) {
        candidates.add(numbered(stretches(block, from, to), index_of(from)), index_of(from));
      } else {
        leave_out(block, from, to);
      }
    }
    end(block, first);
  }

 private:
  static constexpr std::size_t kMostAtOnce = 8;  // stretches, whose records fit into an L1 cache

  [[nodiscard]] Fingerprint look(ConstByteSpan elements) const;
  [[nodiscard]] ConstByteSpan stretches(ConstByteSpan block, std::size_t from,
                                        std::size_t to) const;
  [[nodiscard]] std::uint64_t ordered(const std::byte* key) const;
  void begin(ConstByteSpan block);
  ConstByteSpan numbered(ConstByteSpan elements, std::uint64_t index);
  void require_numbered(ConstByteSpan records, ConstByteSpan elements, std::uint64_t index) const;
  void leave_out(ConstByteSpan block, std::size_t from, std::size_t to);
  void end(ConstByteSpan block, std::uint64_t first);

  const KeyFormat key_;
  const Numbering numbering_;
  Proof& proof_;
  Meter* const meter_;
  std::vector<std::byte> room_;  // for records that are added at once
  // For the current block:
  std::size_t stretches_ = 0;
  std::vector<std::uint64_t> least_;       // the least ordered number of each stretch
  Fingerprint left_;                       // the elements that are left out
  Fingerprint difference_;                 // between elements without and with positions
  std::optional<std::size_t> least_left_;  // the stretch with the least key that is left out
};

}  // namespace gsort
