// array_sort: sorts an array of numbers that fits in memory, without a plan: small arrays take
// microseconds. Does not depend on Python.
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

}  // namespace gsort::python
