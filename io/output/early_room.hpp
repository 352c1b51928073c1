// EarlyRoom allocates the pages of an output in a tmpfs before there is anything to write, and
// fills them.
//
// Problem. A file in a tmpfs takes one write at a time, at 3 GB/s, and at 4 GB/s if its pages are
// allocated already. On 16 cores, writing takes most of the time of a sort.
//
// Idea. A thread allocates the pages, at 6 GB/s, while devices start and input is read: this needs
// no data. Many threads would not allocate them faster, but many fill them at once, through a
// mapping, each page as soon as it is allocated. A thread then gives its part of the mapping back,
// so that hardly any of the file counts as memory of the process. Measured:
// tools/bench/results/README.md, "Files with one H200".
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

#include "io/system/bytes.hpp"
#include "io/system/file.hpp"

namespace gsort::io {

// Does not fail for lack of room: a later write allocates the pages that are missing, or fails.
class EarlyRoom {
 public:
  // Begins to allocate the pages of the first `bytes` bytes of `file`, which outlives this. Until
  // this is gone, the file becomes no shorter.
  EarlyRoom(const File& file, std::uint64_t bytes);
  EarlyRoom(const EarlyRoom&) = delete;
  EarlyRoom& operator=(const EarlyRoom&) = delete;
  ~EarlyRoom();  // stops the thread after its current step

  // The bytes that have pages, or will have; fewer than asked for when no more can be allocated.
  [[nodiscard]] std::uint64_t expected_bytes();

  // Waits until the pages at `offset` are allocated, and copies `from` into them in steps of
  // `step_bytes`, a power of two. Only the pages of a thread's current step count as memory of the
  // process: at most `step_bytes`, or twice as many with huge pages. Thread-safe. Returns false,
  // having written nothing, if the pages cannot be allocated or mapped, or are larger than that.
  // Throws: Error(kCorrupt) if any of these bytes was written before.
  [[nodiscard]] bool fill(std::uint64_t offset, ConstByteSpan from, std::size_t step_bytes);

 private:
  void allocate(const std::stop_token& stop);
  [[nodiscard]] bool has_pages_up_to(std::uint64_t end);

  const File& file_;
  const std::uint64_t bytes_;
  std::byte* mapping_ = nullptr;  // of all bytes
  std::mutex mutex_;              // guards the two members below
  std::uint64_t ready_bytes_ = 0;
  bool has_ended_ = false;
  std::condition_variable changed_;
  std::jthread thread_;  // last: it uses all of this
};

}  // namespace gsort::io
