// Input: one input of a Reader, a regular file (or block device) that is read at offsets, a stream
// that is read in order, or the name of one in memory. Knows how it is best read, and notices when
// it was changed meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

// How regular inputs are to be read.
struct WayToRead {
  DirectIo direct_io = DirectIo::kAuto;
  // One thread reads and works, so no block is read during the work, unless the kernel reads ahead.
  bool by_one_thread = false;
};

class Input {
 public:
  // `path` "-" is standard input, read from where its offset stands.
  // Throws: Error(kInput).
  explicit Input(const std::string& path);

  // No file: `bytes` bytes in memory, which are not read through it.
  Input(std::string name, std::uint64_t bytes);

  // Chooses how a regular input is read: through the page cache, as it is until then, or around it.
  // For those who read at aligned offsets into aligned memory. Does nothing to streams.
  void choose_way(const WayToRead& wanted);

  // Keeps no descriptor of a regular file from here on, for more inputs than may be open: each read
  // opens it and makes sure that it is still the same file. Only for those who call read_at() from
  // then on. Does nothing to streams, devices and standard input.
  void park();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_stream() const { return is_stream_; }

  // Of a regular input: the bytes of the sequence it gives, and where in the file they start.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t base_offset() const { return base_offset_; }

  // Whether choose_way() found most of it in the page cache, or it is in memory. A small input is
  // not looked at, and counts as cached.
  [[nodiscard]] bool is_cached() const { return is_cached_ || is_small_ || is_in_memory_; }

  // Whether reads that start at a multiple of kDirectAlignment of the file go around the page
  // cache.
  [[nodiscard]] bool is_direct() const { return use_direct_.load(std::memory_order_relaxed); }

  // Reads `bytes` bytes at `at` of a regular input to the start of `room`, all of which may be
  // overwritten. Thread-safe.
  // Throws: Error(kInput), also when the file has become shorter.
  void read_at(ByteSpan room, std::size_t bytes, std::uint64_t at);

  // The next bytes of a stream; less than asked only at its end.
  [[nodiscard]] std::size_t read_next(ByteSpan to) { return file_.read_full(to); }

  // Throws: Error(kInput) when a regular file has another size or modification time than when
  // opened, or, parked, when its name is another file's.
  void check_unchanged() const;

  // When it was opened; none if it is not a regular file.
  [[nodiscard]] std::optional<FileState> state() const;

  // How it is read, for -v; empty when there is nothing to say.
  [[nodiscard]] std::string note() const;

 private:
  [[nodiscard]] File opened_again() const;
  void require_unchanged(const struct stat& now) const;
  [[nodiscard]] Error changed(std::string_view how) const;

  File file_;  // not open when parked
  std::string path_;
  File direct_;  // the same file with O_DIRECT; not open where not wanted or refused
  std::atomic<bool> use_direct_{false};
  std::atomic<bool> direct_refused_{false};
  bool has_name_ = false;  // not standard input
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
};

}  // namespace gsort::io
