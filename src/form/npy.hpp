// The header of a NumPy array file (.npy), versions 1 to 3, for arrays of one or two dimensions:
//
//   offset  bytes
//   0       6   "\x93NUMPY"
//   6       2   version: major, minor
//   8       2   length of what follows, little endian; 4 bytes from version 2 on
//   10, 12      {'descr': '<i8', 'fortran_order': False, 'shape': (1000,), } blanks, newline
//
// descr is the dtype (npy_dtype.hpp). The elements follow at once; the header is padded so that
// they begin at a multiple of 64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "element/key.hpp"
#include "form/byte_stream.hpp"
#include "form/stored_array.hpp"

namespace gsort::io {

struct NpyHeader {
  StoredArray array;
  std::uint64_t elements = 0;
  std::uint64_t header_bytes = 0;
  std::uint64_t column_elements = 0;  // of a column in Fortran order; else 0
};

// Reads the header from the start of a file's bytes; errors name the file as `path`. Throws:
// Error(kInput) if it is not such a file, or if the array cannot be sorted (other dtypes, more than
// two dimensions, or none); the hint says what to do.
[[nodiscard]] NpyHeader read_npy_header(ByteStream& from, const std::string& path);

// Parses the braces and the text between them: Latin-1 in versions 1 and 2, UTF-8 from 3 on. Names
// of fields become UTF-8; the dtype stays unchanged, for the output's header. Throws: as
// read_npy_header.
[[nodiscard]] NpyHeader parse_npy_dictionary(std::string_view text, const std::string& path,
                                             int version = 1);

// The dtype of keys.
[[nodiscard]] StoredDtype npy_dtype_of(const KeyFormat& key);

// The dtype of keys with their counts (element/counted_keys.hpp): a record of `key` and `count`.
// `stored` is the dtype of the keys, if it says more than `key`.
[[nodiscard]] StoredDtype counted_dtype_of(const KeyFormat& key,
                                           const std::optional<StoredDtype>& stored);

// The keys of such an array; its dtype stays. A key of bytes has the byte order of the counts.
// Throws: Error(kInput) if its elements are not a number and an unsigned count in its byte order.
[[nodiscard]] StoredArray keys_of_counted(const StoredArray& array, const std::string& path);

[[nodiscard]] bool holds_texts(const StoredArray& array);

// Returns the array as a table, whose elements are the rows.
// Throws: Error(kInput) if a row is longer than a record can be.
[[nodiscard]] StoredArray table_of(const StoredArray& array, const std::string& path);

// Whether the array's rows are keys of the type bytesN.
[[nodiscard]] bool has_rows_of(const StoredArray& array, const KeyFormat& key);

// Whether the array has two dimensions: its rows are sorted one by one, even if they are empty.
[[nodiscard]] inline bool has_rows(const StoredArray& array) {
  return array.row_elements > 0 || array.empty_rows;
}

// Whether the two mean the same, whatever versions of the format they are written in.
[[nodiscard]] bool is_same_dtype(const StoredDtype& a, const StoredDtype& b);

// The header of a file with `elements` elements, in rows of `row_elements` if that is not 0. All
// headers of one dtype have the same size. Without elements, the shape has `empty_rows` rows, if
// given.
// Requires: whole rows.
[[nodiscard]] std::vector<std::byte> make_npy_header(const StoredDtype& dtype,
                                                     std::uint64_t elements,
                                                     std::uint64_t row_elements = 0,
                                                     std::optional<std::uint64_t> empty_rows = {});

}  // namespace gsort::io
