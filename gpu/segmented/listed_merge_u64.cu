// listed_merge_kernel for 64-bit keys.
#include "gpu/segmented/listed_merge_launch.cuh"

namespace gsort::gpu {

template void launch_listed_merge<std::uint64_t>(const LongMergePass<std::uint64_t>&, unsigned,
                                                 cudaStream_t);

}  // namespace gsort::gpu
