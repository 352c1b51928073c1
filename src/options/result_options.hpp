// The options that say what of the sorted elements comes out.
#pragma once

#include <string_view>

#include "form/stored_array.hpp"
#include "options/options.hpp"

namespace gsort {

// The values of --top and --batch-elements. Throws: Error(kUsage).
void set_top(Options& options, std::string_view value);
void set_min_count(Options& options, std::string_view value);
// "c" of "a/b/c".
[[nodiscard]] std::string name_in_folder(const std::string& path);

// -m --count: the FILEs hold keys with counts.
[[nodiscard]] bool adds_counts(const Options& options);

// What does not go together with --each, whatever the files are. Throws: Error(kUsage).
void refuse_beside_each(const Options& options);

// Of gsort-mpi: the number of the process is in the names of parts, and of nothing else; what is
// read, but not sorted, is the same on all hosts.
// Throws: Error(kUsage).
void refuse_wrong_parts(const Options& options);

void set_batch_elements(Options& options, std::string_view value);

// Throws: Error(kUsage) for options that cannot be combined, or do not go with what the headers of
// the inputs say.
void refuse_result_contradictions(const Options& options, const StoredArray& stored = {});

}  // namespace gsort
