// The options of a sort by several processes: --form, --take and --join, and the options for these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "element/element.hpp"
#include "options/options.hpp"

namespace gsort {

// All throw Error(kUsage) with a hint that names valid values.
[[nodiscard]] NumberOf parse_number_of(std::string_view text, std::string_view option);  // "2/8"
void set_from(Options& options, std::string_view value);                                 // "a,b"

// Checks the names and formats of files. Throws: Error(kUsage). Requires: the rules of kShares
// hold.
void refuse_files_of_shares(const Options& options);

// If the name of the output contains {}, each part has its own file: `split_output` is then the
// number of parts, and outputs() has their names. Requires: the same.
void name_own_files(Options& options);

// The elements that resumable_job() has described. Throws: Error(kTemporary) for any other text,
// for elements of other sizes, and for invalid elements.
[[nodiscard]] ElementFormat element_of_job(const std::string& description,
                                           std::uint64_t element_bytes);

}  // namespace gsort
