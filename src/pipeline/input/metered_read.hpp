// Reads the input and fills the lanes of chunks; the meter, which may be null, measures both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/meter.hpp"
#include "element/fingerprint.hpp"
#include "engine/engine.hpp"
#include "io/input/reader.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort {

// As reader.next().
[[nodiscard]] inline std::optional<io::InputBlock> read_next(
    io::Reader& reader, Meter* meter, io::ByteSpan buffer,
    std::uint64_t limit_position = io::Reader::kNoLimit) {
  Span span(meter, Stage::kRead);
  const auto block = reader.next(buffer, limit_position);
  if (block) span.add_bytes(block->bytes);
  return block;
}

// The elements of a block or a chunk, read at one place or at several.
struct ReadPieces {
  std::size_t bytes = 0;
  Fingerprint input;
  std::vector<io::InputBlock> from;

  void add(const io::InputBlock& piece, const Fingerprint& elements) {
    bytes += piece.bytes;
    input += elements;
    if (!from.empty() && from.back().position_bytes + from.back().bytes == piece.position_bytes) {
      from.back().bytes += piece.bytes;
    } else {
      from.push_back(piece);
    }
  }
};

[[nodiscard]] ByteSpan acquire_block(ChunkLane& lane, Meter* meter);
void put_block(ChunkLane& lane, Meter* meter, ByteSpan block, std::size_t bytes,
               std::uint64_t position);

// Fills the block with elements before `end`, by one read or, from a cached input, in pieces. Equal
// keys are indistinguishable, so pieces need not follow each other in the input.
[[nodiscard]] ReadPieces read_block(io::Reader& reader, Proof& proof, Meter* meter, ByteSpan block,
                                    std::uint64_t end, bool in_pieces);

// Begins a chunk in the lane with the elements that were read before. Throws: Error if the input
// has changed.
void fill_again(ChunkLane& lane, const ReadPieces& chunk, const io::Reader& reader,
                const Proof& proof, Meter* meter);

}  // namespace gsort
