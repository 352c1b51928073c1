// The least and the greatest of 32 keys, one a lane; all lanes of the warp take part and get it.
#pragma once

#include <cstdint>

#include "gpu/merge/merge_pass.hpp"

namespace gsort::gpu {

template <class Key>
__device__ Key warp_least(Key key) {
  if constexpr (sizeof(Key) == 4) {
    return __reduce_min_sync(kWholeWarp, key);
  } else {
    const auto upper = static_cast<std::uint32_t>(key >> 32);
    const std::uint32_t least = __reduce_min_sync(kWholeWarp, upper);
    const std::uint32_t lower = upper == least ? static_cast<std::uint32_t>(key) : ~0U;
    return Key{least} << 32 | __reduce_min_sync(kWholeWarp, lower);
  }
}
template <class Key>
__device__ Key warp_greatest(Key key) {
  return ~warp_least(~key);
}

}  // namespace gsort::gpu
