// Output: where the sorted bytes go. A regular file appears whole under its name, or not at all;
// pipes, FIFOs and devices are written through, in order; the null device takes any order.
//
// The life of a regular output: an unnamed file in the target's folder (O_TMPFILE; where that is
// refused a hidden name, created exclusively), written at any offsets by any threads, then
// commit(): owner, mode and access list of the file it replaces, fsync, link, rename over the
// target, fsync of the folder. Without commit() nothing is left and an old target stays as it was.
// Other extended attributes and further hard links of a replaced target are not carried over.
//
// What is written has a proof of its own: every byte of [0, size) was given to the kernel once, at
// its offset. commit() compares, before the output is real.
//
// With writes_into_file, an existing file stays, and gets the bytes of a complete copy at the
// end. If that fails, or the process is killed during it, the file is partial and the copy stays.
//
// A target that is a symbolic link: the file it points to is replaced. The target may be an input:
// the reader keeps the old file. /dev/stdout and /dev/fd/N mean the open descriptor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/output/content_sum.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

struct OutputOptions {
  DirectIo direct_io = DirectIo::kAuto;
  bool must_be_new = false;  // nothing may have the name, so that a regular file can be taken back
  // A regular file has a hidden name from the start, by which other processes write to it, too:
  // see shared_file.hpp. Nobody then writes around the page cache.
  bool is_shared = false;
  // An existing regular file is written into. The folders are for the copy from which its bytes
  // come, if there is no room for it beside the file.
  bool writes_into_file = false;
  std::vector<std::string> folders_for_copy = {};
  std::uint64_t expected_bytes = 0;  // of the copy
  bool offers_write = false;         // hints may name --replace=write
  // Only the owner can use a regular file until the code that renames it sets its rights.
  bool is_private = false;
  ContentCounter* content = nullptr;  // for a regular file; adds up the bytes that are written
};

// Memory that takes an output.
struct MemoryResult {
  std::string name;         // for messages
  std::uint64_t bytes = 0;  // the most that it takes
  // Takes whole elements for their place. Thread-safe for different places.
  std::function<void(std::uint64_t offset, ConstByteSpan bytes)> write;
};

// Move-only. The process must ignore SIGXFSZ, and SIGPIPE or die of it, for the Errors below to be
// seen.
class Output {
 public:
  // Opens `path`; "-" is standard output, and so is an empty path, which in addition refuses a
  // terminal.
  // Throws: Error(kOutput) when the target is a directory or may not be written, or its folder is
  // missing or may not be written; Error(kUsage) for a terminal.
  explicit Output(const std::string& path, const OutputOptions& options = {});

  // Writes into memory: at any offsets, as into a regular file, but what was written before an
  // error stays there.
  explicit Output(MemoryResult result);

  Output(Output&&) noexcept;
  Output& operator=(Output&&) noexcept;
  ~Output();  // without commit(): as if the output had never been opened (what a stream took is
              // gone)

  // Whether it is a pipe or a device: bytes must be written in order, and cannot be taken back.
  [[nodiscard]] bool is_stream() const;

  // Whether it is the null device, a stream that takes bytes in any order.
  [[nodiscard]] bool is_null() const;

  // Whether it stores the bytes: not a pipe, a terminal or the null device. Then commit() may take
  // time, because it syncs a file.
  [[nodiscard]] bool keeps_bytes() const;

  // What messages call it: the path as given, or "standard output".
  [[nodiscard]] const std::string& path() const;

  // The folder of a regular output, for space checks over several needs; empty for streams and
  // memory.
  [[nodiscard]] const std::string& folder() const;

  // The path of the file that gsort writes into at the end (writes_into_file); folder() is then the
  // folder of the copy. For a stream into a file in a tmpfs, the path of this file. Else empty.
  [[nodiscard]] std::string written_into() const;

  // To be called once before the first write, when the size is known: checks that the file system
  // has room for `bytes` and an inode and that no limit forbids the size, and chooses between page
  // cache and direct writes, which take `windows` for their buffers. Does nothing for streams.
  // Throws: Error(kResource) naming what is needed and what is free.
  void prepare(std::uint64_t bytes, const WriteWindows& windows = {});

  // To be called before prepare(), at most once, and only if there is room for `bytes`. If the
  // output is a file in a tmpfs, begins to allocate its pages in the background. Does nothing for
  // other outputs.
  void make_room_early(std::uint64_t bytes);

  // Writes `bytes` at `offset`, where nothing was written before. Thread-safe. On a stream, unless
  // it is null, a call waits until everything before `offset` has been written, so threads must
  // start ranges in order of offset. What is written around the page cache may fail later: then a
  // later call throws, or commit(). Throws: Error(kOutput) naming the path and the offset. On a
  // stream every later and waiting call then throws, too.
  void write_at(std::uint64_t offset, ConstByteSpan bytes);

  // Of a regular file: its hidden path, empty while it has none. Of a shared one: what other
  // processes have written and synced. Throws: Error(kCorrupt) when any of it was written before.
  [[nodiscard]] std::string hidden_path() const;
  void note_written(std::uint64_t offset, std::uint64_t bytes);

  // Writes `bytes` behind everything that was written so far; for one thread.
  void write_next(ConstByteSpan bytes);

  // Begins again, as if just opened: nothing has been written or prepared. Returns false if what
  // was written cannot be taken back, that is, if a stream or memory has taken some. Requires: no
  // other call is under way, and neither commit() nor finish() has been called.
  // Throws: Error(kOutput).
  [[nodiscard]] bool restart();

  // Some other stage failed: calls waiting in write_at for bytes that will never come throw
  // Error(kOutput). Thread-safe.
  void cancel() noexcept;

  // Makes the output real. `size_bytes` is its full size: everything before it must have been
  // written. Returns only when a regular file is on the disk under its name.
  // Throws: Error(kCorrupt) when the bytes [0, size_bytes), and no others, have not each been
  // written once; Error(kOutput). Nothing has then changed, but for a failure to sync the folder,
  // after which the new file is in place and may not survive a power cut: the hint says so.
  void commit(std::uint64_t size_bytes);

  // The first part of commit(): all but the name. For outputs that get names together, or after
  // a last look at the inputs.
  // Throws: as commit(), but nothing has changed.
  void finish(std::uint64_t size_bytes);

  // Fallbacks taken and choices made, for -v.
  [[nodiscard]] std::vector<std::string> notes() const;

  class Impl;  // output_impl.hpp

 private:
  friend void commit_all(std::span<Output> outputs, const std::function<void()>& placed_all);

  std::unique_ptr<Impl> impl_;
};

// Gives finished outputs their names, which must be new if there are several: all or none, unless
// the process is killed during it. `placed_all` is called when all have their names, on the disk,
// too; if that fails, or the call throws, they lose them again. Throws: as Output::commit(), or as
// `placed_all`.
void commit_all(std::span<Output> outputs, const std::function<void()>& placed_all = {});

// Whether an output of `bytes` is written around the page cache. One function, so that the policy
// can be read, tested and changed in one place.
[[nodiscard]] bool wants_direct_output(DirectIo policy, std::uint64_t bytes, bool is_memory);

}  // namespace gsort::io
