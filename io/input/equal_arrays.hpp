// Checks that several inputs agree if their headers describe arrays: the first input decides.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "io/input/reader.hpp"
#include "io/input/source.hpp"

namespace gsort::io {

// The error for a source whose header differs from the first input, -t or a suffix.
[[nodiscard]] Error disagrees(const Source& source, const std::string& holds,
                              const std::string& but, std::string_view hint);

// The same for one of another type, or byte order, than `wanted`.
[[nodiscard]] Error has_other_type(const Source& source, const std::string& holds,
                                   const KeyFormat& wanted);
[[nodiscard]] Error has_other_order(const Source& source, const KeyFormat& wanted);

// Throws Error(kInput) if numbers were asked for, or another byte order, and the array holds texts.
// Types of keys at offsets are no such wish.
void require_type_of_texts(const Source& source, const ReaderOptions& options);

// Throws Error(kInput) if an array follows an array of another dtype, or if one that needs a dtype
// follows raw elements. Raw elements may follow any array.
void require_equal_dtype(const Source& first, const Source& source);

// Throws Error(kInput) if rows of several arrays differ in length. Adds up the empty rows in the
// first source, because elements do not show how many there are.
void join_rows(std::span<const std::unique_ptr<Source>> sources);

}  // namespace gsort::io
