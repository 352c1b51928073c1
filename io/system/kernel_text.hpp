// Reads the small text files in which the kernel describes itself, such as /proc/meminfo.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gsort::io {

// The first 64 KiB of such a file; empty if it cannot be read.
[[nodiscard]] std::string kernel_text(const std::string& path);

// The number at the start of `text`, after spaces and tabs; none if there is none.
[[nodiscard]] std::optional<std::uint64_t> number_at_start(std::string_view text);

// The number after `name` at the start of a line: "MemAvailable: 24252108 kB".
[[nodiscard]] std::optional<std::uint64_t> number_in_line(std::string_view text,
                                                          std::string_view name);

}  // namespace gsort::io
