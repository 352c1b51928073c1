// The body of launch_batch_sort; included by one .cu file for each type of ends.
#pragma once

#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/segmented/batch_sort_kernel.cuh"

namespace gsort::gpu {

template <class Ends, KernelTuning kTuning, unsigned kListWords>
void launch_batch_sort_of(const BatchSortPass<Ends>& pass, unsigned architecture,
                          cudaStream_t stream) {
  constexpr auto kKernel =
      batch_sort_kernel<Ends, kTuning.block_sort_threads, kTuning.keys_per_thread, kListWords,
                        kTuning.resident_threads>;
  constexpr unsigned kBytes =
      TileWords<typename Ends::Word, kTuning.keys_per_thread>::bytes(kTuning.block_sort_threads);
  const auto blocks =
      static_cast<unsigned>(div_up(pass.layout.item_count, pass.layout.items_a_tile));
  launch_kernel(kKernel, {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                "launching batch_sort_kernel", pass);
}

template <class Ends>
void launch_batch_sort(const BatchSortPass<Ends>& pass, unsigned architecture,
                       cudaStream_t stream) {
  with_tuning<typename Ends::Word>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    static_for<floor_log2(kTuning.keys_per_thread) + 1>([&](auto log) {
      constexpr unsigned kListWords = 1U << decltype(log)::value;
      if (pass.layout.list_words == kListWords) {
        launch_batch_sort_of<Ends, kTuning, kListWords>(pass, architecture, stream);
      }
    });
  });
}

}  // namespace gsort::gpu
