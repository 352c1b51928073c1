// Engines that do something on the side: what goes into their lanes and what comes out of them goes
// through hooks, and a hook is called before the merge phase. For engines that lie, and for disks
// that forget.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "support/sorted_copy.hpp"

namespace gsort::test {

// Sorted elements, and where they are to be put.
struct PutPiece {
  std::uint64_t position = 0;
  Bytes elements;
};

// Those that are called with the bytes of a lane are called by one thread at a time.
struct EngineHooks {
  // Changes a piece of sorted keys before it is put, or takes it away (empties it). `merging` says
  // which half of the engine made it. Called by one thread at a time.
  std::function<void(bool merging, std::uint64_t position, Bytes& piece)> on_piece;
  // Changes the payloads of keys in stored form, on their way from the engine to a run, or in a
  // part, before the engine unpacks them. Without it keys go plain. Called by one thread at a time.
  std::function<void(bool merging, std::span<std::byte> payloads)> on_stored;
  // Changes what a put becomes, one piece before the call: others, elsewhere, more, or none. Behind
  // on_piece.
  std::function<void(bool merging, std::vector<PutPiece>& pieces)> on_put;
  // Changes a block of which `bytes` are about to be added to a chunk; returns how many then are.
  std::function<std::size_t(ByteSpan block, std::size_t bytes)> on_block;
  // Changes the slices in a merge lane's input before they are merged.
  std::function<void(ByteSpan slices)> on_slices;
  // Changes a block of arrays that has been sorted; returns what is given as the result.
  std::function<ConstByteSpan(ByteSpan sorted)> on_arrays;
  // Called before merge lanes are made.
  std::function<void()> before_merge;
};

// `element_bytes` is for on_slices.
[[nodiscard]] std::unique_ptr<Engine> wrap_engine(std::unique_ptr<Engine> engine, EngineHooks hooks,
                                                  std::size_t element_bytes = 4);

}  // namespace gsort::test
