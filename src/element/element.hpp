// The elements of a sort: keys alone, or records that hold keys.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "element/key.hpp"
#include "element/record.hpp"

namespace gsort {

struct ElementFormat {
  KeyFormat key;
  std::optional<RecordFormat> records;  // the form of elements that are not keys alone

  [[nodiscard]] std::size_t bytes() const { return records ? records->bytes : bytes_of(key.type); }

  // The records that the user sees as elements, whether sorted as such or as keys; none for keys
  // alone.
  [[nodiscard]] std::optional<RecordFormat> shown_records() const;

  // The same elements as keys alone, if they can be: records of 1, 2, 4, 8 or 16 bytes, but at most
  // `most_bytes`, that are nothing but keys become numbers of as many bytes (KeyTuple). They are
  // then sorted as fast as numbers, and their runs are as small. Equal ones are indistinguishable,
  // so stability does not matter.
  [[nodiscard]] ElementFormat as_keys(std::size_t most_bytes = sizeof(std::uint64_t)) const;

  // The format of runs that are cut by prefixes of eight bytes: the records, or ordered keys of 16
  // bytes; none for shorter keys, which are cut as such.
  [[nodiscard]] std::optional<RecordFormat> cut_by_prefix() const;
};

// The elements with such keys, or the records if there are any. If they are of type bytesN, both
// the key and the records say so.
[[nodiscard]] ElementFormat element_of(const KeyFormat& key,
                                       const std::optional<RecordFormat>& records);

// Records of 16 bytes that are nothing but keys, which the CPU engine sorts as numbers of 128 bits
// even where runs, splits and the proof see records.
[[nodiscard]] bool is_wide_key(const RecordFormat& records);
// Requires: is_wide_key(records).
[[nodiscard]] KeyMap<UInt128> wide_map_of(const RecordFormat& records);

// The bits of a number without leading zeros.
template <class Key>
[[nodiscard]] constexpr unsigned bit_width_of(Key key) {
  if constexpr (sizeof(Key) > sizeof(std::uint64_t)) {
    const auto high = static_cast<std::uint64_t>(key >> 64);
    const auto low = static_cast<std::uint64_t>(key);
    return static_cast<unsigned>(high != 0 ? 64 + std::bit_width(high) : std::bit_width(low));
  } else {
    return static_cast<unsigned>(std::bit_width(key));
  }
}

}  // namespace gsort
