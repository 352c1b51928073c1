// Elements with their positions, which --argsort sorts: each element of the input becomes a record
// of its bytes, perhaps a few zeros, and its index, a number in the byte order of the keys.
//
// Example: the u32 keys 9 7 9 become the records (9, 0) (7, 1) (9, 2). Sorted by key and then by
// index they are (7, 1) (9, 0) (9, 2); the positions that come out are 1 0 2.
//
// A record of 8 bytes that is nothing but keys, the index included, is sorted as a number
// (ElementFormat::as_keys). Zeros fill shorter records to 8 bytes: u8 keys get three.
//
// --shuffle sorts elements by pseudorandom numbers: a one-to-one function of the index, which
// depends on the seed, replaces the index. No two numbers are equal, so the order is the same
// however the input is divided into chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "element/element.hpp"

namespace gsort {

struct Numbering {
  std::size_t element_bytes = 0;  // of the input
  std::size_t index_bytes = 0;    // 4 or 8; 0: the elements stay as they are
  bool big_endian = false;
  std::size_t padding_bytes = 0;                     // zeros between element and index
  std::optional<std::uint64_t> seed = std::nullopt;  // of --shuffle; the index has 8 bytes

  [[nodiscard]] std::size_t index_offset() const { return element_bytes + padding_bytes; }
  [[nodiscard]] std::size_t record_bytes() const { return index_offset() + index_bytes; }
};

// The bytes of an index for this many elements: 4 if they suffice, else 8.
[[nodiscard]] std::size_t index_bytes_for(std::uint64_t elements);

// Records of these elements. With is_key, the index is their last key, so that no two are equal in
// order, and zeros are their first keys. With a seed, the index is their only key; if elements have
// 8 bytes, these are the second key, so that the records are numbers. Requires: the records are not
// too long (RecordFormat::kMostBytes).
[[nodiscard]] ElementFormat numbered(const ElementFormat& element, const Numbering& numbering,
                                     bool is_key);

// How many zeros make these records, with the index as a key, numbers of 64 bits; 0 if none can.
// Requires: numbering has no padding.
[[nodiscard]] std::size_t padding_to_number(const ElementFormat& element,
                                            const Numbering& numbering);

// The first `count` elements of `room` become records, in place, with indexes from `first` on.
// Requires: room for the records.
void number_elements(std::span<std::byte> room, const Numbering& numbering, std::uint64_t first,
                     std::size_t count);

// Writes the indexes of all records as numbers of `to_bytes` bytes, 4 or 8, in the same byte order;
// with a seed, the elements, which have `to_bytes` bytes. Requires: each has room for its index.
void take_indexes(std::span<const std::byte> records, const Numbering& numbering,
                  std::size_t to_bytes, std::byte* to);

// The number of the first record whose index (with a seed: element) differs from that in `taken`;
// the count of records if there is none.
[[nodiscard]] std::size_t first_other_index(std::span<const std::byte> records,
                                            const Numbering& numbering, std::size_t taken_bytes,
                                            const std::byte* taken);

// The description of a job's runs, whose first part ends with a semicolon, names a shuffle: its
// words, the seed in them, and the bytes of an element in runs without its number (0 if it has
// fewer than a number).
[[nodiscard]] std::string shuffle_words(std::uint64_t seed);
[[nodiscard]] std::optional<std::uint64_t> seed_in(std::string_view description);
[[nodiscard]] std::uint64_t bytes_without_number(std::string_view description,
                                                 std::uint64_t element_bytes);

}  // namespace gsort
