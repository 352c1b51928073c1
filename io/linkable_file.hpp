// LinkableFile: a new file that becomes the file of some name, whole or not at all: an unnamed file
// (where that is refused, one with a hidden name), written, then linked and renamed.
#pragma once

#include <string>

#include "io/temporary_file.hpp"

namespace gsort::io {

// Not movable.
class LinkableFile {
 public:
  // To become `target` in `folder`, which outlives it. `path` is what messages call it.
  // Throws: Error of the folder's kind.
  LinkableFile(const Folder& folder, std::string target, const std::string& path);
  ~LinkableFile();  // without put_in_place(): nothing is left of it
  LinkableFile(const LinkableFile&) = delete;
  LinkableFile& operator=(const LinkableFile&) = delete;

  [[nodiscard]] const File& file() const { return new_file_.file; }

  // Empty when the file has no name, or has become the target.
  [[nodiscard]] const std::string& hidden_name() const { return new_file_.name; }

  // Gives it the name, in place of a file that has it; `replaces` says whether there was one, which
  // spares a call. Neither the file nor the folder is synced. Throws: Error of the folder's kind.
  void put_in_place(bool replaces);

 private:
  [[nodiscard]] Error failed(int error_number) const;

  const Folder& folder_;
  std::string target_;
  NewFile new_file_;
};

}  // namespace gsort::io
