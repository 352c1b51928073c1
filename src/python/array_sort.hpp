// array_sort: sorts an array of numbers that fits in memory, without a plan: small arrays take
// microseconds. Does not depend on Python.
#pragma once

#include "base/bytes.hpp"
#include "element/key.hpp"

namespace gsort::python {

// Writes `source` in order to `result`, which is as long, and the same memory or disjoint.
// Verified: the result is in order, and has the fingerprint of the source. `threads`: 0 for all
// cores. Throws: Error(kResource), with the result undefined unless it is the source;
// Error(kCorrupt).
void sort_array(ConstByteSpan source, ByteSpan result, const KeyFormat& format, unsigned threads);

}  // namespace gsort::python
