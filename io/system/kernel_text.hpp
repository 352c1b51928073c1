// What the kernel says of itself in small files of text, /proc/meminfo and the like.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gsort::io {

// The first 64 KiB of such a file; empty when it cannot be read, which is no error here.
[[nodiscard]] std::string kernel_text(const std::string& path);

// The number that `text` begins with, behind spaces and tabs; none if it does not.
[[nodiscard]] std::optional<std::uint64_t> number_at_start(std::string_view text);

// The number behind `name` at the start of a line: "MemAvailable:   24252108 kB".
[[nodiscard]] std::optional<std::uint64_t> number_in_line(std::string_view text,
                                                          std::string_view name);

}  // namespace gsort::io
