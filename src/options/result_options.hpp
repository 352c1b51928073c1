// The options that decide which of the sorted elements come out.
#pragma once

#include <string_view>

#include "options/options.hpp"

namespace gsort {

// The values of --top, --shuffle and others. Throws: Error(kUsage).
[[nodiscard]] std::uint64_t parse_elements(std::string_view text, std::string_view option);
void set_shuffle(Options& options, std::string_view value);
void set_min_count(Options& options, std::string_view value);
// "c" of "a/b/c".
[[nodiscard]] std::string name_in_folder(const std::string& path);

// Throws: Error(kUsage) for inputs that have no output of their own.
void refuse_inputs_of_each(const Options& options);

// For gsort-mpi. Throws: Error(kUsage) if the output's name has {rank} without --parts.
void refuse_place_of_rank(const Options& options);

void set_batch_elements(Options& options, std::string_view value);

}  // namespace gsort
