// LinkableFile: a new file that gets its name when it is complete, or never: an unnamed file (if
// that is not supported, one with a hidden name), written at offsets, then linked and renamed.
#pragma once

#include <cstdint>
#include <string>

#include "io/system/temporary_file.hpp"
#include "io/system/written_places.hpp"

namespace gsort::io {

// Not movable.
class LinkableFile {
 public:
  // A file that will become `target` in `folder`, which outlives it. Messages name it as `path`.
  // is_hidden: it has a hidden name from the start, for other processes. Throws: Error of the
  // folder's kind.
  LinkableFile(const Folder& folder, std::string target, const std::string& path,
               bool is_hidden = false);
  ~LinkableFile();  // without put_in_place(): removes the file
  LinkableFile(const LinkableFile&) = delete;
  LinkableFile& operator=(const LinkableFile&) = delete;

  [[nodiscard]] const File& file() const { return new_file_.file; }

  // Empty if the file has no name, or has become the target.
  [[nodiscard]] const std::string& hidden_name() const { return new_file_.name; }

  // Notes that another process has written these bytes. Thread-safe. Throws: Error(kCorrupt) if any
  // of them was written before.
  void note_written(std::uint64_t offset, std::uint64_t bytes);

  // Gives the file its name and replaces a file that has it; `replaces` says whether there is one,
  // which saves a system call. Does not sync the file or the folder. Throws: Error of the folder's
  // kind; Error(kCorrupt) unless the file is `bytes` long, and each byte was written once, at its
  // offset.
  void put_in_place(bool replaces, std::uint64_t bytes);

  // The same for a name that must be free. Throws: as put_in_place, and if the name is taken.
  void put_in_free_place(std::uint64_t bytes);

 private:
  void rename_to_free_place();
  void has_no_hidden_name();
  [[nodiscard]] bool is_target() const;
  void require_written(std::uint64_t bytes) const;
  [[nodiscard]] Error wrong(std::string reason, std::uint64_t offset) const;
  [[nodiscard]] Error failed(int error_number) const;

  const Folder& folder_;
  std::string target_;
  WrittenPlaces written_;
  NewFile new_file_;  // after the member in which it notes its places
};

// Writes a small file `name`, which replaces a file of this name. On return it is on the disk.
// must_be_new: if a file has the name, returns false and changes nothing. Messages name it as
// `path`. Throws: Error of the folder's kind.
bool write_named_file(const Folder& folder, const std::string& name, const std::string& path,
                      ConstByteSpan content, bool must_be_new = false);

}  // namespace gsort::io
