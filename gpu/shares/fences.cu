// See fences.hpp. A thread brings one key: a sector of 32 bytes for each fence.
#include "gpu/cuda/architecture.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/shares/fences.hpp"

namespace gsort::gpu {

inline constexpr unsigned kFenceThreads = 256;

template <class Key>
__global__ void __launch_bounds__(kFenceThreads)
    fences_kernel(const Key* keys, std::uint64_t count, std::uint64_t step, Key* fences) {
  grid_begin();
  const std::uint64_t fence = std::uint64_t{blockIdx.x} * kFenceThreads + threadIdx.x;
  if (fence < (count + step - 1) / step) fences[fence] = keys[fence * step];
}

template <class Key>
void launch_fences(const Key* keys, std::uint64_t count, std::uint64_t step, Key* fences,
                   cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(div_up(div_up(count, step), kFenceThreads));
  launch_kernel(fences_kernel<Key>, {blocks, kFenceThreads, 0, current_architecture(), stream},
                "launching fences_kernel", keys, count, step, fences);
}

template void launch_fences(const std::uint32_t*, std::uint64_t, std::uint64_t, std::uint32_t*,
                            cudaStream_t);
template void launch_fences(const std::uint64_t*, std::uint64_t, std::uint64_t, std::uint64_t*,
                            cudaStream_t);

}  // namespace gsort::gpu
