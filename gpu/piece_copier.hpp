// PieceCopier: brings an array from the device to a sink, piece by piece. A few threads each own
// one pinned buffer: while one waits for its piece to cross the bus, others prove and write theirs.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/cuda_resources.hpp"

namespace gsort::gpu {

class PieceCopier {
 public:
  // `memory` is pinned: one buffer of it for each thread. `meter` may be nothing.
  PieceCopier(int ordinal, ByteSpan memory, unsigned threads, Meter* meter);

  // Puts device_keys[0, bytes) into `sink`, from element `position` on. Work queued on `stream`
  // before the call is done first. Returns when everything has been put. Throws: Error from CUDA or
  // the sink; the sink has then been told to abandon.
  void copy(const std::byte* device_keys, std::uint64_t bytes, std::uint64_t key_bytes,
            std::uint64_t position, const Stream& stream, PieceSink& sink);

 private:
  void wait_for_piece(std::size_t thread, std::size_t bytes) const;

  int ordinal_;
  Meter* meter_;
  std::vector<ByteSpan> buffers_;
  std::vector<Event> arrived_;
};

}  // namespace gsort::gpu
