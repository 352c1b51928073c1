// Data in messages: never more than a little of it, and nothing that a terminal would obey.
#pragma once

#include <string>
#include <string_view>

namespace gsort {

// At most the first 24 bytes, in quotes; bytes that are not printable ASCII as \xNN.
[[nodiscard]] std::string quoted(std::string_view text);

// The text as it is, for names: but what is no printable UTF-8 as \xNN, and behind `most_bytes` of
// it "...".
[[nodiscard]] std::string printable(std::string_view text, std::size_t most_bytes = 1024);

}  // namespace gsort
