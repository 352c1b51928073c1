// kway_merge_kernel, partition_kernel and sample_kernel for 32-bit keys.
#include "gpu/launch_kway_merge.cuh"

namespace gsort::gpu {

template void launch_partition<std::uint32_t>(const MergePass<std::uint32_t>&, unsigned,
                                              cudaStream_t);
template void launch_kway_merge<std::uint32_t>(const MergePass<std::uint32_t>&, unsigned,
                                               cudaStream_t);
template void launch_sample<std::uint32_t>(const std::uint32_t*, const RunTable&, std::uint32_t*,
                                           cudaStream_t);

}  // namespace gsort::gpu
