// ElementOrder: the order of elements in the form of files, whether they are keys or records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "element/element.hpp"
#include "element/fingerprint.hpp"
#include "element/record.hpp"
#include "engine/engine.hpp"

namespace gsort {

// Thread-safe.
class ElementOrder {
 public:
  explicit ElementOrder(const ElementFormat& format);

  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }

  // None if elements are keys.
  [[nodiscard]] const std::optional<RecordOrder>& records() const { return records_; }

  // The key of an element that is a key, as an ordered number, which is the same for equal keys.
  // Requires: there are no records.
  [[nodiscard]] UInt128 ordered_key(const std::byte* element) const;

  // All keys of an element as one string of bytes, whose order is that of the elements; that of a
  // key has eight bytes, or sixteen if the key has.
  [[nodiscard]] std::string normalised_key(const std::byte* element) const;
  [[nodiscard]] std::string normalised_key(UInt128 ordered) const;

  [[nodiscard]] Fingerprint fingerprint(ConstByteSpan elements) const;

  // Whether a comes before b (< 0), after it (> 0), or neither (0).
  [[nodiscard]] int compare(const std::byte* a, const std::byte* b) const;

  // The index, less one, of the first element that comes before its predecessor, or with `strict`
  // is equal to it; the count of elements if they are in order.
  [[nodiscard]] std::size_t first_disorder(ConstByteSpan elements, bool strict = false) const;

  // The number of elements that differ from the one before them; the first one does not count.
  // Records differ in bytes, keys in value.
  [[nodiscard]] std::uint64_t count_changes(ConstByteSpan elements) const;

  // Copies elements to `to` in the form in which engines merge them: keys become ordered numbers.
  void copy_ordered(ConstByteSpan elements, std::byte* to) const;

  // The greatest ordered number of a key that equals this one's; for records whose order is by
  // bits, the greatest prefix.
  [[nodiscard]] std::uint64_t last_equal(std::uint64_t ordered) const;

  // Sorts equal keys by their bits, as engines merge them. Requires: ordered numbers, in order.
  void put_equal_in_order(ByteSpan ordered) const;

 private:
  [[nodiscard]] std::string text_of(UInt128 ordered) const;

  KeyFormat key_;
  std::optional<RecordOrder> records_;
  std::size_t element_bytes_;
};

}  // namespace gsort
