// The steps of compare_inputs() that depend on the kind of elements: KeyCompare for keys, and
// RecordCompare for records, with the same members. A piece is a stretch of the first input, never
// empty. `before` is the element before it, or empty if there is none.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "element/key_loops.hpp"
#include "element/member_keys.hpp"
#include "element/repeated_keys.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// Thread-safe.
template <class Key>
class KeyCompare {
 public:
  using Sum = KeySum;

  explicit KeyCompare(const ElementFormat& format)
      : map_(KeyMap<Key>::of(format.key)), classes_(KeyMap<Key>::classes_of(format.key)) {}

  void make_alike(ByteSpan raw, Proof& proof) const {
    const auto class_of = [&](Key key) { return classes_.to_ordered(key); };
    for (const Keys equal : floats_of_several_bits(keys_of(raw), classes_, class_of)) {
      if (!equal.empty()) proof.make_alike(std::as_writable_bytes(equal));
    }
  }

  // All functions but make_alike() and to_ordered() take keys as ordered numbers.
  [[nodiscard]] bool has_ordered_form() const { return !map_.is_identity(); }
  void to_ordered(ByteSpan raw) const { map_to_ordered<Key>(keys_of(raw), keys_of(raw), map_); }
  void to_raw(ByteSpan ordered) const { map_to_raw<Key>(keys_of(ordered), keys_of(ordered), map_); }

  // The number of elements of a piece that differ from the one before them.
  [[nodiscard]] std::size_t count_distinct(const std::string& before, ByteSpan piece) const {
    const Keys keys = keys_of(piece);
    return count_changes<Key>(keys) + (keys.front() != key_before(before, keys) ? 1 : 0);
  }

  // Moves these to the front of the piece, and all others to `dropped`. Returns their number.
  std::size_t split_repeats(const std::string& before, ByteSpan piece, std::byte* dropped) const {
    const Keys keys = keys_of(piece);
    return gsort::split_repeats<Key>(key_before(before, keys), keys, keys.data(), at(dropped));
  }

  // The elements of another input's slice from the first to the last key of a piece.
  [[nodiscard]] ByteSpan range_of(ByteSpan slice, ByteSpan piece) const {
    const Keys others = keys_of(slice);
    const auto begin = std::ranges::lower_bound(others, keys_of(piece).front());
    const auto end = std::ranges::upper_bound(others, keys_of(piece).back());
    return std::as_writable_bytes(Keys(begin, end));
  }

  // The same for the elements that `stay` selects. Requires: a piece without repeats.
  std::size_t split_members(ByteSpan piece, ByteSpan others, Stay stay, std::byte* dropped) const {
    const Keys keys = keys_of(piece);
    return gsort::split_members<Key>(keys, keys_of(others), stay, keys.data(), at(dropped));
  }

  // The sum of the piece's elements that are among the others, found by another search.
  [[nodiscard]] Sum sum_members(ByteSpan piece, ByteSpan others) const {
    return gsort::sum_members<Key>(keys_of(piece), keys_of(others));
  }
  [[nodiscard]] Sum sum(ByteSpan elements) const { return sum_keys<Key>(keys_of(elements)); }

 private:
  using Keys = std::span<Key>;

  static Key* at(std::byte* bytes) { return reinterpret_cast<Key*>(bytes); }
  static Keys keys_of(ByteSpan bytes) { return {at(bytes.data()), bytes.size() / sizeof(Key)}; }

  // Returns a key that differs from the first of `keys` if there is none before them.
  static Key key_before(const std::string& before, Keys keys) {
    auto key = static_cast<Key>(~keys.front());
    std::memcpy(&key, before.data(), before.size());
    return key;
  }

  const KeyMap<Key> map_;
  const KeyMap<Key> classes_;
};

}  // namespace gsort
