// The elements of an array file, as its header describes them; an output repeats some of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "element/key.hpp"
#include "element/record_format.hpp"

namespace gsort {

// The dtype of an array as a header has it, word for word.
struct StoredDtype {
  std::string descr;  // "'<M8[ns]'", "[('key', '<u8'), ('value', '<f4')]"
  int version = 1;    // of the format, which decides the encoding of the text

  friend bool operator==(const StoredDtype&, const StoredDtype&) = default;
};

// A field of a record.
struct StoredField {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::vector<KeyField> keys;  // that give its order; none for a field without an order
  bool is_padding = false;
};

// Elements that are records.
struct StoredRecords {
  std::uint32_t bytes = 0;
  std::vector<StoredField> fields;
};

// The part of a header that an output repeats.
struct StoredShape {
  // Set if it says more than the key does: for records, booleans and times.
  std::optional<StoredDtype> dtype;
  std::uint64_t row_elements = 0;  // in a row of an array of two dimensions; 0: no rows, or a table
  std::uint64_t columns = 0;       // in a table: an array whose rows are the elements
  std::optional<std::uint64_t> empty_rows = {};  // of an array of rows without elements
};

struct StoredArray : StoredShape {
  std::optional<KeyFormat> key;  // type and byte order, never descending; also of a table of keys
  // The form of elements that are not keys alone. For a table: the size of a row, and the fields of
  // the first column, if it is no key.
  std::optional<StoredRecords> records;

  [[nodiscard]] std::uint64_t element_bytes() const {
    return records ? records->bytes : bytes_of(key->type);
  }
};

}  // namespace gsort
