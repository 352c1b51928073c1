// WantedStretches: gives numbers to elements of a selection (--argsort --top), but only to
// stretches of the input in which one may be wanted. So all others cost as much as without numbers.
//
// Proof. Elements enter the proof as they are read, without numbers. Those of a stretch that gets
// numbers leave it and enter it again with them; the others are left out as they are.
#pragma once

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
  // Whether the elements of a selection are such: keys of 4 or 8 bytes with positions.
  [[nodiscard]] static bool are_of(const Job& job);

  // Requires: are_of(job). `proof` and `meter`, which may be null, outlive it.
  WantedStretches(const Job& job, Proof& proof, Meter* meter);

  // As read_next(), whose elements have no numbers (Reader::number_elements), and
  // Proof::add_input().
  [[nodiscard]] std::optional<io::InputBlock> read_next(io::Reader& reader, ByteSpan block) const;
  Fingerprint add_input(ConstByteSpan block) const;

  // Adds elements of a block that may be wanted to the candidates. Its first one has the index
  // `first`.
  template <class Candidates>
  void add(ConstByteSpan block, std::uint64_t first, Candidates& candidates) {
    begin(block);
    for (std::size_t stretch = 0; stretch < stretches_; ++stretch) {
      const std::uint64_t index = first + stretch * kKeysOfStretch;
      if (candidates.may_want(least_[stretch], index)) {
        candidates.add(numbered(stretch_of(block, stretch), index), index);
      } else {
        leave_out(stretch);
      }
    }
    end(block, first);
  }

 private:
  [[nodiscard]] Fingerprint look(ConstByteSpan elements) const;
  [[nodiscard]] ConstByteSpan stretch_of(ConstByteSpan block, std::size_t stretch) const;
  [[nodiscard]] std::uint64_t ordered(const std::byte* key) const;
  void begin(ConstByteSpan block);
  ConstByteSpan numbered(ConstByteSpan elements, std::uint64_t index);
  void leave_out(std::size_t stretch);
  void end(ConstByteSpan block, std::uint64_t first);

  const KeyFormat key_;
  const Numbering numbering_;
  Proof& proof_;
  Meter* const meter_;
  // Of the current block:
  std::size_t stretches_ = 0;
  std::vector<std::uint64_t> least_;  // the least ordered number of each stretch
  Fingerprint left_;
  Fingerprint difference_;                 // by the numbers
  std::optional<std::size_t> least_left_;  // a stretch that is left out
  std::vector<std::byte> room_;            // of a stretch with numbers
};

}  // namespace gsort
