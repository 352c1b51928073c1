// last_pair_merge_kernel (listed_merge_kernel.cuh) and its launch.
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/segmented/listed_merge_kernel.cuh"

namespace gsort::gpu {

void launch_last_pair_merge(const LongMergePass<PairEnds::Word>& pass, const PairEnds& ends,
                            unsigned architecture, cudaStream_t stream) {
  with_tuning<PairEnds::Word>(architecture, [&](auto constant) {
    with_fan_in(pass.merge.fan_in, [&](auto fan_in) {
      constexpr KernelTuning kTuning = decltype(constant)::kTuning;
      constexpr unsigned kThreads = kTuning.merge_threads;
      constexpr auto kKernel =
          last_pair_merge_kernel<kThreads, kTuning.keys_per_thread, decltype(fan_in)::value,
                                 kTuning.resident_threads>;
      constexpr unsigned kBytes =
          TileWords<PairEnds::Word, kTuning.keys_per_thread>::bytes(kThreads);
      const unsigned blocks = pass.arrays.counts == nullptr
                                  ? static_cast<unsigned>(pass.merge.row_count)
                                  : taking_blocks(pass.merge.row_count, kThreads);
      launch_kernel(kKernel, {blocks, kThreads, kBytes, architecture, stream},
                    "launching last_pair_merge_kernel", pass, ends);
    });
  });
}

}  // namespace gsort::gpu
