// array_sort: sorts an array of numbers that fits in memory, or finds the positions that sort it,
// without a plan: small arrays take microseconds. Does not depend on Python.
#pragma once

#include "base/bytes.hpp"
#include "element/key.hpp"

namespace gsort::python {

// Writes each row of `source` in order to `result`, which is as long, and the same memory or
// disjoint. Verifies that each row is in order and has the fingerprint of the source. `threads`: 0
// for all cores. Requires: whole rows of `row_keys` > 0. Throws: Error(kResource), with the result
// undefined unless it is the source; Error(kCorrupt).
void sort_array(ConstByteSpan source, ByteSpan result, std::size_t row_keys,
                const KeyFormat& format, unsigned threads);

// Writes the positions that sort each row of `source` stably, as numbers of 4 or 8 bytes. Verifies
// that they sort the source. Requires: as sort_array; disjoint memory; the numbers are large enough
// for the positions of a row. Throws: Error(kResource) and Error(kCorrupt), with the result
// undefined.
void argsort_array(ConstByteSpan source, ByteSpan result, std::size_t row_keys,
                   const KeyFormat& format, std::size_t index_bytes, unsigned threads);

}  // namespace gsort::python
