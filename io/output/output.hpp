// Output: the destination of the sorted bytes. A regular file appears whole under its name, or not
// at all; pipes, FIFOs and devices receive the bytes in order as they come; the null device takes
// any order.
//
// The life of a regular output: an unnamed file in the target's folder (O_TMPFILE; if that is not
// supported, a hidden name, created exclusively), written at any offsets by any threads, then
// commit(): owner, mode and access list of the file it replaces, fsync, link, rename over the
// target, fsync of the folder. Without commit() nothing is left and an old target stays unchanged.
// Other extended attributes and further hard links of a replaced target are not carried over.
//
// A proof covers the writes: every byte of [0, size) was given to the kernel once, at its offset.
// commit() checks this before the output gets its name.
//
// With writes_into_file, an existing file stays, and gets the bytes of a complete copy at the
// end. If that fails, or the process is killed during it, the file is partial and the copy stays.
//
// If the target is a symbolic link, the file that it points to is replaced. The target may be an
// input: the reader keeps the old file. /dev/stdout and /dev/fd/N mean the open descriptor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/output/content_sum.hpp"
#include "io/output/output_place.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

struct OutputOptions {
  DirectIo direct_io = DirectIo::kAuto;
  bool must_be_new = false;  // the name must be free, so that a regular file can be removed again
  // A regular file has a hidden name from the start, by which other processes write to it, too: see
  // shared_file.hpp. All writes then go through the page cache.
  bool is_shared = false;
  // An existing regular file is written into. The folders are for the copy from which its bytes
  // come, if there is no room for it beside the file.
  bool writes_into_file = false;
  std::vector<std::string> folders_for_copy = {};
  std::uint64_t expected_bytes = 0;  // of the copy
  bool offers_write = false;         // hints may name --replace=write
  // Only the owner can use a regular file until the code that renames it sets its rights.
  bool is_private = false;
  // Others may write to the file of a stream meanwhile, as to a log.
  bool is_report = false;
  ContentCounter* content = nullptr;  // for a regular file; adds up the bytes that are written
};

// Memory that takes an output.
struct MemoryResult {
  std::string name;         // for messages
  std::uint64_t bytes = 0;  // its capacity
  // Stores whole elements at their place. Thread-safe for different places.
  std::function<void(std::uint64_t offset, ConstByteSpan bytes)> write;
};

// Move-only. For the Errors below, the process must ignore SIGXFSZ; it must also ignore SIGPIPE, or
// it dies of it.
class Output {
 public:
  // Opens `path`; "-" is standard output, and so is an empty path, which in addition refuses a
  // terminal.
  // Throws: Error(kOutput) when the target is a directory or may not be written, or its folder is
  // missing or may not be written; Error(kUsage) for a terminal.
  explicit Output(const std::string& path, const OutputOptions& options = {});

  // A regular file at `place`. Requires: no file is there. Throws: Error(kOutput).
  explicit Output(OutputPlace place, const OutputOptions& options = {});

  // Writes into memory at any offsets, as into a regular file, but after an error the memory keeps
  // what was written.
  explicit Output(MemoryResult result);

  Output(Output&&) noexcept;
  Output& operator=(Output&&) noexcept;
  ~Output();  // without commit(): as if the output had never been opened, except for bytes that a
              // stream took

  // Whether it is a pipe or a device: bytes must be written in order, and cannot be undone.
  [[nodiscard]] bool is_stream() const;

  // Whether it is the null device, a stream that takes bytes in any order.
  [[nodiscard]] bool is_null() const;

  // Whether it stores the bytes: not a pipe, a terminal or the null device. Then commit() may take
  // time, because it syncs a file.
  [[nodiscard]] bool keeps_bytes() const;

  // Its name in messages: the path as given, or "standard output".
  [[nodiscard]] const std::string& path() const;

  // The folder of a regular output, for space checks over several needs; empty for streams and
  // memory.
  [[nodiscard]] const std::string& folder() const;

  // The path of the file that gsort writes into at the end (writes_into_file); folder() is then the
  // folder of the copy. For a stream into a file in a tmpfs, the path of this file. Else empty.
  [[nodiscard]] std::string written_into() const;

  // Call it once before the first write, when the size is known. Checks that the file system has
  // room for `bytes` and an inode and that no limit forbids the size, and chooses between the page
  // cache and direct writes, whose buffers are `windows`. Does nothing for streams. Throws:
  // Error(kResource) with the space that is needed and that is free.
  void prepare(std::uint64_t bytes, const WriteWindows& windows = {});

  // Call it before prepare(), and only if there is room for `bytes`. If the output is a file in a
  // tmpfs, begins to allocate its pages in the background, for threads of which each may have two
  // steps of it as memory of the process. Does nothing for other outputs, nor when called again.
  void make_room_early(std::uint64_t bytes, std::size_t step_bytes);

  // Writes `bytes` at `offset`, where nothing was written before. Thread-safe. On a stream, unless
  // it is null, a call waits until everything before `offset` has been written, so threads must
  // start ranges in order of offset. A write around the page cache may fail later: then a later
  // call throws, or commit(). Throws: Error(kOutput) with the path and the offset. On a stream,
  // every later and waiting call then throws, too.
  void write_at(std::uint64_t offset, ConstByteSpan bytes);

  // For a regular file: its hidden path, empty while it has none. For a shared file: note_written()
  // takes the bytes that other processes have written and synced. Throws: Error(kCorrupt) if any of
  // them was written before.
  [[nodiscard]] std::string hidden_path() const;
  void note_written(std::uint64_t offset, std::uint64_t bytes);

  // Writes `bytes` after everything written so far; for one thread.
  void write_next(ConstByteSpan bytes);

  // Begins again, as if just opened: nothing has been written or prepared. Returns false if the
  // writes cannot be undone, that is, if a stream or memory has taken some bytes. Requires: no
  // other call is under way, and neither commit() nor finish() has been called. Throws:
  // Error(kOutput).
  [[nodiscard]] bool restart();

  // Call it when another stage has failed: calls waiting in write_at for bytes that will never come
  // throw Error(kOutput). Thread-safe.
  void cancel() noexcept;

  // Completes the output. `size_bytes` is its full size: everything before it must have been
  // written. Returns only when a regular file is on the disk under its name. Throws:
  // Error(kCorrupt) unless each of the bytes [0, size_bytes), and no others, has been written once;
  // Error(kOutput). Nothing has then changed, unless syncing the folder failed: then the new file
  // is in place and may not survive a power cut, as the hint says.
  void commit(std::uint64_t size_bytes);

  // The first part of commit(): everything except the name. For outputs that get their names
  // together, or after a last check of the inputs. Throws: as commit(), but nothing has changed.
  void finish(std::uint64_t size_bytes);

  // Fallbacks taken and choices made, for -v.
  [[nodiscard]] std::vector<std::string> notes() const;

  class Impl;  // output_impl.hpp

 private:
  friend void commit_all(std::span<Output> outputs, const std::function<void()>& placed_all);

  std::unique_ptr<Impl> impl_;
};

// Gives finished outputs their names, which must be new if there are several: all or none, unless
// the process is killed during it. Calls `placed_all` when all names are on the disk; if that
// fails, or the call throws, removes the names again. Throws: as Output::commit(), or as
// `placed_all`.
void commit_all(std::span<Output> outputs, const std::function<void()>& placed_all = {});

// Whether an output of `bytes` is written around the page cache. One function, so that the policy
// can be read, tested and changed in one place.
[[nodiscard]] bool wants_direct_output(DirectIo policy, std::uint64_t bytes, bool is_memory);

}  // namespace gsort::io
