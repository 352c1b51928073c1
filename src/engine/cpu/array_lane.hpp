// Lanes that sort many separate arrays, each lane on one core: blocks of arrays are so small that
// each core takes whole blocks.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/engine.hpp"

namespace gsort::cpu {

// The memory of a lane. Requires: arrays that fit the block.
[[nodiscard]] std::uint64_t array_lane_bytes(const EngineShape& shape, const ArrayShape& arrays);

// For keys of any width, and for records. Throws: Error(kUsage) if `memory` is smaller.
[[nodiscard]] std::unique_ptr<ArrayLane> make_array_lane(const EngineShape& shape,
                                                         const ArrayShape& arrays, ByteSpan memory);

}  // namespace gsort::cpu
