// The names of a list of files, NUL between them, as find -print0 writes it: for --files0-from.
#pragma once

#include <string>
#include <vector>

namespace gsort::io {

// The names in the file `path`, in their order; "-" is standard input. The last name may end with a
// NUL or without.
// Throws: Error(kInput) when the list cannot be read, holds no name, an empty one, one that is
// longer than any path, or more than a million, or names standard input when it came from there
// itself; as soon as that is seen, so that what is no list, or has no end, takes no memory.
[[nodiscard]] std::vector<std::string> read_name_list(const std::string& path);

}  // namespace gsort::io
