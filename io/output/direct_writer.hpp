// DirectWriter: writes pieces of any size, at any offsets, around the page cache, while the threads
// that put them continue their work.
//
// The file is cut into windows. Pieces are copied into the buffers of the windows they fall in; the
// writer's own threads write full windows to the disk. So every direct write is large and aligned,
// whatever the pieces are, and the disk is busy while the next pieces are sorted. A piece that
// covers whole windows and is aligned in memory is written without a copy.
//
// No more windows are open than there are buffers. If all buffers hold windows that wait for other
// pieces, the next window goes through the page cache. No window is written both ways, so the two
// never disagree.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/failure.hpp"
#include "base/tiling.hpp"
#include "io/system/bytes.hpp"
#include "io/system/file.hpp"
#include "io/system/memory.hpp"

namespace gsort::io {

// Thread-safe, except finish().
class DirectWriter {
 public:
  // Measured on a virtio disk, 1 GiB by O_DIRECT, seconds: writes of 256 KiB 0.84, 0.65 and 0.64 by
  // one, two and four threads; of 1 MiB 0.63, 0.58, 0.66; of 4 MiB 0.59, 0.66, 0.69.
  static constexpr unsigned kThreads = 4;

  // Writes to the file of `cached`; `direct` is the same file, opened with O_DIRECT. `cached`
  // outlives the writer. If the system refuses threads, it works with fewer. Throws:
  // Error(kResource).
  DirectWriter(const File& cached, File direct, const WriteWindows& windows);
  ~DirectWriter();  // drops what has not been written
  DirectWriter(const DirectWriter&) = delete;
  DirectWriter& operator=(const DirectWriter&) = delete;

  // Takes `bytes` for `offset`; returns when the caller may use their memory again. Throws: Error
  // of the file's kind, perhaps for an earlier piece; Error(kCorrupt) if data overlaps earlier
  // data.
  void put(std::uint64_t offset, ConstByteSpan bytes);

  // Waits until all pieces have been written; put() must not be called afterwards. Throws: Error of
  // the file's kind, also from closing the direct descriptor; Error(kCorrupt) if pieces are missing
  // between others.
  void finish();

  // Whether the file system has refused a direct write; all later writes went through the page
  // cache.
  [[nodiscard]] bool refused() const noexcept { return refused_; }

 private:
  struct Window {
    std::byte* buffer = nullptr;  // none: this window goes through the page cache
    Tiling claimed;               // the bytes that have been put, or are being copied
    std::size_t filled = 0;       // bytes copied
  };
  struct FullWindow {
    std::uint64_t offset;
    std::byte* buffer;
  };

  void put_in_window(std::uint64_t offset, ConstByteSpan bytes);
  std::byte* claim(std::uint64_t offset, std::size_t bytes);
  void note_filled(std::uint64_t offset, std::size_t bytes);
  void write_full_windows();
  void write_window(const FullWindow& window);
  void write_pages(std::uint64_t offset, ConstByteSpan pages);
  void stop() noexcept;

  const std::size_t window_bytes_;
  const File& cached_;
  File direct_;
  std::atomic<bool> refused_{false};
  Failure failure_;
  Arena arena_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::unordered_map<std::uint64_t, Window> open_;  // by number: offset / window_bytes_
  std::vector<std::byte*> free_;
  std::deque<FullWindow> full_;
  unsigned being_written_ = 0;  // windows taken from full_
  bool stopped_ = false;

  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace gsort::io
