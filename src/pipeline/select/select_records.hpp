// RecordCandidates: the records that one worker of select_top.hpp keeps.
//
// A buffer holds the records. Each has an entry: its prefix, its place in the buffer and its index
// in the input. A sort moves the entries, and then each record once, to the other buffer. A record
// whose prefix is beyond the bound is dropped; if its prefix equals the bound, it is compared with
// the last of the worker's first N records. If records have equal keys, the first ones stay.
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

// All workers share it.
struct RecordSelection {
  const Plan& plan;
  const SelectPlan& sizes;
  RecordOrder order;
  Proof& proof;
  // No record with a greater prefix is wanted. The bound only falls.
  std::atomic<std::uint64_t> bound{~std::uint64_t{0}};
};

class RecordCandidates {
 public:
  // Requires: `memory` has room for two buffers and the entries (plan_selection); blocks come in
  // the order of the input.
  RecordCandidates(RecordSelection& selection, ByteSpan memory);

  // Whether a record may be wanted whose first key has this ordered number. Requires: in the input,
  // it comes after all records that were added.
  [[nodiscard]] bool may_want(std::uint64_t key, std::uint64_t position) const;

  // Takes the records of a block that may be wanted. Its first record has the index `first_index`.
  // Throws: Error(kCorrupt).
  void add(ConstByteSpan block, std::uint64_t first_index);

  // Sorts the candidates and keeps the wanted ones.
  void reduce();

  // Adds the candidates of another worker. Requires: both have been reduced.
  void merge(const RecordCandidates& other);

  [[nodiscard]] ConstByteSpan kept() const { return {room_, count_ * record_bytes_}; }

 private:
  [[nodiscard]] bool is_beyond_last(const std::byte* record) const;
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
  // The last of the first N records so far; null if there are fewer.
  const std::byte* last_wanted_ = nullptr;
  // The least record of a block that was left out; null if there is none.
  const std::byte* least_left_ = nullptr;
  std::uint64_t least_prefix_ = 0;
};

}  // namespace gsort
