// OutputShare: what a process writes of an output that another one has made (OutputOptions::
// is_shared), on this host or on another that sees the same file system.
//
// Life: the maker creates the file and calls mark(), the others open it and compare the mark, so
// that a folder that is another one on some host is found before anything is sorted. All write; all
// but the maker finish(), and tell it what they wrote (Output::note_written); it commits.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "io/system/file.hpp"
#include "io/system/written_places.hpp"

namespace gsort::io {

// Writes a random number into the hidden file of a shared output, and returns it. The output
// overwrites it later. Throws: Error(kOutput).
[[nodiscard]] std::uint64_t mark_shared_output(const std::string& hidden_path);

// Not movable. write_at is thread-safe.
class OutputShare {
 public:
  // `path` is what messages call it. Throws: Error(kOutput) when the file cannot be opened, or has
  // not that mark.
  OutputShare(const std::string& hidden_path, const std::string& path, std::uint64_t mark);
  OutputShare(const OutputShare&) = delete;
  OutputShare& operator=(const OutputShare&) = delete;

  // Throws: Error(kOutput); Error(kCorrupt) when any of it was written here before.
  void write_at(std::uint64_t offset, ConstByteSpan bytes);

  // All has been written, which is [begin, end) of the file: returns when it is on the disk.
  // Throws: Error(kOutput); Error(kCorrupt) when it is not that.
  void finish(std::uint64_t begin, std::uint64_t end);

 private:
  File file_;
  WrittenPlaces places_;
  bool is_memory_ = false;  // the file system keeps files in memory
  std::atomic<std::uint64_t> unlooked_bytes_{0};
};

}  // namespace gsort::io
