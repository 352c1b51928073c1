// Bounds of formats from outside: from options, from headers of arrays and manifests, and from
// programs that call the library.
#pragma once

#include <cstdint>

#include "element/element.hpp"

namespace gsort {

inline constexpr std::uint32_t kMostShares = 1'000'000;  // of a sort, and parts of an output

enum class KeyProblem : std::uint8_t {
  kNone,
  kBytes,         // its number of bytes does not suit its type, or is too large to compare
  kBeyondRecord,  // it does not end within the record
  kOverlap,       // see overlapped_key()
  kTooMany,       // the records already have as many keys as they can
};

// Whether these records can have one more key.
[[nodiscard]] KeyProblem problem_of_key(const RecordFormat& records, const KeyField& key);

// The key of these records that shares a byte with it; null if there is none.
[[nodiscard]] const KeyField* overlapped_key(const RecordFormat& records, const KeyField& key);

// Whether there is such a type, and records have a size and keys that they can have.
[[nodiscard]] bool is_valid(KeyType type);
[[nodiscard]] bool is_valid(const RecordFormat& records);
[[nodiscard]] bool is_valid(const ElementFormat& element);

}  // namespace gsort
