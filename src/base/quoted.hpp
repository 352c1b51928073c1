// Data in messages: shortened, and without characters that control a terminal; and numbers with
// their nouns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gsort {

// The bytes of the printable UTF-8 character that `text` begins with; 0 if it does not begin with
// one. Requires: text is not empty.
[[nodiscard]] std::size_t character_bytes(std::string_view text);

// At most the first 24 bytes, in quotes; bytes that are not printable ASCII as \xNN.
[[nodiscard]] std::string quoted(std::string_view text);

// The text of a name without quotes. Bytes that are not printable UTF-8 become \xNN, and "..."
// replaces the text after `most_bytes`.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most_bytes = 1024);

// The text as one word of a shell: in quotes if a shell would split or change it.
[[nodiscard]] std::string shell_word(std::string_view text);

// "1 core", "2 cores", "1,000 processes".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun,
                                  std::string_view plural = "s");

}  // namespace gsort
