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

  // The records that the elements are to the user, sorted as such or as keys; none of keys alone.
  [[nodiscard]] std::optional<RecordFormat> shown_records() const;

  // The same elements as keys alone, if they can be: records of 1, 2, 4 or 8 bytes that are nothing
  // but keys become numbers of as many bytes (KeyTuple). Sorted as such they are as fast, and
  // their runs as small, as numbers; that equal ones keep their order is nothing to see.
  [[nodiscard]] ElementFormat as_keys() const;
};

}  // namespace gsort
