// Tests whether a file can be renamed over an existing file, before all other work.
#pragma once

#include <string>

namespace gsort::io {

// Whether no file can be removed from the folder.
[[nodiscard]] bool is_append_only(const std::string& folder);

// For an output `path`, of which hidden files are beside it. Throws: Error(kOutput) if the folder
// is append-only.
void refuse_append_only_folder(const std::string& folder, const std::string& path);

// Messages call the file `name` of `folder` by `path`.
// Throws: Error(kOutput) if the file is append-only.
void refuse_append_only(const std::string& folder, const std::string& name,
                        const std::string& path);

// After refuse_append_only. Messages call the file `name` of `folder` by `path`.
// `may_be_written`: the caller could write into it instead (--replace=write); hints then name this.
// Throws: Error(kOutput) if the file is a mount point, another user's in a folder with the sticky
// bit, or in an append-only folder. If the system does not tell, this does not throw.
void require_renamable(const std::string& folder, const std::string& name, const std::string& path,
                       bool may_be_written);

}  // namespace gsort::io
