// -c for records: as check_order.hpp, by the records' own keys.
#pragma once

#include "element/record.hpp"
#include "pipeline/check_order.hpp"

namespace gsort {

// Records are equal, for the number of distinct ones, when all their bytes are.
// Throws: Error from reading.
[[nodiscard]] CheckOutcome check_records(const RecordFormat& format, const WantedOrder& wanted,
                                         io::Reader& reader, unsigned threads, Meter* meter);

}  // namespace gsort
