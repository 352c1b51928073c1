// pair_merge_kernel for two arrays of 64-bit keys with values of 8 and of 16 bits.
#include "gpu/records/launch_pairs.cuh"

namespace gsort::gpu {

using Key = std::uint64_t;

template void launch_two_way_pair_merge<Key, std::uint8_t>(const PairMergePass<Key, std::uint8_t>&,
                                                           unsigned, cudaStream_t);
template void launch_two_way_pair_merge<Key, std::uint16_t>(
    const PairMergePass<Key, std::uint16_t>&, unsigned, cudaStream_t);

}  // namespace gsort::gpu
