// How many blocks take jobs one by one (taken_jobs.cuh). Host code.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gpu/cuda/architecture.hpp"

namespace gsort::gpu {

// Blocks of `threads` threads for `most_jobs` jobs at most: as many as the current device could run
// at once, or few more, which find nothing to do. Throws: Error(kDevice).
[[nodiscard]] inline unsigned taking_blocks(std::uint64_t most_jobs, unsigned threads) {
  return static_cast<unsigned>(
      std::min<std::uint64_t>(most_jobs, std::max(resident_threads() / threads, 1U)));
}

}  // namespace gsort::gpu
