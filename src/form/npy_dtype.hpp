// Reads the dtypes in the headers of .npy files: of keys, or of records.
//
//   '<i4'                       byte order ('<', '>', '|'), kind, size in its units
//   [('id', '<u4'), ('', '|V4'), ('at', '>f8', (3,)), ('in', [('x', '|u1')])]
//                               name, dtype, shape of an array within the record
//
// The keys of a field give the order of numpy.sort: booleans as 0 and 1, times as their counts of
// units, but NaT last, bytes ('S') and characters ('U') one by one. Everything else is bytes
// without an order: other kinds, arrays and records within a record.
#pragma once

#include "form/npy_literal.hpp"
#include "form/stored_array.hpp"

namespace gsort::io {

// NumPy's letter for the numbers of a key type. Times have the letter of integers, because NumPy's
// times have a unit, which keys do not have; bf16, which NumPy lacks, has V: bytes, as ml_dtypes
// saves them.
[[nodiscard]] char npy_kind_of(KeyType type);

// Reads a dtype; only the parts of the result that follow from it are set. Throws: Error(kInput)
// for a dtype whose arrays cannot be sorted, with a hint.
[[nodiscard]] StoredArray read_npy_dtype(LiteralReader& from);

}  // namespace gsort::io
