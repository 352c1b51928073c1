// gsort -c checks that the input is sorted; --fingerprint identifies its elements. Both read it
// once, on all cores that the job may use.
#pragma once

#include "base/meter.hpp"
#include "io/input/reader.hpp"
#include "options/job.hpp"
#include "plan/outcome.hpp"

namespace gsort {

// Checks the order in which the job would write elements: of distinct ones, no key may repeat; of
// several arrays, the first element of one may come before the last one of the previous array.
// Reads to the first disorder, or to the end. For the number of distinct elements, elements are
// equal if all their bytes are. `meter` gets one phase of reading and proving. Throws: Error from
// reading.
[[nodiscard]] CheckOutcome check_order(const Job& job, io::Reader& reader, Meter* meter = nullptr);

// The fingerprint of all elements, in any order. `meter` is used as above. Throws: Error from
// reading.
[[nodiscard]] Fingerprint fingerprint_of_input(const Job& job, io::Reader& reader,
                                               Meter* meter = nullptr);

}  // namespace gsort
