// batch_sort_kernel for 32-bit keys.
#include "gpu/segmented/batch_sort_launch.cuh"

namespace gsort::gpu {

template void launch_batch_sort<std::uint32_t>(const BatchSortPass<std::uint32_t>&, unsigned,
                                               cudaStream_t);

}  // namespace gsort::gpu
