// gsort -c: is the input sorted? Reads it once, on all cores.
#pragma once

#include "base/key.hpp"
#include "base/meter.hpp"
#include "io/reader.hpp"
#include "pipeline/proof.hpp"
#include "plan/outcome.hpp"

namespace gsort {

// Reads to the first disorder, or to the end; in strict order a key that repeats is disorder, too.
// `meter` is told of one phase of reading and proving. Throws: Error from reading.
[[nodiscard]] CheckOutcome check_order(const KeyFormat& format, OrderKind order, io::Reader& reader,
                                       unsigned threads, Meter* meter = nullptr);

}  // namespace gsort
