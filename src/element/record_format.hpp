// The form of records: their size, and where their keys are. Read next: record.hpp, for their
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "element/key.hpp"

namespace gsort {

struct RecordFormat {
  static constexpr std::uint32_t kMostBytes = 16 << 10;
  static constexpr std::uint32_t kMostKeyBytes = 32;  // of one key of bytes
  static constexpr std::size_t kMostKeys = 32;

  std::uint32_t bytes = 0;
  std::vector<KeyField> keys;  // the first one decides, the next ones break its ties

  friend bool operator==(const RecordFormat&, const RecordFormat&) = default;
};

// Whether records are nothing but one key of bytes: keys of type bytesN.
[[nodiscard]] inline bool are_strings(const RecordFormat& records) {
  return records.keys.size() == 1 && !records.keys[0].type &&
         records.keys[0].bytes == records.bytes;
}

}  // namespace gsort
