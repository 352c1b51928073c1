// Errors about an invalid line of decimal text: its place, the fault, and the valid form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "element/key.hpp"

namespace gsort::io {

// The Error for line `number` (from 1) of `path`, which holds `line`, not a key of `type`. Quotes
// only the fault, shortened.
[[nodiscard]] Error bad_line(const std::string& path, std::uint64_t number, std::string_view line,
                             KeyType type);

// The same for a line that is not the hexadecimal digits of a key of this many bytes.
[[nodiscard]] Error bad_hex_line(const std::string& path, std::uint64_t number,
                                 std::string_view line, std::size_t key_bytes);

// The same for a line that is not a count and a key.
[[nodiscard]] Error bad_counted_line(const std::string& path, std::uint64_t number,
                                     std::string_view line, const KeyFormat& key);

// The same for a line that is longer than any number; `begin` is as much of it as was read.
[[nodiscard]] Error line_too_long(const std::string& path, std::uint64_t number,
                                  std::string_view begin);

}  // namespace gsort::io
