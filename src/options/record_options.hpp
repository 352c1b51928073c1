// --record and --key: the form of records.
#pragma once

#include <string_view>

#include "options/options.hpp"

namespace gsort {

// What the option's value puts into the options. Throws: Error(kUsage).
void set_record(Options& options, std::string_view value);
void add_record_keys(Options& options, std::string_view value);

// Makes options.records of --record and --key. To be called when type, byte order and direction are
// known. Throws: Error(kUsage) when one is given without the other, for keys that are malformed,
// empty, overlap or do not fit the record, and for files that do not hold raw records.
void resolve_records(Options& options);

}  // namespace gsort
