// LinkableFile: a new file that becomes the file of some name, whole or not at all: an unnamed file
// (where that is refused, one with a hidden name), written at offsets, then linked and renamed.
#pragma once

#include <cstdint>
#include <string>

#include "io/system/temporary_file.hpp"
#include "io/system/written_places.hpp"

namespace gsort::io {

// Not movable.
class LinkableFile {
 public:
  // To become `target` in `folder`, which outlives it. `path` is what messages call it.
  // is_hidden: it has a hidden name from the start, for other processes.
  // Throws: Error of the folder's kind.
  LinkableFile(const Folder& folder, std::string target, const std::string& path,
               bool is_hidden = false);
  ~LinkableFile();  // without put_in_place(): nothing is left of it
  LinkableFile(const LinkableFile&) = delete;
  LinkableFile& operator=(const LinkableFile&) = delete;

  [[nodiscard]] const File& file() const { return new_file_.file; }

  // Empty when the file has no name, or has become the target.
  [[nodiscard]] const std::string& hidden_name() const { return new_file_.name; }

  // Another process has written these bytes. Thread-safe.
  // Throws: Error(kCorrupt) when any of them has been written before.
  void note_written(std::uint64_t offset, std::uint64_t bytes);

  // Gives it the name, in place of a file that has it; `replaces` says whether there was one, which
  // spares a call. Neither the file nor the folder is synced.
  // Throws: Error of the folder's kind; Error(kCorrupt) when the file is not `bytes` long, or not
  // each byte of it has been written once, at its offset.
  void put_in_place(bool replaces, std::uint64_t bytes);

  // The same for a name that must be free. Throws: as put_in_place, also where it is taken.
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
  NewFile new_file_;  // after what it notes its places in
};

// Writes a small file `name`, which replaces a file of this name. On return it is on the disk.
// must_be_new: if a file has the name, returns false and changes nothing. `path` is what messages
// call it. Throws: Error of the folder's kind.
bool write_named_file(const Folder& folder, const std::string& name, const std::string& path,
                      ConstByteSpan content, bool must_be_new = false);

}  // namespace gsort::io
