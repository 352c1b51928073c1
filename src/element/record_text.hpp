// Elements as words, for messages and reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "element/element.hpp"

namespace gsort {

// "u32", "bytes20": as --type has it.
[[nodiscard]] std::string type_text(const KeyFormat& key);

// "0:u32 ascending, 4:bytes10 descending": the keys as --key has them.
[[nodiscard]] std::string describe_keys(const RecordFormat& format);

// "ascending"; for records, "by " and their keys.
[[nodiscard]] std::string order_words(const ElementFormat& format);

// The values of an element's keys: "17, 'ab\xff'".
[[nodiscard]] std::string text_of_keys(const ElementFormat& format, const std::byte* element);

// The message about disorder, with the values of the element and of its predecessor: "element 1,234
// is out of order: -3 after 7 (wanted: ascending)"; and "one of each key", if that is wanted, too.
[[nodiscard]] std::string disorder_words(const ElementFormat& format, bool unique,
                                         std::uint64_t element, std::string_view value,
                                         std::string_view value_before);

// The order of floating-point keys: "-inf, ..., inf, NaN", or in total order "-NaN, -inf, ..., -0,
// 0, ..., inf, NaN". Other programs may order them differently. Empty if no key is a float.
[[nodiscard]] std::string order_of_floats(const ElementFormat& format);

}  // namespace gsort
