// An engine that is obviously right: chunks are put together in their order of arrival and given to
// std::sort, and so are the slices of a part, and arrays. The measure of the real engines, and the
// base of engines that lie.
#pragma once

#include <memory>

#include "engine/engine.hpp"

namespace gsort::test {

// Takes its memory from the heap. Sorts keys of 4 and 8 bytes, and arrays of any. Puts pieces of
// `piece_elements` keys one after the other, and packs and unpacks them where it may. Throws
// std::logic_error where the pipeline breaks the engine's contract: a chunk larger than the shape
// says, blocks that leave gaps, a slice that is not sorted, unless that is somebody's lie.
[[nodiscard]] std::unique_ptr<Engine> make_std_engine(const EngineShape& shape,
                                                      std::uint64_t piece_elements = 5'000,
                                                      bool slices_may_lie = false);

}  // namespace gsort::test
