// File: an open descriptor that closes itself, and full transfers: interrupted and short calls are
// invisible, failures are Errors that name the operation, the path and the offset.
//
// Read next: reader.hpp, output.hpp, run_store.hpp, which use Files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.hpp"
#include "io/system/bytes.hpp"
#include "io/system/written_places.hpp"

namespace gsort::io {

// Move-only. const member functions are thread-safe, except read_full and write_full, which move
// the descriptor's offset: the caller orders them.
class File {
 public:
  File() = default;
  // Takes ownership of the descriptor. Messages name it as `path`; all its Errors are of `kind`.
  File(int fd, std::string path, ErrorKind kind);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();  // closes; errors are ignored here, so writers call close()

  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

  // Reads as many bytes as one read(2) gives: at least one, or 0 at the end. Requires: `to` is not
  // empty.
  [[nodiscard]] std::size_t read_some(ByteSpan to) const;

  // Reads until `to` is full or the file ends; returns the bytes read.
  [[nodiscard]] std::size_t read_full(ByteSpan to) const;
  [[nodiscard]] std::size_t read_full_at(ByteSpan to, std::uint64_t offset) const;

  // Writes all of `from`.
  void write_full(ConstByteSpan from) const;
  void write_full_at(ConstByteSpan from, std::uint64_t offset) const;

  // Like read_full_at and write_full_at, for descriptors opened with O_DIRECT. Returns false,
  // possibly after it moved some bytes, if the file system refuses the alignment or the mode
  // (EINVAL); the caller then does the rest of the transfer through the page cache. `moved` is the
  // number of bytes moved: fewer than asked at the end of a file.
  [[nodiscard]] bool read_direct_at(ByteSpan to, std::uint64_t offset, std::size_t& moved) const;
  [[nodiscard]] bool write_direct_at(ConstByteSpan from, std::uint64_t offset,
                                     std::size_t& moved) const;

  // From now on records all writes at offsets in `places`, which outlives the file and all files
  // reopened from it; writing a byte twice is then an Error(kCorrupt).
  void note_places_in(WrittenPlaces& places) { places_ = &places; }
  // Records bytes that were copied into the file's pages.
  void note_written(std::uint64_t offset, std::size_t bytes) const;
  // Makes a shorter file this long. Returns false if it cannot, or if the file system has no holes:
  // FAT would write zeros. Allocates nothing: btrfs compresses no file of which a byte was
  // allocated before it was written.
  bool grow_to(std::uint64_t bytes) const;
  // Throws: Error if the file is shorter than it was after grow_to() or a recorded write. Each such
  // write checks this first: it would fill the gap with zeros.
  void require_written_size() const;
  [[nodiscard]] Error became_shorter() const;

  void sync() const;  // fsync: data and metadata are on the disk, or an Error; final either way
  void sync_data() const;         // fdatasync
  void sync_file_system() const;  // syncfs: all unwritten data of this file's file system
  void truncate(std::uint64_t bytes) const;
  // Allocates blocks for the first `bytes` bytes, as fallocate(2) with `mode`. Throws: Error of
  // `operation` if there is no room for them. Ignores other errors: the file system may not support
  // the call, and a write reports any other problem again.
  void allocate(std::uint64_t bytes, int mode, std::string_view operation) const;
  [[nodiscard]] struct stat facts() const;

  // The size of a regular file in bytes. Throws: Error.
  [[nodiscard]] std::uint64_t size() const;
  void close();  // checked

  // The same file through a new descriptor with `flags` (such as O_RDWR | O_DIRECT), whatever its
  // name is now; not open if the kernel refuses.
  [[nodiscard]] File reopened(int flags) const;

  // The Error for `error_number` of `operation` on this file. "writing" + ENOSPC, EFBIG, EPIPE and
  // the like come with a hint.
  [[nodiscard]] Error error(std::string_view operation, int error_number) const;

 private:
  int fd_ = -1;
  ErrorKind kind_ = ErrorKind::kInput;
  std::string path_;
  WrittenPlaces* places_ = nullptr;
};

// Opens `path` for reading, close-on-exec.
// Throws: Error(kInput) when it is missing, unreadable or a directory.
[[nodiscard]] File open_input(const std::string& path);

// Standard input through a descriptor of its own, at the offset it has.
// Throws: Error(kInput) when it is closed, a directory or a socket that carries messages.
[[nodiscard]] File open_standard_input();

// The hint for the Error of a call that failed with `error_number`; never empty.
[[nodiscard]] std::string_view hint_for(int error_number);

// The Error for `error_number` of `operation` on `path`, with hint_for(error_number).
[[nodiscard]] Error failed_call(ErrorKind kind, std::string operation, std::string_view path,
                                int error_number);

// The state of the file or folder `name` in an open folder; none if it does not exist or cannot be
// reached. A network file system asks its server: another host may have changed the file since this
// one last looked. Messages name it as `path`. Throws: Error(kind) if the call fails.
[[nodiscard]] std::optional<struct stat> facts_of_name(int folder, const std::string& name,
                                                       const std::string& path, ErrorKind kind);

// Whether a file or folder has this path. Throws: Error(kTemporary), as facts_of_name().
[[nodiscard]] bool is_there(const std::string& path);

}  // namespace gsort::io
