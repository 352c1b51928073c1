// The kernels of ragged_sort_kernel.cuh for 64-bit keys.
#include "gpu/segmented/ragged_sort_launch.cuh"

namespace gsort::gpu {

template void launch_ragged_plan<std::uint64_t>(const RaggedPass<std::uint64_t>&, unsigned,
                                                cudaStream_t);
template void launch_ragged_sort<std::uint64_t>(const RaggedPass<std::uint64_t>&, unsigned,
                                                cudaStream_t);
template void launch_middle_sort<std::uint64_t>(const RaggedPass<std::uint64_t>&, unsigned,
                                                cudaStream_t);

}  // namespace gsort::gpu
