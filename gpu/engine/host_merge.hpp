// The merge of a part on the CPU, in the host memory of a lane whose device has failed.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/engine.hpp"

namespace gsort::gpu {

// Merges as the CPU engine's lanes do, in `memory`, which holds CudaFootprint::part_host_bytes.
// Records, for which the CPU engine needs more memory than that, are merged by a heap of the
// slices' first ones: the depth of the heap is what each record costs.
[[nodiscard]] std::unique_ptr<MergeLane> make_host_merge_lane(const EngineShape& shape,
                                                              std::uint64_t part_elements,
                                                              ByteSpan memory);

}  // namespace gsort::gpu
