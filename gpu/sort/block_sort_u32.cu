// block_sort_kernel for 32-bit keys.
#include "gpu/sort/launch_block_sort.cuh"

namespace gsort::gpu {

template void launch_block_sort<std::uint32_t>(const BlockSortPass<std::uint32_t>&, unsigned,
                                               cudaStream_t);
template void launch_small_block_sort<std::uint32_t>(const BlockSortPass<std::uint32_t>&, unsigned,
                                                     cudaStream_t);

}  // namespace gsort::gpu
