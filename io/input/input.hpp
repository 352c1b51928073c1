// Input: one input of a Reader, a regular file (or block device) that is read at offsets, a stream
// that is read in order, or the name of one in memory. Chooses the fastest way to read it, and
// notices if it has changed meanwhile.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include "io/system/bytes.hpp"
#include "io/system/file.hpp"

namespace gsort::io {

// The state of a file at some time.
struct FileState {
  std::uint64_t bytes = 0;
  std::int64_t changed_ns = 0;  // its last change, since 1970

  friend bool operator==(const FileState&, const FileState&) = default;
};

// The way to read regular inputs.
struct WayToRead {
  DirectIo direct_io = DirectIo::kAuto;
  // One thread both reads and works. Large uncached files, too, are then read through the page
  // cache, since only the kernel's read-ahead overlaps with the work.
  bool by_one_thread = false;
};

class Input {
 public:
  // `path` "-" is standard input, read from where its offset stands.
  // Throws: Error(kInput).
  explicit Input(const std::string& path);

  // Not a file: `bytes` bytes in memory, which are read elsewhere.
  Input(std::string name, std::uint64_t bytes);

  // Chooses how a regular input is read: through the page cache, as before this call, or around it.
  // Call it only if you read at aligned offsets into aligned memory. Does nothing to streams.
  void choose_way(const WayToRead& wanted);

  // Closes the descriptor of a regular file, so that there can be more inputs than open files: from
  // now on each read opens the file and checks that it is still the same one. After this, only
  // read_at() may be called. Does nothing to streams, devices and standard input.
  void park();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_stream() const { return is_stream_; }

  // For a regular input: the size of its sequence in bytes, and the offset in the file where it
  // starts.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t base_offset() const { return base_offset_; }

  // Whether choose_way() found most of it in the page cache, or it is in memory. A small input is
  // not checked, and counts as cached.
  [[nodiscard]] bool is_cached() const { return is_cached_ || is_small_ || is_in_memory_; }

  // Whether reads that start at a multiple of kDirectAlignment of the file go around the page
  // cache.
  [[nodiscard]] bool is_direct() const { return use_direct_.load(std::memory_order_relaxed); }

  // Reads `bytes` bytes at `at` of a regular input to the start of `room`, all of which may be
  // overwritten. Thread-safe. Throws: Error(kInput), also if the file has become shorter.
  void read_at(ByteSpan room, std::size_t bytes, std::uint64_t at);

  // The next bytes of a stream; less than asked only at its end.
  [[nodiscard]] std::size_t read_next(ByteSpan to);

  // Throws: Error(kInput) if the size or modification time of a regular file differs from that at
  // opening, or, after park(), if its name belongs to another file.
  void check_unchanged() const;

  // The same for an output that replaces it. Throws, too, if another program has renamed another
  // file to the name `output`: that file would be lost.
  void check_replaceable(const std::string& output) const;

  // Throws: Error(kUsage) if the input begins after the first byte of its file, as standard input
  // may: an output that replaces the file would lose the bytes before.
  void require_all_of_file() const;

  // The state at opening; none if it is not a regular file.
  [[nodiscard]] std::optional<FileState> state() const;

  // How it is read, for -v; empty when there is nothing to say.
  [[nodiscard]] std::string note() const;

 private:
  [[nodiscard]] File opened_again() const;
  void require_unchanged(const struct stat& now) const;
  [[nodiscard]] Error changed(std::string_view how) const;

  File file_;  // not open after park()
  std::string path_;
  File direct_;  // the same file with O_DIRECT; not open if not wanted or not supported
  std::atomic<bool> use_direct_{false};
  std::atomic<bool> direct_refused_{false};
  bool has_name_ = false;  // false for standard input
  bool is_parked_ = false;
  bool is_stream_ = false;
  bool is_cached_ = false;
  bool is_read_ahead_ = false;
  bool is_small_ = false;
  bool is_block_device_ = false;
  bool is_in_memory_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t base_offset_ = 0;
  struct stat facts_ = {};
  std::vector<std::byte> rest_;  // of a pipe: bytes that were read with the last ones
};

}  // namespace gsort::io
