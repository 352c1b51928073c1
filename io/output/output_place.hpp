// OutputPlace: the open folder of an output, and the output's name in it. All files beside the
// output are made, found, renamed and removed through it, so they are in one folder even if another
// program renames the folder. Functions test, before all other work, whether a file can be renamed
// over an existing output.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <sys/stat.h>

#include "io/system/temporary_file.hpp"

namespace gsort::io {

// The folder in `path`: all before the last slash.
[[nodiscard]] std::string folder_of(const std::string& path);

// Copies share the open folder.
struct OutputPlace {
  // Opens the folder, or shares that of `beside` if it has the same path. `resolved`: the file that
  // `named` leads to through symbolic links. Throws: Error(kOutput).
  OutputPlace(std::string named, const std::string& resolved, const OutputPlace* beside = nullptr);
  explicit OutputPlace(const std::string& named) : OutputPlace(named, named) {}

  std::string path;  // for messages
  std::shared_ptr<const Folder> folder;
  std::string name;

  [[nodiscard]] int fd() const { return folder->file.fd(); }
  [[nodiscard]] const std::string& folder_path() const { return folder->file.path(); }
  // For a file in the folder: its path; its place; its facts if it exists. Throws: Error(kOutput).
  [[nodiscard]] std::string path_of(const std::string& file) const {
    return folder_path() + "/" + file;
  }
  [[nodiscard]] OutputPlace place_of(const std::string& file) const {
    return {path_of(file), path_of(file), this};
  }
  [[nodiscard]] std::optional<struct stat> facts_of(const std::string& file) const;
};

// The place of the output `path`; `beside`: as above. Throws: Error(kOutput) if `path` is a link, a
// folder or a device.
[[nodiscard]] OutputPlace place_of_output(const std::string& path,
                                          const OutputPlace* beside = nullptr);
// Throws: Error(kOutput) if the output exists and this user may not write to it. A rename would
// replace it, but its owner made it read-only to prevent that.
void require_writable(const OutputPlace& place);

// Throws: Error(kOutput) if the path now leads to another folder, or to none. A relative path is
// checked only if the process is gsort's own: a program that calls the library may have changed its
// working folder.
void require_unmoved(const OutputPlace& place);

// Whether the folder is append-only: no file can be removed from it. False if this is not known.
[[nodiscard]] bool is_append_only(const std::string& folder);

// Throws: Error(kOutput) if the folder is append-only: gsort could not remove hidden files from it.
// `path`: the output, for the message.
void refuse_append_only_folder(const std::string& folder, const std::string& path);

// Throws: Error(kOutput) if `folder` does not exist yet and the folder `above` it is append-only:
// gsort could not remove `folder` again.
void refuse_folder_that_would_stay(const std::string& folder, const std::string& above);

// Throws: Error(kOutput) if the output is a file that is append-only or immutable.
void refuse_attributes(const OutputPlace& place);

// Requires: refuse_attributes() has passed. `may_be_written`: the hint offers --replace=write,
// which writes into the file instead. Throws: Error(kOutput) if the output is a mount point,
// another user's file in a folder with the sticky bit, or in an append-only or immutable folder. If
// the system does not tell, this does not throw.
void require_renamable(const OutputPlace& place, bool may_be_written);

}  // namespace gsort::io
