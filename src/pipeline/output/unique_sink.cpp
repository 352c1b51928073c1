#include "pipeline/output/unique_sink.hpp"

#include <algorithm>

#include "element/repeated_keys.hpp"

namespace gsort {
namespace {

// The bytes that are copied at once: both halves of a thread's scratch stay in the cache.
constexpr std::size_t kScratchBytes = std::size_t{128} << 10;

// The class of a raw key.
template <class Key>
UInt128 class_of(const KeyMap<Key>& map, Key key) {
  return map.folds_classes ? map.to_ordered(key) : key;
}

}  // namespace

UniqueSink::UniqueSink(const KeyFormat& key, Proof& proof, PieceSink& next, std::uint64_t begin,
                       std::optional<UInt128> before)
    : PassingSink(next),
      key_(key),
      proof_(proof),
      turns_(begin, before ? std::optional(with_key_of_width(bytes_of(key.type),
                                                             [&](auto width) {
                                                               using Key = decltype(width);
                                                               const auto map =
                                                                   KeyMap<Key>::classes_of(key);
                                                               return class_of(
                                                                   map, static_cast<Key>(*before));
                                                             }))
                           : std::nullopt) {}

void UniqueSink::put(std::uint64_t position, ConstByteSpan keys) {
  if (keys.empty()) return;
  with_key_of_width(bytes_of(key_.type), [&](auto width) {
    using Key = decltype(width);
    put_keys<Key>(position, {reinterpret_cast<const Key*>(keys.data()), keys.size() / sizeof(Key)});
  });
}

template <class Key>
void UniqueSink::put_keys(std::uint64_t position, std::span<const Key> keys) {
  const auto map = KeyMap<Key>::classes_of(key_);
  const std::uint64_t distinct =
      count_changes(keys, map, [&](Key key) { return map.to_ordered(key); }) + 1;
  const Turns::Place place = turns_.take(position, keys.size(), distinct,
                                         class_of(map, keys.front()), class_of(map, keys.back()));
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
void UniqueSink::put_some(Turns::Place place, std::span<const Key> keys) {
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
