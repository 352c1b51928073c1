// A chunk that several devices hold together: no single memory has to hold it, and it comes in and
// goes out over all links at once. Its keys go to the devices in stripes; these sort them as one
// sequence (shares_sort.hpp), and each one puts its share of it.
//
//   keys  7 1 5 3 9 2     in stripes of one   7 5 9 | 1 3 2     sorted   1 2 3 | 5 7 9
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/engine.hpp"

namespace gsort::gpu {

// For keys of 4 and 8 bytes. `pinned` holds CudaFootprint::chunk_host_bytes for each of the
// ordinals, of which one may be there twice.
// Throws: DeviceError(kResource) when device memory cannot be had.
[[nodiscard]] std::unique_ptr<ChunkLane> make_shared_chunk_lane(const EngineShape& shape,
                                                                const std::vector<int>& ordinals,
                                                                std::span<const ByteSpan> pinned);

}  // namespace gsort::gpu
