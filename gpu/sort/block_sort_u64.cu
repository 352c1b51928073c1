// block_sort_kernel for 64-bit keys.
#include "gpu/sort/launch_block_sort.cuh"

namespace gsort::gpu {

template void launch_block_sort<std::uint64_t>(const BlockSortPass<std::uint64_t>&, unsigned,
                                               cudaStream_t);
template void launch_small_block_sort<std::uint64_t>(const BlockSortPass<std::uint64_t>&, unsigned,
                                                     cudaStream_t);

}  // namespace gsort::gpu
