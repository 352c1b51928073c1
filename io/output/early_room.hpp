// EarlyRoom allocates the pages of an output in a tmpfs before there is anything to write, and
// fills them.
//
// Problem. A file in a tmpfs takes one write at a time, at 3 GB/s, and at 4 GB/s if its pages are
// allocated already. On 16 cores, writing takes most of the time of a sort.
//
// Idea. Some threads allocate the pages while devices start and input is read: this needs no data.
// All fill them at once, through a mapping, each page as soon as it is allocated. A thread then
// gives its part of the mapping back, so that hardly any of the file counts as memory of the
// process. Measured: tools/bench/results/README.md, "Files with one H200".
//
// Huge pages. Small pages are allocated at 6 GB/s, whatever the number of threads, and each costs
// a fault when it is filled, which takes longer than the copy. So Linux 6.1 and later is asked for
// huge pages, also if the tmpfs was mounted without them, until a step takes long: then Linux has
// to move other pages first, or its host has to find memory.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "io/system/bytes.hpp"
#include "io/system/file.hpp"

namespace gsort::io {

// Does not fail for lack of room: a later write allocates the pages that are missing, or fails.
class EarlyRoom {
 public:
  // Begins to allocate the pages of the first `bytes` bytes of `file`, which outlives this. Until
  // this is gone, the file becomes no shorter. They are filled in steps of `step_bytes`, a power of
  // two.
  EarlyRoom(const File& file, std::uint64_t bytes, std::size_t step_bytes);
  EarlyRoom(const EarlyRoom&) = delete;
  EarlyRoom& operator=(const EarlyRoom&) = delete;
  ~EarlyRoom();  // stops each thread after its current step

  // The bytes that have pages, or will have; fewer than asked for when no more can be allocated.
  [[nodiscard]] std::uint64_t expected_bytes();

  // Waits until the pages at `offset` are allocated, and copies `from` into them. Only the pages of
  // a thread's current step count as memory of the process: at most a step, or two with huge pages.
  // Thread-safe. Returns false, having written nothing, if the pages cannot be allocated or mapped,
  // or are larger than two steps. Throws: Error(kCorrupt) if any of these bytes was written before;
  // Error(kOutput) if another program has made the file shorter.
  [[nodiscard]] bool fill(std::uint64_t offset, ConstByteSpan from);

 private:
  void map();
  void allocate(unsigned thread);
  [[nodiscard]] std::optional<std::uint64_t> next_step(unsigned thread);
  [[nodiscard]] bool makes_pages(std::uint64_t begin, std::uint64_t bytes) const;
  [[nodiscard]] bool make_huge(std::uint64_t begin, std::uint64_t bytes) const;
  void end();
  [[nodiscard]] bool has_pages_up_to(std::uint64_t end);

  const File& file_;
  const std::uint64_t bytes_;
  const std::size_t step_bytes_;
  void* addresses_ = nullptr;     // reserved for the mapping and its alignment
  std::byte* mapping_ = nullptr;  // of all bytes, at a multiple of kHugePageBytes
  std::atomic<bool> is_huge_{false};
  std::mutex mutex_;               // guards the four members below
  std::uint64_t begun_bytes_ = 0;  // of which a thread has taken the steps
  std::uint64_t ready_bytes_ = 0;
  std::vector<bool> is_ready_;  // of each step
  bool has_ended_ = false;      // no thread begins a step
  std::condition_variable changed_;
  std::vector<std::jthread> threads_;  // last: they use all of this
};

}  // namespace gsort::io
