// EarlyRoom allocates the pages of an output in a tmpfs before there is anything to write.
//
// Problem. A file in a tmpfs takes one write at a time, and a write also allocates the pages that
// it fills. On 16 cores, writing takes most of the time of a sort: 2.9 of 4.5 s for 8 GiB.
//
// Idea. A thread allocates the pages while input is still read: this needs no data, and takes half
// of the time of such a write. Later writes only copy; the sort takes 3.6 s. The first write waits
// until all pages are allocated, because both need the same lock of the file. Measured:
// tools/bench/results/README.md, "In tmpfs, on 16 cores".
#pragma once

#include <cstdint>
#include <thread>

#include "io/system/file.hpp"

namespace gsort::io {

// Nothing here fails: a write allocates the pages that are missing, or fails.
class EarlyRoom {
 public:
  // Begins to allocate the pages of the first `bytes` bytes of `file`, which outlives this.
  EarlyRoom(const File& file, std::uint64_t bytes);
  EarlyRoom(const EarlyRoom&) = delete;
  EarlyRoom& operator=(const EarlyRoom&) = delete;
  ~EarlyRoom() = default;  // stops the thread after its current step

  // Waits until all pages are allocated, or no more can be. Returns how many bytes have them.
  std::uint64_t finish();

 private:
  void allocate(const std::stop_token& stop, std::uint64_t bytes);

  const File& file_;
  std::uint64_t ready_bytes_ = 0;
  std::jthread thread_;  // last: it uses all of this
};

}  // namespace gsort::io
