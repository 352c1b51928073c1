#include "pipeline/output/unique_sink.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "element/repeated_keys.hpp"

namespace gsort {
namespace {

// The bytes that are copied at once: both halves of a thread's scratch stay in the cache.
constexpr std::size_t kScratchBytes = std::size_t{128} << 10;

// The class of a key, as text.
template <class Key>
std::string class_of(const KeyMap<Key>& map, Key key) {
  if (map.folds_classes) key = map.to_ordered(key);
  return {reinterpret_cast<const char*>(&key), sizeof(key)};
}

}  // namespace

UniqueSink::UniqueSink(const ElementFormat& format, Proof& proof, PieceSink& next,
                       std::uint64_t begin, ConstByteSpan before)
    : PassingSink(next), key_(format.key), proof_(proof), turns_(begin), next_place_(begin) {
  if (format.records) order_.emplace(in_classes(*format.records));
  if (before.empty()) return;
  if (order_) {
    last_ = order_->normalised_key(before.data());
    return;
  }
  with_key_of_width(before.size(), [&](auto key) {
    std::memcpy(&key, before.data(), sizeof(key));
    last_ = class_of(KeyMap<decltype(key)>::classes_of(key_), key);
  });
}

void UniqueSink::put(std::uint64_t position, ConstByteSpan elements) {
  if (elements.empty()) return;
  if (order_) return put_records(position, elements);
  with_key_of_width(bytes_of(key_.type), [&](auto width) {
    using Key = decltype(width);
    put_keys<Key>(position,
                  {reinterpret_cast<const Key*>(elements.data()), elements.size() / sizeof(Key)});
  });
}

UniqueSink::Place UniqueSink::take_turn(std::uint64_t position, std::uint64_t elements,
                                        std::uint64_t distinct, const std::string& first,
                                        std::string last) {
  return turns_.take(position, elements, [&] {
    const bool repeats_last = last_ == first;
    const Place place{next_place_, distinct - (repeats_last ? 1 : 0), repeats_last};
    next_place_ += place.elements;
    last_ = std::move(last);
    return place;
  });
}

template <class Key>
void UniqueSink::put_keys(std::uint64_t position, std::span<const Key> keys) {
  const auto map = KeyMap<Key>::classes_of(key_);
  const std::uint64_t distinct =
      count_changes(keys, map, [&](Key key) { return map.to_ordered(key); }) + 1;
  const Place place = take_turn(position, keys.size(), distinct, class_of(map, keys.front()),
                                class_of(map, keys.back()));
  if (distinct == keys.size() && !place.repeats_last) {
    next_.put(place.position, std::as_bytes(keys));
  } else {
    put_some(place, keys);
  }
}

// If the first key has been put already, it counts as the key before itself; else there is none.
// The number of keys that stay was counted when the place was taken, and is compared now: else a
// wrongly dropped key would be found only if others follow.
template <class Key>
void UniqueSink::put_some(Place place, std::span<const Key> keys) {
  std::unique_ptr<Scratch> scratch = take_scratch();
  auto* const kept = reinterpret_cast<Key*>(scratch->kept.data());
  auto* const repeats = reinterpret_cast<Key*>(scratch->repeats.data());
  const std::uint64_t end = place.position + place.elements;
  const auto map = KeyMap<Key>::classes_of(key_);
  const auto other = static_cast<Key>(~keys.front());
  Key before = place.repeats_last ? keys.front() : other;
  while (!keys.empty()) {
    const auto some = keys.first(std::min(keys.size(), kScratchBytes / sizeof(Key)));
    const auto class_of = [&](Key key) { return map.to_ordered(key); };
    const bool has_several = std::ranges::any_of(floats_of_several_bits(some, map, class_of),
                                                 [](auto equal) { return !equal.empty(); });
    const std::size_t stay = has_several ? split_repeats(before, some, kept, repeats, class_of)
                                         : split_repeats(before, some, kept, repeats);
    proof_.add_dropped(std::as_bytes(std::span<const Key>(repeats, some.size() - stay)));
    next_.put(place.position, std::as_bytes(std::span<const Key>(kept, stay)));
    place.position += stay;
    before = some.back();
    keys = keys.subspan(some.size());
  }
  if (place.position != end) throw dropped_others(end);
  give_back(std::move(scratch));
}

bool UniqueSink::repeats(const std::byte* record) const {
  return order_->compare(record - order_->record_bytes(), record) == 0;
}

void UniqueSink::put_records(std::uint64_t position, ConstByteSpan records) {
  const std::size_t bytes = order_->record_bytes();
  const std::byte* const end = records.data() + records.size();
  std::uint64_t distinct = 1;
  for (const std::byte* record = records.data() + bytes; record != end; record += bytes) {
    if (!repeats(record)) ++distinct;
  }
  const std::uint64_t count = records.size() / bytes;
  const Place place = take_turn(position, count, distinct, order_->normalised_key(records.data()),
                                order_->normalised_key(end - bytes));
  if (distinct == count && !place.repeats_last) {
    next_.put(place.position, records);
  } else {
    put_some_records(place, records);
  }
}

// As put_some(). Compressed outputs depend on how many records are put at once.
void UniqueSink::put_some_records(Place place, ConstByteSpan records) {
  const std::uint64_t end = place.position + place.elements;
  const std::size_t bytes = order_->record_bytes();
  const std::size_t most = std::max(kScratchBytes / bytes, std::size_t{1}) * bytes;
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

void UniqueSink::abandon() noexcept {
  turns_.abandon();
  PassingSink::abandon();
}

std::unique_ptr<UniqueSink::Scratch> UniqueSink::take_scratch() {
  const std::scoped_lock lock(mutex_);
  if (spare_.empty()) {
    return std::make_unique<Scratch>(
        Scratch{std::vector<std::byte>(kScratchBytes), std::vector<std::byte>(kScratchBytes)});
  }
  std::unique_ptr<Scratch> scratch = std::move(spare_.back());
  spare_.pop_back();
  return scratch;
}

void UniqueSink::give_back(std::unique_ptr<Scratch> scratch) {
  const std::scoped_lock lock(mutex_);
  spare_.push_back(std::move(scratch));
}

}  // namespace gsort
