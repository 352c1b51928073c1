// Whether two names mean the same file, so that a report does not take the place of what was
// sorted.
#pragma once

#include <string>

namespace gsort::io {

// Of files that are there: the same file by any names, links included. Of files that are not there
// yet: the same name in the same folder. Devices and pipes are shared by whoever likes to.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace gsort::io
