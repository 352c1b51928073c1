// Records: elements of a fixed size that hold one or several keys, and the order they give.
//
// The keys of a record, one after the other, become one string of bytes whose order as unsigned
// bytes is the wanted one: the normalised key. Numbers go through the map of their type (key.hpp)
// and are stored with the most significant byte first; bytes stay unchanged, or are complemented if
// descending. The first eight bytes, as a number, are the prefix, which decides nearly all
// comparisons.
//
// Example: keys 4:i16 and 0:bytes2r of the record "ab..\xff\xff" (little endian): -1 becomes 7f ff,
// "ab" becomes 9e 9d, so the normalised key is 7f ff 9e 9d and the prefix 0x7fff9e9d00000000.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "element/key.hpp"
#include "element/record_format.hpp"
#include "element/record_word.hpp"

namespace gsort {

// The same keys, but kNumericByBits becomes kNumeric: equal floats are equal.
[[nodiscard]] RecordFormat in_classes(RecordFormat format);

class RecordOrder {
 public:
  // Requires: there is a key; every key lies within the record.
  explicit RecordOrder(const RecordFormat& format);

  [[nodiscard]] const RecordFormat& format() const { return format_; }
  [[nodiscard]] std::size_t record_bytes() const { return format_.bytes; }
  [[nodiscard]] std::size_t key_bytes() const { return key_bytes_; }  // of a normalised key

  // Whether records with equal prefixes are equal in order.
  [[nodiscard]] bool prefix_is_whole() const { return key_bytes_ <= sizeof(std::uint64_t); }

  // The words of a normalised key, in order, with zeros after its end.
  [[nodiscard]] const std::vector<RecordWord>& words() const { return words_; }

  [[nodiscard]] std::uint64_t prefix_of(const std::byte* record) const {
    return words_.front().of(record);
  }

  // Whether a comes before b (< 0), after it (> 0), or neither (0). The caller resolves ties.
  [[nodiscard]] int compare(const std::byte* a, const std::byte* b) const {
    for (const KeyNumber& number : numbers_) {
      const std::uint64_t left = number.read(a);
      const std::uint64_t right = number.read(b);
      if (left != right) return left < right ? -1 : 1;
    }
    return 0;
  }

  [[nodiscard]] std::string normalised_key(const std::byte* record) const;

  // The index, less one, of the first record that comes before its predecessor, or with `strict` is
  // equal to it; the count of records if they are in order.
  [[nodiscard]] std::size_t first_disorder(std::span<const std::byte> records,
                                           bool strict = false) const;

 private:
  void add(const KeyField& key);
  void add_to_words(const KeyNumber& number, std::size_t begin);

  RecordFormat format_;
  std::size_t key_bytes_ = 0;
  std::vector<KeyNumber> numbers_;
  std::vector<RecordWord> words_;
};

}  // namespace gsort
