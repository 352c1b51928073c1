// dtypes in the headers of .npy files: one of keys, or one of records.
//
//   '<i4'                       byte order ('<', '>', '|'), kind, size in its units
//   [('id', '<u4'), ('', '|V4'), ('at', '>f8', (3,)), ('in', [('x', '|u1')])]
//                               name, dtype, shape of an array within the record
//
// The keys of a field give the order of numpy.sort: booleans as 0 and 1, times as their counts of
// units, but NaT last, bytes ('S') and characters ('U') one after the other. Everything else is
// bytes without an order: other kinds, arrays and records within a record.
#pragma once

#include "form/npy_literal.hpp"
#include "form/stored_array.hpp"

namespace gsort::io {

// The letter for the numbers that keys of a type are: of times, too, since those of NumPy have a
// unit, which keys do not have. Of bf16, which NumPy lacks, V: bytes, as ml_dtypes saves them.
[[nodiscard]] char npy_kind_of(KeyType type);

// Reads a dtype; only the parts of the result that follow from it are set.
// Throws: Error(kInput) for a dtype whose arrays cannot be sorted, with the way out.
[[nodiscard]] StoredArray read_npy_dtype(LiteralReader& from);

}  // namespace gsort::io
