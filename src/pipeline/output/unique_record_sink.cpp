#include "pipeline/output/unique_record_sink.hpp"

#include <algorithm>
#include <vector>

namespace gsort {
namespace {

// The bytes that are copied at once.
constexpr std::size_t kSomeBytes = std::size_t{128} << 10;

}  // namespace

// Requires: there is a record before it.
bool UniqueRecordSink::repeats(const std::byte* record) const {
  return order_.compare(record - order_.record_bytes(), record) == 0;
}

void UniqueRecordSink::put(std::uint64_t position, ConstByteSpan records) {
  if (records.empty()) return;
  const std::size_t bytes = order_.record_bytes();
  const std::byte* const end = records.data() + records.size();
  std::uint64_t distinct = 1;
  for (const std::byte* record = records.data() + bytes; record != end; record += bytes) {
    if (!repeats(record)) ++distinct;
  }
  const std::uint64_t count = records.size() / bytes;
  const Turns::Place place =
      turns_.take(position, count, distinct, order_.normalised_key(records.data()),
                  order_.normalised_key(end - bytes));
  if (distinct == count && !place.repeats_last) {
    next_.put(place.position, records);
  } else {
    put_some(place, records);
  }
}

// The number of records that stay was counted when the place was taken, as in UniqueSink.
void UniqueRecordSink::put_some(Turns::Place place, ConstByteSpan records) {
  const std::uint64_t end = place.position + place.elements;
  const std::size_t bytes = order_.record_bytes();
  const std::size_t most = std::max(kSomeBytes / bytes, std::size_t{1}) * bytes;
  std::vector<std::byte> kept;
  std::vector<std::byte> dropped;
  kept.reserve(most);
  dropped.reserve(most);
  const auto flush = [&] {
    proof_.add_dropped(dropped);
    next_.put(place.position, kept);
    place.position += kept.size() / bytes;
    kept.clear();
    dropped.clear();
  };
  const std::byte* const begin = records.data();
  for (const std::byte* record = begin; record != begin + records.size(); record += bytes) {
    auto& to = (record == begin ? place.repeats_last : repeats(record)) ? dropped : kept;
    to.insert(to.end(), record, record + bytes);
    if (to.size() == most) flush();
  }
  flush();
  if (place.position != end) throw dropped_others(end);
}

void UniqueRecordSink::abandon() noexcept {
  turns_.abandon();
  PassingSink::abandon();
}

}  // namespace gsort
