// How records look: their size, and where their keys are. Read next: record.hpp, the order they
// give.
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

}  // namespace gsort
