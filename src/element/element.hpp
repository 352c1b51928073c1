// What a sort sorts: keys alone, or records that hold keys.
#pragma once

#include <cstddef>
#include <optional>

#include "element/key.hpp"
#include "element/record.hpp"

namespace gsort {

struct ElementFormat {
  KeyFormat key;
  std::optional<RecordFormat> records;  // what elements are instead of keys

  [[nodiscard]] std::size_t bytes() const { return records ? records->bytes : bytes_of(key.type); }
};

}  // namespace gsort
