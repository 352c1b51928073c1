// How many blocks take jobs one by one (taken_jobs.cuh). Host code.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gpu/cuda/architecture.hpp"

namespace gsort::gpu {

// Blocks of `threads` threads for at most `most_jobs` jobs: as many as the current device can run
// at once, or a few more, which find no job. Throws: Error(kDevice).
[[nodiscard]] inline unsigned taking_blocks(std::uint64_t most_jobs, unsigned threads) {
  return static_cast<unsigned>(
      std::min<std::uint64_t>(most_jobs, std::max(resident_threads() / threads, 1U)));
}

}  // namespace gsort::gpu
