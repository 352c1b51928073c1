// PieceCopier: brings an array from the device to a sink, piece by piece. A few workers each own
// one pinned buffer: while one waits for its piece to cross the bus, others prove and write theirs.
// Elements that a run will keep are packed on the device first (packed_elements.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/engine.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/engine/device_work.hpp"
#include "gpu/engine/packed_elements.hpp"

namespace gsort::gpu {

class PieceCopier {
 public:
  // `memory` is pinned: one buffer of it for each of at most `threads` workers. `meter` may be
  // nothing.
  PieceCopier(int ordinal, ByteSpan memory, unsigned threads, Meter* meter);

  // Puts `sorted.count` elements into `sink`, from element `position` on. Work queued on `stream`
  // before the call is done first. Returns when everything has been put. Throws: Error from CUDA or
  // the sink; the sink has then been told to abandon.
  void copy(const SortedElements& sorted, std::uint64_t element_bytes, std::uint64_t position,
            const Stream& stream, PieceSink& sink);

 private:
  struct Piece {
    ConstByteSpan place;              // on the device
    std::uint64_t element_bytes = 0;  // of its elements, packed or not
  };

  void copy_elements(const SortedElements& sorted, std::uint64_t element_bytes,
                     std::uint64_t position, const Stream& stream, PieceSink& sink);
  void copy_blocks(const PackedElements& packed, std::uint64_t position, const Stream& stream,
                   PieceSink& sink);
  template <class Find, class Put>
  void copy_pieces(std::uint64_t pieces, const Stream& stream, PieceSink& sink, const Find& find,
                   const Put& put);
  void wait_for_piece(std::size_t thread, const Piece& piece) const;

  int ordinal_;
  Meter* meter_;
  std::vector<ByteSpan> buffers_;
  std::vector<Event> arrived_;
};

}  // namespace gsort::gpu
