// Whether another file can be renamed over a file that is there, before all the work is done.
#pragma once

#include <string>

namespace gsort::io {

// `path` is what messages call the file `name` of `folder`. `may_be_written`: the caller could
// write into it instead (--replace=write), which the hints then name.
// Throws: Error(kOutput) if the file is a mount point, another user's in a folder with the sticky
// bit, or append-only. What cannot be known passes.
void require_renamable(const std::string& folder, const std::string& name, const std::string& path,
                       bool may_be_written);

}  // namespace gsort::io
