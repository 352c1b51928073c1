// SharedFile: an output that several processes write together, each its own range: a hidden file
// beside the place where the output will be. Writes go through the page cache: a direct write of a
// whole page could replace bytes that another process has just written there by older ones.
//
// --take: the processes find the file by its name. A process that is killed leaves it; the next one
// continues with it. Writing a range again, also at the same time, is harmless as long as all write
// the same bytes. --join gives the file the output's name when all of it is there.
//
// gsort-mpi: one process makes the file (OutputOptions::is_shared) and marks it. The others, on
// this host or on others, open it and compare the mark: if the path is another folder on some host,
// the sort fails before it begins. When all others have returned from finish(), the process that
// made the file tells its Output what they wrote (Output::note_written), and commits it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "io/output/content_sum.hpp"
#include "io/output/output_place.hpp"
#include "io/system/bytes.hpp"
#include "io/system/space.hpp"
#include "io/system/written_places.hpp"

namespace gsort::io {

// Writes a small text file beside the output; it atomically replaces a file of this name. On return
// it is on the disk. Throws: Error(kOutput).
void write_record(const OutputPlace& place, const std::string& name, const std::string& text);
// The same if no file has the name; otherwise returns false and changes nothing.
[[nodiscard]] bool write_new_record(const OutputPlace& place, const std::string& name,
                                    const std::string& text);
// Returns nullopt if there is no such file, or if a user other than this one and root may have made
// it. Throws: Error(kOutput).
[[nodiscard]] std::optional<std::string> read_record(const OutputPlace& place,
                                                     const std::string& name);
// Removes the file, if it exists. A file with a temporary name (is_on_its_way) stays while a live
// process holds its lock. Throws: Error(kOutput).
void remove_beside(const OutputPlace& place, const std::string& name);

// Facts about a file from the system. A file with other hints may be unchanged, and a file with the
// same hints may have changed; so they only decide whether a file must be read again.
struct FileHints {
  std::uint64_t number = 0;
  std::int64_t written_ns = 0;
  std::int64_t changed_ns = 0;  // set by the clock only

  friend bool operator==(const FileHints&, const FileHints&) = default;
};

// A regular file beside the output.
struct FileBeside {
  std::uint64_t bytes = 0;
  FileHints hints;
};
// Returns nullopt if no regular file has this name. Throws: Error(kOutput).
[[nodiscard]] std::optional<FileBeside> look_beside(const OutputPlace& place,
                                                    const std::string& name);
// Reads all of the file. Returns nullopt if it does not exist or may not be read.
// Throws: Error(kOutput).
[[nodiscard]] std::optional<ContentSum> read_content(const OutputPlace& place,
                                                     const std::string& name);

// Writes a random number into the hidden file of a shared output, and returns it. The output
// overwrites it later. Throws: Error(kOutput).
[[nodiscard]] std::uint64_t mark_shared_output(const std::string& hidden_path);

// const functions are thread-safe.
class SharedFile {
 public:
  enum class Access : std::uint8_t { kMake, kLook };

  // kMake: makes the file `name` beside the output, with mode 0600; the name must be unused. kLook:
  // opens it. `place`, that of the output, outlives this object. Throws: Error(kOutput), also if
  // the file is a link, or not a regular file of this user.
  SharedFile(const OutputPlace& place, const std::string& name, Access access);

  // Opens the hidden file of another process's output; messages name it as `path`. The other
  // process renames it: put_in_place() must not be called here. Throws: Error(kOutput) if the file
  // cannot be opened, or does not have that mark.
  SharedFile(const std::string& hidden_path, const std::string& path, std::uint64_t mark);

  // kLook: whether the file exists.
  [[nodiscard]] bool exists() const { return file_.is_open(); }
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t allocated_bytes() const;  // space it has on its file system
  [[nodiscard]] ContentSum content() const;             // reads all of it. Throws: Error(kOutput)

  // Extends the file to this size if it is shorter. Throws: Error(kOutput).
  void grow_to(std::uint64_t bytes) const;
  // Throws: Error(kOutput); Error(kCorrupt) if any of the bytes was written here before.
  void write_at(std::uint64_t offset, ConstByteSpan bytes) const;
  // Call it when all of [begin, end), the range of this process, has been written. Returns when it
  // is on the disk. Throws: Error(kOutput); Error(kCorrupt) if something else was written.
  void finish(std::uint64_t begin, std::uint64_t end);

  // Gives the file the output's name and rights (output_rights.hpp). Calls `before_name` when all
  // data is on the disk. Returns false if the file has lost its own name meanwhile. Throws:
  // Error(kOutput), and whatever `before_name` throws.
  [[nodiscard]] bool put_in_place(const std::function<void()>& before_name = [] {}) const;

 private:
  void note_writes();

  const OutputPlace* place_ = nullptr;  // null: another process has made the output
  std::string name_;
  const char* remains_;  // for misplaced()
  mutable MemoryWatch memory_watch_;
  WrittenPlaces places_;
  File file_;  // after the member in which it notes its places
};

}  // namespace gsort::io
