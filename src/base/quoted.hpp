// Data in messages: never more than a little of it, and nothing that a terminal would obey.
#pragma once

#include <string>
#include <string_view>

namespace gsort {

// At most the first 24 bytes, in quotes; bytes that are not printable ASCII as \xNN.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace gsort
