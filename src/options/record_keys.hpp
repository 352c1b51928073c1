// Parses one key of --key=OFFSET[:TYPE][r], and adds it to the form of a record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "element/record_format.hpp"
#include "options/options.hpp"

namespace gsort {

inline constexpr std::string_view kKeyForm = "OFFSET[:TYPE][r], as 0:u64 or 4:bytes10r,0:i32";

[[nodiscard]] Error bad_key(std::string_view key, std::string reason,
                            std::string_view hint = kKeyForm);

// Takes the number at the start of `text`, if there is one.
std::optional<std::uint32_t> take_number(std::string_view& text);

// Throws: Error(kUsage).
[[nodiscard]] KeyField parse_record_key(std::string_view key, const Options& options);

// Adds the key `field`. Throws: Error(kUsage) if it does not fit the record, overlaps another key,
// or is one too many.
void add_record_key(RecordFormat& format, const KeyField& field, std::string_view key);

}  // namespace gsort
