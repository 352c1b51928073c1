// Elements in words, for messages and reports.
#pragma once

#include <cstddef>
#include <string>

#include "element/element.hpp"

namespace gsort {

// "u32 at 0, bytes10 at 4 descending".
[[nodiscard]] std::string describe_keys(const RecordFormat& format);

// The values of an element's keys: "17, 'ab\xff'".
[[nodiscard]] std::string text_of_keys(const ElementFormat& format, const std::byte* element);

}  // namespace gsort
