// long_sort_kernel, listed_tile_sort_kernel and long_partition_kernel for 32-bit keys.
#include "gpu/segmented/long_sort_launch.cuh"

namespace gsort::gpu {

template void launch_long_sort<std::uint32_t>(const LongSortPass<std::uint32_t>&, unsigned,
                                              cudaStream_t);
template void launch_listed_sort<std::uint32_t>(const LongSortPass<std::uint32_t>&, unsigned,
                                                cudaStream_t);
template void launch_long_partition<std::uint32_t>(const LongMergePass<std::uint32_t>&, unsigned,
                                                   cudaStream_t);

}  // namespace gsort::gpu
