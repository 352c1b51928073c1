// gsort -c checks that the input is sorted; --fingerprint identifies its elements. Both read it
// once, on all cores.
#pragma once

#include "base/checked.hpp"
#include "base/meter.hpp"
#include "element/element.hpp"
#include "io/input/reader.hpp"
#include "pipeline/proof/proof.hpp"
#include "plan/outcome.hpp"

namespace gsort {

// The order to check. If each array must be in order, the first element of an array may come before
// the last one of the previous array.
struct WantedOrder {
  static constexpr std::uint64_t kOneArray = kMostFileBytes;  // no array is longer

  OrderKind kind = OrderKind::kAscending;
  std::uint64_t array_elements = kOneArray;  // at least 1
};

// Reads to the first disorder, or to the end; in strict order a repeated key is disorder, too. For
// the number of distinct elements, elements are equal if all their bytes are. `meter` gets one
// phase of reading and proving. Throws: Error from reading.
[[nodiscard]] CheckOutcome check_order(const ElementFormat& format, const WantedOrder& wanted,
                                       io::Reader& reader, unsigned threads,
                                       Meter* meter = nullptr);

// The fingerprint of all elements, in any order. `meter` is used as above. Throws: Error from
// reading.
[[nodiscard]] Fingerprint fingerprint_of_input(const ElementFormat& format, io::Reader& reader,
                                               unsigned threads, Meter* meter = nullptr);

}  // namespace gsort
