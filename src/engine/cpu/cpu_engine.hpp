// The CPU engine: chunks are partitioned while they are read and sorted bucket by bucket while they
// are written; parts are cut by exact splits into stretches that fit the cache. Keys of 4 and 8
// bytes; narrower ones are counted by the pipeline and never reach an engine.
#pragma once

#include <memory>

#include "engine/engine.hpp"

namespace gsort::cpu {

// `memory` is all the engine lays out its lanes in: chunk lanes need CpuChunkFootprint::arena_bytes
// each, merge lanes CpuMergeFootprint::arena_bytes. It must be aligned to kBufferAlignment and
// outlive the engine. Throws: Error(kUsage) if the key type is narrower than 4 bytes or the memory
// is too small for the shape.
[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(const EngineShape& shape, ByteSpan memory);

}  // namespace gsort::cpu
