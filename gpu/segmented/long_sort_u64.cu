// long_sort_kernel, listed_tile_sort_kernel and long_partition_kernel for 64-bit keys.
#include "gpu/segmented/long_sort_launch.cuh"

namespace gsort::gpu {

template void launch_long_sort<std::uint64_t>(const LongSortPass<std::uint64_t>&, unsigned,
                                              cudaStream_t);
template void launch_listed_sort<std::uint64_t>(const LongSortPass<std::uint64_t>&, unsigned,
                                                cudaStream_t);
template void launch_long_partition<std::uint64_t>(const LongMergePass<std::uint64_t>&, unsigned,
                                                   cudaStream_t);

}  // namespace gsort::gpu
