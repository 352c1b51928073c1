#include "pipeline/proof/element_order.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "element/key_loops.hpp"
#include "element/repeated_keys.hpp"

namespace gsort {
namespace {

template <class Key>
std::span<const Key> as_keys(ConstByteSpan bytes) {
  return {reinterpret_cast<const Key*>(bytes.data()), bytes.size() / sizeof(Key)};
}

}  // namespace

ElementOrder::ElementOrder(const ElementFormat& format)
    : key_(format.key), records_(format.records), element_bytes_(format.bytes()) {}

UInt128 ElementOrder::ordered_key(const std::byte* element) const {
  return with_key_of_width(element_bytes_, [&](auto raw) -> UInt128 {
    std::memcpy(&raw, element, sizeof(raw));
    return KeyMap<decltype(raw)>::classes_of(key_).to_ordered(raw);
  });
}

std::string ElementOrder::normalised_key(const std::byte* element) const {
  return records_ ? records_->normalised_key(element) : text_of(ordered_key(element));
}

std::string ElementOrder::normalised_key(UInt128 ordered) const {
  return with_key_of_width(element_bytes_, [&](auto key) {
    using Key = decltype(key);
    return text_of(KeyMap<Key>::classes_of(key_).class_of_ordered(static_cast<Key>(ordered)));
  });
}

std::string ElementOrder::text_of(UInt128 ordered) const {
  std::string key(std::max(element_bytes_, sizeof(std::uint64_t)), '\0');
  const UInt128 big_endian = swap_bytes(ordered);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&big_endian);
  std::memcpy(key.data(), bytes + sizeof(big_endian) - key.size(), key.size());
  return key;
}

Fingerprint ElementOrder::fingerprint(ConstByteSpan elements) const {
  return records_ ? fingerprint_of_records(elements, element_bytes_)
                  : fingerprint_of(elements, element_bytes_);
}

int ElementOrder::compare(const std::byte* a, const std::byte* b) const {
  if (records_) return records_->compare(a, b);
  const UInt128 left = ordered_key(a);
  const UInt128 right = ordered_key(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

std::size_t ElementOrder::first_disorder(ConstByteSpan elements, bool strict) const {
  if (records_) return records_->first_disorder(elements, strict);
  return with_key_of_width(element_bytes_, [&](auto width) {
    using Key = decltype(width);
    const std::span<const Key> keys = as_keys<Key>(elements);
    const auto map = KeyMap<Key>::classes_of(key_);
    // Most elements are in the order of their bits, which can be checked faster.
    std::size_t disorder = gsort::first_disorder<Key>(keys, KeyMap<Key>::of(key_));
    if (map.folds_classes && disorder != keys.size()) {
      disorder = gsort::first_disorder<Key>(keys, map);
    }
    if (!strict) return disorder;
    const auto in_order = keys.first(std::min(disorder + 1, keys.size()));
    const std::size_t repeat = first_repeat(in_order, map);
    return repeat == in_order.size() ? disorder : repeat;
  });
}

std::uint64_t ElementOrder::count_changes(ConstByteSpan elements) const {
  if (!records_) {
    return with_key_of_width(element_bytes_, [&](auto width) -> std::uint64_t {
      using Key = decltype(width);
      const auto map = KeyMap<Key>::classes_of(key_);
      return gsort::count_changes(as_keys<Key>(elements), map,
                                  [&](Key key) { return map.to_ordered(key); });
    });
  }
  std::uint64_t changes = 0;
  for (std::size_t at = element_bytes_; at < elements.size(); at += element_bytes_) {
    const std::byte* const element = elements.data() + at;
    if (std::memcmp(element, element - element_bytes_, element_bytes_) != 0) ++changes;
  }
  return changes;
}

void ElementOrder::copy_ordered(ConstByteSpan elements, std::byte* to) const {
  if (records_) {
    std::copy(elements.begin(), elements.end(), to);
    return;
  }
  with_key_of_width(element_bytes_, [&](auto width) {
    using Key = decltype(width);
    const std::span<const Key> keys = as_keys<Key>(elements);
    map_to_ordered<Key>(keys, {reinterpret_cast<Key*>(to), keys.size()}, KeyMap<Key>::of(key_));
  });
}

std::uint64_t ElementOrder::last_equal(std::uint64_t ordered) const {
  KeyFormat key = key_;
  unsigned shift = 0;
  if (records_) {
    const KeyField& field = records_->format().keys.front();
    if (field.float_order != FloatOrder::kNumericByBits) return ordered;
    key = {*field.type, false, field.descending};
    shift = 64 - 8 * field.bytes;
  }
  return with_key_of_width(bytes_of(key.type), [&](auto width) {
    using Key = decltype(width);
    const auto last =
        KeyMap<Key>::classes_of(key).last_of_class(static_cast<Key>(ordered >> shift));
    return static_cast<std::uint64_t>(last) << shift;
  });
}

void ElementOrder::put_equal_in_order(ByteSpan ordered) const {
  if (records_) return;
  with_key_of_width(element_bytes_, [&](auto width) {
    using Key = decltype(width);
    const auto map = KeyMap<Key>::classes_of(key_);
    const std::span<Key> keys(reinterpret_cast<Key*>(ordered.data()), ordered.size() / sizeof(Key));
    const auto class_of = [&](Key key) { return map.class_of_ordered(key); };
    for (const std::span<Key> equal : floats_of_several_bits(keys, map, class_of)) {
      if (!std::ranges::is_sorted(equal)) std::ranges::sort(equal);
    }
  });
}

}  // namespace gsort
