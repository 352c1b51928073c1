// An obviously correct engine: chunks are collected in their order of arrival and sorted by
// std::sort, and so are the slices of a part, and arrays. It is the reference for the real engines,
// and the base of engines that lie.
#pragma once

#include <memory>

#include "engine/engine.hpp"

namespace gsort::test {

// Takes its memory from the heap. Sorts keys of 4 and 8 bytes, and arrays of any. Puts pieces of
// `piece_elements` keys one after the other, and packs and unpacks them if it may. Throws
// std::logic_error if the pipeline breaks the engine's contract: a chunk larger than the shape
// allows, blocks that leave gaps, a slice that is not sorted, unless a lie causes this.
[[nodiscard]] std::unique_ptr<Engine> make_std_engine(const EngineShape& shape,
                                                      std::uint64_t piece_elements = 5'000,
                                                      bool slices_may_lie = false);

}  // namespace gsort::test
