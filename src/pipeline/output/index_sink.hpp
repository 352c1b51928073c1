// IndexSink: writes the positions of numbered elements, without the elements. For --argsort.
//
// It stands behind the proof, which has seen the elements with their positions: each was read so,
// and they are in order. What is written is compared with what was proven, so no position can
// change on the way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "element/numbered_elements.hpp"
#include "engine/engine.hpp"

namespace gsort {

// Thread-safe. `next` outlives it.
class IndexSink final : public PieceSink {
 public:
  // `next` takes numbers of `result_bytes` bytes, 4 or 8.
  IndexSink(const Numbering& numbering, std::size_t result_bytes, PieceSink& next)
      : numbering_(numbering), result_bytes_(result_bytes), next_(next) {}

  // Throws: Error(kCorrupt); what `next` throws.
  void put(std::uint64_t position, ConstByteSpan records) override;
  void abandon() noexcept override { next_.abandon(); }

 private:
  const Numbering numbering_;
  const std::size_t result_bytes_;
  PieceSink& next_;
};

}  // namespace gsort
