// One of each sort of kernel that merges in shared memory, in the shapes of sm_90, for
// fast_math.py: none of their code may depend on the compiler's flags for floats. Partitions are
// left out: floats tell them only where to look first, and any guess leads to the same cut.
#include "gpu/cuda/tuning.hpp"
#include "gpu/merge/kway_merge_kernel.cuh"
#include "gpu/records/pair_merge_kernel.cuh"
#include "gpu/records/pair_sort_kernel.cuh"
#include "gpu/segmented/batch_sort_kernel.cuh"
#include "gpu/sort/block_sort_kernel.cuh"

namespace gsort::gpu {

using Pairs = PairOf<std::uint64_t, std::uint32_t>;
constexpr KernelTuning k32 = tuning_for<std::uint32_t>(90);
constexpr KernelTuning k64 = tuning_for<std::uint64_t>(90);
constexpr KernelTuning kPairs = tuning_for<Pairs>(90);

template __global__ void
block_sort_kernel<std::uint32_t, k32.block_sort_threads, k32.keys_per_thread, k32.resident_threads>(
    const BlockSortPass<std::uint32_t>);
template __global__ void batch_sort_kernel<
    KeyEnds<std::uint64_t>, k64.block_sort_threads, k64.keys_per_thread, k64.keys_per_thread,
    k64.resident_threads>(const __grid_constant__ BatchSortPass<KeyEnds<std::uint64_t>>);
template __global__ void kway_merge_kernel<std::uint64_t, k64.merge_threads, k64.keys_per_thread, 8,
                                           k64.resident_threads, WrittenCuts, false>(
    const __grid_constant__ MergePass<std::uint64_t>);
template __global__ void pair_sort_kernel<std::uint64_t, std::uint32_t, kPairs.block_sort_threads,
                                          kPairs.keys_per_thread, kPairs.resident_threads>(
    const __grid_constant__ PairSortPass<std::uint64_t, std::uint32_t>);
template __global__ void
pair_merge_kernel<std::uint64_t, std::uint32_t, kPairs.merge_threads, kPairs.keys_per_thread, 8,
                  kPairs.resident_threads, WrittenCuts, false>(
    const __grid_constant__ PairMergePass<std::uint64_t, std::uint32_t>);

}  // namespace gsort::gpu
