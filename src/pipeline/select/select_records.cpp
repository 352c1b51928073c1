#include "pipeline/select/select_records.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "pipeline/proof/damage_hint.hpp"

namespace gsort {

RecordCandidates::RecordCandidates(RecordSelection& selection, ByteSpan memory)
    : all_(selection),
      limit_(*selection.plan.job.top),
      record_bytes_(selection.order.record_bytes()),
      room_(memory.data()),
      other_room_(room_ + selection.sizes.candidate_bytes),
      entries_(reinterpret_cast<RecordEntry*>(other_room_ + selection.sizes.candidate_bytes),
               selection.sizes.candidates) {}

void RecordCandidates::add(ConstByteSpan block, std::uint64_t first_index) {
  const std::size_t records = block.size() / record_bytes_;
  if (entries_.size() - count_ < records) reduce();
  const std::uint64_t bound = all_.bound;
  const bool is_bounded = bound != ~std::uint64_t{0};
  const std::uint64_t before = count_;
  least_left_ = nullptr;
  for (std::size_t i = 0; i < records; ++i) {
    const std::byte* const record = block.data() + i * record_bytes_;
    const std::uint64_t prefix = all_.order.prefix_of(record);
    if (limit_ == 0 || prefix > bound || (prefix == bound && is_beyond_last(record))) {
      note_left(record, prefix);
      continue;
    }
    entries_[count_] = {prefix, first_index + i, count_};
    std::memcpy(at(entries_[count_]), record, record_bytes_);
    ++count_;
  }
  if (count_ - before < records) {
    // Fingerprints the block again: with the fingerprint from reading it, the sum would be right
    // whatever records were taken.
    Fingerprint left = all_.proof.look(block);
    left -= all_.proof.look({room_ + before * record_bytes_, (count_ - before) * record_bytes_});
    all_.proof.add_left_out(left, least_left_);
  }
  const bool most_are_taken = is_bounded && 2 * (count_ - before) > records;
  if (are_many_candidates(count_, limit_, most_are_taken)) reduce();
}

bool RecordCandidates::may_want(std::uint64_t key, std::uint64_t /*position*/) const {
  if (limit_ == 0) return false;
  const std::size_t shift = 8 * (sizeof(key) - all_.plan.job.numbered->bytes());
  const std::uint64_t bound = all_.bound >> shift;
  if (key != bound || last_wanted_ == nullptr || all_.plan.job.is_distinct()) return key <= bound;
  return all_.order.prefix_of(last_wanted_) >> shift != key;
}

void RecordCandidates::reduce() {
  const std::span<RecordEntry> entries = entries_.first(count_);
  std::ranges::sort(
      entries, [this](const RecordEntry& a, const RecordEntry& b) { return comes_first(a, b); });
  put_in_order(all_.plan.job.is_distinct() ? move_repeats_back(entries) : count_);
  if (limit_ == 0 || count_ < limit_) return;
  const std::uint64_t last = entries_[limit_ - 1].prefix;
  std::uint64_t seen = all_.bound;
  while (last < seen && !all_.bound.compare_exchange_weak(seen, last)) {
  }
}

// Moves entries that repeat the one before them to the end. Returns the number of the others.
std::uint64_t RecordCandidates::move_repeats_back(std::span<RecordEntry> entries) const {
  if (entries.empty()) return 0;
  std::uint64_t expected = 1;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (!has_equal_keys(entries[i - 1], entries[i])) ++expected;
  }
  std::uint64_t distinct = 1;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (has_equal_keys(entries[distinct - 1], entries[i])) continue;
    std::swap(entries[distinct++], entries[i]);
  }
  if (distinct == expected) return distinct;
  throw Error(ErrorKind::kCorrupt, "dropping repeats", "elements that are not repeats were dropped")
      .hint(kDamageHint);
}

void RecordCandidates::merge(const RecordCandidates& other) {
  std::memcpy(room_ + count_ * record_bytes_, other.room_, other.count_ * record_bytes_);
  for (std::uint64_t i = 0; i < other.count_; ++i) {
    entries_[count_ + i] = other.entries_[i];
    entries_[count_ + i].slot = count_ + i;
  }
  count_ += other.count_;
  reduce();
}

// Whether a record is not among the first N. Requires: in the input, it comes after the last wanted
// one. With -u, an equal record is a repeat.
bool RecordCandidates::is_beyond_last(const std::byte* record) const {
  if (last_wanted_ == nullptr) return false;
  return all_.order.compare(record, last_wanted_) >= (all_.plan.job.is_distinct() ? 1 : 0);
}

bool RecordCandidates::comes_first(const RecordEntry& a, const RecordEntry& b) const {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  const int order = all_.order.prefix_is_whole() ? 0 : all_.order.compare(at(a), at(b));
  return order != 0 ? order < 0 : a.index < b.index;
}

bool RecordCandidates::has_equal_keys(const RecordEntry& a, const RecordEntry& b) const {
  return a.prefix == b.prefix &&
         (all_.order.prefix_is_whole() || all_.order.compare(at(a), at(b)) == 0);
}

void RecordCandidates::note_left(const std::byte* record, std::uint64_t prefix) {
  if (least_left_ != nullptr) {
    if (prefix > least_prefix_) return;
    if (prefix == least_prefix_ && all_.order.compare(record, least_left_) >= 0) return;
  }
  least_left_ = record;
  least_prefix_ = prefix;
}

// Moves the records to the other buffer in the order of their entries, and keeps those that are
// wanted. The first `distinct` entries are not repeats.
void RecordCandidates::put_in_order(std::uint64_t distinct) {
  for (std::uint64_t i = 0; i < count_; ++i) {
    std::memcpy(other_room_ + i * record_bytes_, at(entries_[i]), record_bytes_);
    entries_[i].slot = i;
  }
  std::swap(room_, other_room_);
  const ConstByteSpan all = kept();
  const std::uint64_t wanted = std::min(distinct, limit_);
  if (distinct < count_) all_.proof.add_dropped(all.subspan(distinct * record_bytes_));
  if (wanted < distinct) {
    const std::size_t begin = wanted * record_bytes_;
    const ConstByteSpan beyond = all.subspan(begin, distinct * record_bytes_ - begin);
    all_.proof.add_left_out(all_.proof.look(beyond), beyond.data());
  }
  count_ = wanted;
  last_wanted_ = wanted > 0 && wanted == limit_ ? room_ + (wanted - 1) * record_bytes_ : nullptr;
}

}  // namespace gsort
