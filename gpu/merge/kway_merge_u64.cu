// The kernels of merging for 64-bit keys.
#include "gpu/merge/launch_kway_merge.cuh"

namespace gsort::gpu {

template void launch_partition<std::uint64_t>(const MergePass<std::uint64_t>&, unsigned,
                                              cudaStream_t);
template void launch_kway_merge<std::uint64_t>(const MergePass<std::uint64_t>&, unsigned,
                                               cudaStream_t);
template void launch_two_way_merge<std::uint64_t>(const MergePass<std::uint64_t>&, unsigned,
                                                  cudaStream_t);
template void launch_small_merge<std::uint64_t>(const MergePass<std::uint64_t>&, unsigned,
                                                cudaStream_t);
template void launch_sample<std::uint64_t>(const std::uint64_t*, const RunTable&, std::uint64_t*,
                                           unsigned, cudaStream_t);

}  // namespace gsort::gpu
