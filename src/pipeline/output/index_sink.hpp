// IndexSink: writes the positions of numbered elements without the elements, for --argsort, or the
// elements without the numbers by which they were sorted, for --shuffle.
//
// It comes after the proof, which has verified the elements with their numbers, and their order. It
// compares the bytes that it writes with the proven ones, so a change in between is detected.
#pragma once

#include <cstddef>
#include <cstdint>

#include "element/numbered_elements.hpp"
#include "engine/passing_sink.hpp"

namespace gsort {

// Thread-safe. `next` outlives it.
class IndexSink final : public PassingSink {
 public:
  // `next` takes numbers of `result_bytes` bytes, 4 or 8; with a seed, elements of that size.
  IndexSink(const Numbering& numbering, std::size_t result_bytes, PieceSink& next)
      : PassingSink(next), numbering_(numbering), result_bytes_(result_bytes) {}

  // Throws: Error(kCorrupt); what `next` throws.
  void put(std::uint64_t position, ConstByteSpan records) override;

 private:
  const Numbering numbering_;
  const std::size_t result_bytes_;
};

}  // namespace gsort
