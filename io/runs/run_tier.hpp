// RunTier: buffers of runs in a memory other than the host's (base/tier_memory.hpp), and the room
// in it. WriteBuffers and Run use it like RunFiles, except that it may be full.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/tier_memory.hpp"
#include "io/system/bytes.hpp"

namespace gsort::io {

// Thread-safe.
class RunTier {
 public:
  // Room for `buffers` buffers of at most `buffer_bytes` bytes, less than 4 GiB; takes 8 bytes of
  // host memory for each. `memory`, which may be null if there is no room, outlives the tier.
  RunTier(TierMemory* memory, std::uint64_t buffers, std::uint64_t buffer_bytes);

  // Keeps a buffer and returns its offset; none if there is no room. Requires: the buffer is not
  // empty. Throws: Error(kDevice).
  [[nodiscard]] std::optional<std::uint64_t> append(ConstByteSpan buffer);

  // Reads bytes of buffers into `scratch`, and returns them. They lie there as far behind a
  // multiple of kDirectAlignment as `offset` does. Requires: scratch holds bytes +
  // kDirectAlignment. Throws: Error(kDevice).
  [[nodiscard]] ConstByteSpan read(std::uint64_t offset, std::size_t bytes, ByteSpan scratch) const;

  // Gives bytes of a buffer back. When all its bytes are back, there is room for another buffer.
  void release(std::uint64_t offset, std::uint64_t bytes) noexcept;

  [[nodiscard]] std::uint64_t bytes_kept() const { return bytes_kept_; }  // so far, all in all

 private:
  TierMemory* memory_;
  std::uint64_t buffer_bytes_;
  std::mutex mutex_;
  std::vector<std::uint32_t> free_;        // numbers of places for a buffer
  std::vector<std::uint32_t> live_bytes_;  // of each place
  std::atomic<std::uint64_t> bytes_kept_{0};
};

}  // namespace gsort::io
