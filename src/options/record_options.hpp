// --record and --key: the form of records.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "form/stored_array.hpp"
#include "options/job.hpp"
#include "options/options.hpp"

namespace gsort {

// Set an option from its value. Throws: Error(kUsage).
void set_record(Options& options, std::string_view value);
void add_record_keys(Options& options, std::string_view value);

// Makes options.records from --record and --key. Call it when type, byte order and direction are
// known. If the first input is an array, its header describes the records: see below. Throws:
// Error(kUsage) if one is given without the other, for keys that are malformed, empty, overlap or
// do not fit the record, and for files that do not hold raw records.
void resolve_records(Options& options);

// The same for the rows of a table, into the job: --key has numbers of columns. Throws as above.
void adopt_table(Job& job, const Options& options, const StoredArray& table);

// The same for an array of records, into the job: --key may name fields, and without it they are
// the keys, in their order. Throws: Error(kUsage) as above, also for fields without an order.
void adopt_records(Job& job, const Options& options, const StoredRecords& records);

// The same for --shuffle, which compares no bytes of the elements: records, or rows of a table.
void adopt_shuffled_records(Job& job, const Options& options, const StoredArray& stored);

// The same for an array of keys. Throws: Error(kUsage) if --record or --key is given; `reason` says
// why it cannot be.
void refuse_records_of_keys(const Options& options, std::optional<std::string> reason = {});

}  // namespace gsort
