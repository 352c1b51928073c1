// gsort -c: is the input sorted? And --fingerprint: what does it hold? Both read it once, on all
// cores.
#pragma once

#include "base/checked.hpp"
#include "base/meter.hpp"
#include "element/element.hpp"
#include "io/input/reader.hpp"
#include "pipeline/proof/proof.hpp"
#include "plan/outcome.hpp"

namespace gsort {

// Which order is asked for. Where arrays are to be in order by themselves, an element need not
// come after the last one of the array before.
struct WantedOrder {
  static constexpr std::uint64_t kOneArray = kMostFileBytes;  // and no array is longer

  OrderKind kind = OrderKind::kAscending;
  std::uint64_t array_elements = kOneArray;  // at least 1
};

// Reads to the first disorder, or to the end; in strict order a key that repeats is disorder, too.
// Elements are equal, for the number of distinct ones, when all their bytes are.
// `meter` is told of one phase of reading and proving. Throws: Error from reading.
[[nodiscard]] CheckOutcome check_order(const ElementFormat& format, const WantedOrder& wanted,
                                       io::Reader& reader, unsigned threads,
                                       Meter* meter = nullptr);

// For all elements, in any order. `meter` is told as above. Throws: Error from reading.
[[nodiscard]] Fingerprint fingerprint_of_input(const ElementFormat& format, io::Reader& reader,
                                               unsigned threads, Meter* meter = nullptr);

}  // namespace gsort
