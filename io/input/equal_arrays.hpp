// In what several inputs must agree if their headers describe arrays: the first input decides.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "io/input/source.hpp"

namespace gsort::io {

// The error for a source whose header says something else than the first input, -t or a suffix.
[[nodiscard]] Error disagrees(const Source& source, const std::string& holds,
                              const std::string& but, std::string_view hint);

// Raw elements may follow an array of any dtype, but no other array, nor such an array raw
// elements. Throws: Error(kInput).
void require_equal_dtype(const Source& first, const Source& source);

// Rows of several arrays stand below each other only if they are equally long. Adds up the empty
// rows in the first source: no element tells how many there are. Throws: Error(kInput).
void join_rows(std::span<const std::unique_ptr<Source>> sources);

}  // namespace gsort::io
