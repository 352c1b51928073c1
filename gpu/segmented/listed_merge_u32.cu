// listed_merge_kernel for 32-bit keys.
#include "gpu/segmented/listed_merge_launch.cuh"

namespace gsort::gpu {

template void launch_listed_merge<std::uint32_t>(const LongMergePass<std::uint32_t>&, unsigned,
                                                 cudaStream_t);

}  // namespace gsort::gpu
