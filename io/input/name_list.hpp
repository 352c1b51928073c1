// A list of file names separated by NUL, as find -print0 writes it: for --files0-from.
#pragma once

#include <string>
#include <vector>

namespace gsort::io {

// The names in the file `path`, in their order; "-" is standard input. The NUL after the last name
// may be missing. Throws: Error(kInput) if the list cannot be read; is empty; holds an empty name,
// one that is longer than any path, or more than a million names; or names standard input although
// the list itself comes from there. It throws as soon as it sees this, so that an endless or
// unsuitable file takes no memory.
[[nodiscard]] std::vector<std::string> read_name_list(const std::string& path);

}  // namespace gsort::io
