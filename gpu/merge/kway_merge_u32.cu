// The kernels of merging for 32-bit keys.
#include "gpu/merge/launch_kway_merge.cuh"

namespace gsort::gpu {

template void launch_partition<std::uint32_t>(const MergePass<std::uint32_t>&, unsigned,
                                              cudaStream_t);
template void launch_kway_merge<std::uint32_t>(const MergePass<std::uint32_t>&, unsigned,
                                               cudaStream_t);
template void launch_two_way_merge<std::uint32_t>(const MergePass<std::uint32_t>&, unsigned,
                                                  cudaStream_t);
template void launch_small_merge<std::uint32_t>(const MergePass<std::uint32_t>&, unsigned,
                                                cudaStream_t);
template void launch_sample<std::uint32_t>(const std::uint32_t*, const RunTable&, std::uint32_t*,
                                           unsigned, cudaStream_t);

}  // namespace gsort::gpu
