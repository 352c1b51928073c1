// pair_sort_kernel and pair_merge_kernel for 64-bit keys with 64-bit values.
#include "gpu/records/launch_pairs.cuh"

namespace gsort::gpu {

using Key = std::uint64_t;
using Value = std::uint64_t;

template void launch_pair_sort<Key, Value>(const PairSortPass<Key, Value>&, unsigned, cudaStream_t);
template void launch_pair_partition<Key, Value>(const PairMergePass<Key, Value>&, unsigned,
                                                cudaStream_t);
template void launch_pair_merge<Key, Value>(const PairMergePass<Key, Value>&, unsigned,
                                            cudaStream_t);
template void launch_two_way_pair_merge<Key, Value>(const PairMergePass<Key, Value>&, unsigned,
                                                    cudaStream_t);

}  // namespace gsort::gpu
