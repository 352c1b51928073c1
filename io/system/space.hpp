// Checks the space before the first byte is written: the needs of all folders together against the
// free space of their file systems.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "io/system/file.hpp"

namespace gsort::io {

// The need for `bytes` in any of `folders`, for `purpose` ("runs", "the output").
struct SpaceNeed {
  std::span<const std::string> folders;
  std::uint64_t bytes = 0;
  std::string purpose;
};

// Checks that files can be made in each of the folders. Throws: Error(kResource) with the folder.
void require_writable(std::span<const std::string> folders, const std::string& purpose);

// Checks that all `needs` can be met at the same time, and that their folders are writable. Folders
// on one file system share its space; a need with several folders may be spread over them. Throws:
// Error(kResource) with the folder, the needed and the free space, and a hint.
void require_space(std::span<const SpaceNeed> needs);

// Watches the host's memory while files in memory are written: the kernel kills a process that
// takes the last of it. Looks once in 4 to 64 MiB of writes. Thread-safe.
class MemoryWatch {
 public:
  explicit MemoryWatch(std::string_view kind = {}) : kind_(kind) {}

  // Whether the memory has room for `bytes` more of a file.
  [[nodiscard]] bool has_room_for(std::uint64_t bytes);

  // Sets the kind of memory that holds the output, as FolderFacts names it; empty: a disk. Call
  // it before other threads use this.
  void set_kind(std::string_view kind) { kind_ = kind; }
  [[nodiscard]] std::string_view kind() const { return kind_; }
  [[nodiscard]] bool is_memory() const { return !kind_.empty(); }

  // Throws: Error if the output is in memory, which has no room for `bytes` more.
  void require_room_for(const File& output, std::uint64_t bytes);

 private:
  std::string_view kind_;
  static constexpr std::int64_t kLeastUnlooked = std::int64_t{4} << 20;
  std::atomic<std::int64_t> unlooked_bytes_{kLeastUnlooked};  // until the next look
};

}  // namespace gsort::io
