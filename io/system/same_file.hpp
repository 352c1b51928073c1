// Whether two names mean the same file, so that nothing is written over what is read, kept, or
// written by others.
#pragma once

#include <string>

namespace gsort::io {

// What this calls the two descriptors, whether or not such names can be looked up.
inline constexpr const char* kStandardInput = "/dev/stdin";
inline constexpr const char* kStandardOutput = "/dev/stdout";

// Of files that are there: the same file by any names, links included. Of files that are not there
// yet: the same name in the same folder, behind links to it, too. Devices and pipes are shared by
// whoever likes to.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

// Whether both are the same FIFO, pipe or block device. These are written to, not replaced.
[[nodiscard]] bool same_stream(const std::string& a, const std::string& b);

}  // namespace gsort::io
