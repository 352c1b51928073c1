// A lane for a chunk that several devices hold together. No single device has to hold all of it,
// and it is copied in and out over all links at once. Its keys go to the devices in stripes. The
// devices sort them as one sequence (shares_sort.hpp), and each device puts its share.
//
//   keys  7 1 5 3 9 2     in stripes of one   7 5 9 | 1 3 2     sorted   1 2 3 | 5 7 9
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/engine.hpp"

namespace gsort::gpu {

// For keys of 4 and 8 bytes. `pinned` has one span of CudaFootprint::chunk_host_bytes for each of
// the ordinals; an ordinal may be listed twice.
// Throws: DeviceError(kResource) when a device has too little free memory.
[[nodiscard]] std::unique_ptr<ChunkLane> make_shared_chunk_lane(const EngineShape& shape,
                                                                const std::vector<int>& ordinals,
                                                                std::span<const ByteSpan> pinned);

}  // namespace gsort::gpu
