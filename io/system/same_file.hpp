// Tells whether two names mean the same file, so that gsort does not overwrite a file that is an
// input, is kept, or is written by others.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace gsort::io {

// The names of the two descriptors here, whether or not the system has such names.
inline constexpr const char* kStandardInput = "/dev/stdin";
inline constexpr const char* kStandardOutput = "/dev/stdout";

inline constexpr int kMostLinks = 40;  // as many as the kernel follows

// The target of a symbolic link, as a path from here; else none, and errno says why.
[[nodiscard]] std::optional<std::filesystem::path> target_of_link(
    const std::filesystem::path& link);

// The end of a chain of symbolic links, whether or not it exists.
[[nodiscard]] std::filesystem::path end_of_links(std::filesystem::path path);

// Whether both paths name the same file. Existing files are compared by identity, so links count as
// their targets; for missing files, the folders and names are compared, after links to the folder
// are followed. Devices and pipes never count as the same file.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

// Whether both are the same FIFO, pipe or block device. These are written to, not replaced.
[[nodiscard]] bool same_stream(const std::string& a, const std::string& b);

}  // namespace gsort::io
