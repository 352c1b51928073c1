// Tests whether a file can be renamed over an existing file, before all other work.
#pragma once

#include <string>

namespace gsort::io {

// Whether the folder is append-only: no file can be removed from it. False if this is not known.
[[nodiscard]] bool is_append_only(const std::string& folder);

// Throws: Error(kOutput) if the folder is append-only: gsort could not remove hidden files from it.
// `path`: the output, for the message.
void refuse_append_only_folder(const std::string& folder, const std::string& path);

// Throws: Error(kOutput) if `folder` does not exist yet and the folder `above` it is append-only:
// gsort could not remove `folder` again.
void refuse_folder_that_would_stay(const std::string& folder, const std::string& above);

// Throws: Error(kOutput) if the file `name` in `folder` is append-only or immutable. `path`: its
// name in the message.
void refuse_attributes(const std::string& folder, const std::string& name, const std::string& path);

// Requires: refuse_attributes() has passed. `path`: the name of the file in the message.
// `may_be_written`: the hint offers --replace=write, which writes into the file instead.
// Throws: Error(kOutput) if the file is a mount point, another user's in a folder with the sticky
// bit, or in an append-only folder. If the system does not tell, this does not throw.
void require_renamable(const std::string& folder, const std::string& name, const std::string& path,
                       bool may_be_written);

}  // namespace gsort::io
