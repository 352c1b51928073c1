// batch_sort_kernel for 64-bit keys.
#include "gpu/segmented/batch_sort_launch.cuh"

namespace gsort::gpu {

template void launch_batch_sort<std::uint64_t>(const BatchSortPass<std::uint64_t>&, unsigned,
                                               cudaStream_t);

}  // namespace gsort::gpu
