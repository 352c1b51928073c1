// Common to every launch of the textbook: count blocks in 64 bits, refuse more than a grid has,
// and turn a failed launch into an Error that names the kernel. Kernels and launches stay apart
// from gsort's own, so nothing of the engine is used here.
#pragma once

#include <cstdint>
#include <string>

#include <cuda_runtime_api.h>

#include "base/error.hpp"
#include "base/units.hpp"

namespace gsort::textbook {

// The blocks that cover `items` with `per_block` each. Requires: items > 0.
[[nodiscard]] inline unsigned blocks_for(std::uint64_t items, std::uint64_t per_block) {
  constexpr std::uint64_t kMostBlocks = 0x7fffffff;
  const std::uint64_t blocks = div_up(items, per_block);
  if (blocks > kMostBlocks) {
    throw Error(
        ErrorKind::kUsage, "launching a textbook kernel",
        "needs " + format_count(blocks) + " blocks, a grid has " + format_count(kMostBlocks));
  }
  return static_cast<unsigned>(blocks);
}

inline void require_success(cudaError_t result, const std::string& operation) {
  if (result == cudaSuccess) return;
  throw Error(ErrorKind::kDevice, operation, cudaGetErrorString(result));
}

inline void require_launched(const char* kernel) {
  require_success(cudaGetLastError(), std::string("launching ") + kernel);
}

}  // namespace gsort::textbook
