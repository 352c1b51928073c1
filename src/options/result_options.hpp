// The options that say what of the sorted elements comes out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "options/options.hpp"

namespace gsort {

// The values of --top and --batch-elements. Throws: Error(kUsage).
void set_top(Options& options, std::string_view value);
void set_batch_elements(Options& options, std::string_view value);

// The inputs are arrays of two dimensions, with rows of so many elements.
// Throws: Error(kUsage) for options that do not go with them.
void adopt_rows(Options& options, std::uint64_t row_elements);

// The elements of each array that is sorted on its own; none if the input is one. Never more
// than a file can hold: an array longer than the input is the input, and what is added to such a
// number, or multiplied with the bytes of an element, stays within 64 bits.
[[nodiscard]] std::optional<std::uint64_t> array_elements(const Options& options);

// Throws: Error(kUsage) for options that cannot be combined.
void refuse_result_contradictions(const Options& options);

}  // namespace gsort
