// RecordCandidates: the records that one worker of select_top.hpp keeps.
//
// A record is kept in a buffer, with an entry of its prefix, its place in the buffer and its index
// in the input. Sorting moves the entries, and then each record once, to the other buffer. A record
// whose prefix is beyond the bound is not wanted; one that equals it may be. Of records with equal
// keys the first ones of the input stay.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.hpp"
#include "element/record.hpp"
#include "pipeline/proof/proof.hpp"
#include "plan/plan.hpp"
#include "plan/select_plan.hpp"

namespace gsort {

struct RecordEntry {
  std::uint64_t prefix = 0;
  std::uint64_t index = 0;  // in the input
  std::uint64_t slot = 0;   // in the buffer
};

static_assert(sizeof(RecordEntry) == kRecordEntryBytes);

// What holds for all workers.
struct RecordSelection {
  const Plan& plan;
  const SelectPlan& sizes;
  RecordOrder order;
  Proof& proof;
  // No record with a greater prefix is wanted any more. It only falls.
  std::atomic<std::uint64_t> bound{~std::uint64_t{0}};
};

class RecordCandidates {
 public:
  // Requires: `memory` has room for two buffers and the entries (plan_selection).
  RecordCandidates(RecordSelection& selection, ByteSpan memory);

  // Takes what may be wanted of a block, whose first record has this index. Throws:
  // Error(kCorrupt).
  void add(ConstByteSpan block, std::uint64_t first_index);

  // Sorts the candidates and keeps the first ones that are wanted.
  void reduce();

  // Takes over what another worker has kept. Requires: both have been reduced.
  void merge(const RecordCandidates& other);

  [[nodiscard]] ConstByteSpan kept() const { return {room_, count_ * record_bytes_}; }

 private:
  [[nodiscard]] bool comes_first(const RecordEntry& a, const RecordEntry& b) const;
  [[nodiscard]] bool has_equal_keys(const RecordEntry& a, const RecordEntry& b) const;
  [[nodiscard]] std::byte* at(const RecordEntry& entry) const {
    return room_ + entry.slot * record_bytes_;
  }
  [[nodiscard]] std::uint64_t move_repeats_back(std::span<RecordEntry> entries) const;
  void note_left(const std::byte* record, std::uint64_t prefix);
  void put_in_order(std::uint64_t distinct);

  RecordSelection& all_;
  const std::uint64_t limit_;
  const std::size_t record_bytes_;
  std::byte* room_;
  std::byte* other_room_;
  std::span<RecordEntry> entries_;
  std::uint64_t count_ = 0;
  // The first in order of the records of a block that were left out, if any was.
  const std::byte* least_left_ = nullptr;
  std::uint64_t least_prefix_ = 0;
};

}  // namespace gsort
