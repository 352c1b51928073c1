// The CPU engine: chunks are partitioned while they are read and sorted bucket by bucket while they
// are written; parts are cut by exact splits into stretches that fit the cache. It sorts keys of 4
// and 8 bytes, and records; the pipeline counts narrower keys, except in arrays.
#pragma once

#include <memory>

#include "engine/engine.hpp"

namespace gsort::cpu {

// `memory` holds all lanes of the engine: chunk lanes need CpuChunkFootprint::arena_bytes each,
// merge lanes CpuMergeFootprint::arena_bytes, for records those of record_footprint.hpp, array
// lanes CpuArrayFootprint::arena_bytes. It must be aligned to kBufferAlignment and outlive the
// engine. Making lanes throws Error(kUsage) if the memory is too small for the shape; chunk and
// merge lanes also if keys are narrower than 4 bytes.
[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(const EngineShape& shape, ByteSpan memory);

}  // namespace gsort::cpu
