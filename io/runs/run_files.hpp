// RunFiles: the temporary files of a RunStore, and the room in them. They are unnamed, one in each
// folder (or the one file of a persistent store). Where runs stay in memory (tmpfs, page cache) a
// folder has several, because threads cannot write to one file at the same time. Knows bytes and
// folders; write_buffers.hpp makes buffers of blocks.
//
// Each buffer goes to the next file. When a folder is full (or over quota, or its file has reached
// the size limit), the next one is tried; if all are full, that is an Error.
//
// Writes are direct by default, also for small spills, and made by threads; other ways were slower
// or took more processor time (tools/bench/results/tried.md). A tmpfs is treated as memory. On 2
// cores, checksums and copies included, two threads that put take 0.14 to 0.56 s of CPU a GiB
// together; reading a run back takes 0.16 to 0.25 s.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "io/runs/run_store.hpp"
#include "io/system/bytes.hpp"
#include "io/system/file.hpp"
#include "io/system/space.hpp"

namespace gsort::io {

// Where written bytes lie.
struct FilePlace {
  std::uint32_t folder = 0;
  std::uint64_t offset = 0;
};

// Thread-safe.
class RunFiles {
 public:
  // Throws: Error(kTemporary) if a folder may not be used; Error(kUsage) if there is none.
  RunFiles(const std::vector<std::string>& folders, const RunStoreOptions& options);

  // Writes `bytes` to a file that has room. `run` is for messages. Requires: the size is a multiple
  // of kDirectAlignment. Throws: Error(kTemporary).
  FilePlace append(ConstByteSpan bytes, std::uint64_t run);

  // Reads and returns `bytes` bytes that append wrote, from any offset; none if the file ends too
  // early. They lie in `scratch`, as far behind a multiple of kDirectAlignment as in the file.
  // Requires: scratch is aligned to kDirectAlignment and holds bytes + kReadSlack. Throws:
  // Error(kTemporary).
  [[nodiscard]] ConstByteSpan read(std::uint32_t folder, std::uint64_t offset, std::size_t bytes,
                                   ByteSpan scratch, std::uint64_t run);
  // The bytes that reading whole pages of the disk adds at both ends.
  static constexpr std::size_t kReadSlack = 2 * kDirectAlignment;

  // Gives space back: whole pages of the disk that end within the range. Neighbours in a buffer are
  // given back in the order in which they lie, so that a page goes with its last block. A file
  // system that cannot punch holes keeps the space until the end.
  void release(std::uint32_t folder, std::uint64_t offset, std::uint64_t bytes) noexcept;

  // Waits until everything appended is on the disk. Throws: Error(kTemporary).
  void settle(std::uint64_t run);

  [[nodiscard]] const std::string& folder_name(std::uint32_t folder) const;
  [[nodiscard]] std::vector<std::string> notes() const;

  std::atomic<std::uint64_t> bytes_written{0};
  std::atomic<std::uint64_t> bytes_read{0};
  std::atomic<std::uint64_t> bytes_in_use{0};
  std::atomic<std::uint64_t> peak_bytes_in_use{0};

 private:
  // A folder and a file in it. Not movable: threads hold pointers to it.
  struct Stripe {
    std::string name;
    File file;
    File direct;  // the same file with O_DIRECT; not open if not wanted or not supported
    bool stays_in_memory = false;
    bool is_memory = false;  // the file system keeps files in memory
    std::atomic<bool> write_direct{false};
    std::atomic<bool> unsynced{false};  // written through the page cache since the last settle()
    std::atomic<bool> full{false};
    std::atomic<std::uint64_t> end{0};
  };

  // The `error` of a File, with the operation on the run.
  [[nodiscard]] Error told_for_run(const Error& error, std::string_view doing,
                                   std::uint64_t run) const;
  void open_stripe(const std::string& folder, DirectIo policy, const PersistentStore* persistent);
  void add_files_in_memory(std::size_t folders);
  void write(Stripe& stripe, ConstByteSpan bytes, std::uint64_t offset);
  // Gives space back without counting it.
  static void punch(Stripe& stripe, std::uint64_t offset, std::uint64_t bytes) noexcept;
  void count_written(std::uint64_t bytes);
  void add_note(std::string note);

  const bool is_persistent_;
  const bool syncs_;
  MemoryWatch memory_watch_;  // if a folder is in memory
  std::vector<std::unique_ptr<Stripe>> stripes_;
  std::atomic<std::uint32_t> next_folder_{0};
  mutable std::mutex notes_mutex_;
  std::vector<std::string> notes_;
};

}  // namespace gsort::io
