// The bodies of launch_segmented_plan, launch_segmented_sort and launch_middle_sort; included by
// one .cu file for each type of ends.
#pragma once

#include <type_traits>

#include "base/units.hpp"
#include "gpu/cuda/programmatic_launch.cuh"
#include "gpu/cuda/with_tuning.hpp"
#include "gpu/segmented/segmented_shape.hpp"
#include "gpu/segmented/segmented_sort_kernel.cuh"

namespace gsort::gpu {

// Calls f(constant) with the pass's tiny_keys.
template <class Shape, class Ends, class F>
void with_tiny_keys(const SegmentedPass<Ends>& pass, F&& f) {
  if constexpr (kMayHaveNoTiny<Shape>) {
    if (pass.tiny_keys == 0) return f(std::integral_constant<unsigned, 0>{});
  }
  if constexpr (kMayHaveTiny<Shape>) {
    if (pass.tiny_keys == 4) return f(std::integral_constant<unsigned, 4>{});
    if (pass.tiny_keys == 8) return f(std::integral_constant<unsigned, 8>{});
    return f(std::integral_constant<unsigned, kMostTinyKeys>{});
  }
}

template <class Ends>
void launch_segmented_plan(const SegmentedPass<Ends>& pass, unsigned architecture,
                           cudaStream_t stream) {
  with_segmented_shape<typename Ends::Word>(pass.windows, architecture, [&](auto shape) {
    using Shape = decltype(shape);
    const auto blocks = static_cast<unsigned>(div_up(pass.array_count, kPlanThreads));
    with_tiny_keys<Shape>(pass, [&](auto tiny) {
      launch_kernel(segmented_plan_kernel<Ends, Shape, decltype(tiny)::value>,
                    {blocks, kPlanThreads, 0, architecture, stream},
                    "launching segmented_plan_kernel", pass);
    });
  });
}

template <class Ends>
void launch_segmented_sort(const SegmentedPass<Ends>& pass, unsigned architecture,
                           cudaStream_t stream) {
  with_segmented_shape<typename Ends::Word>(pass.windows, architecture, [&](auto shape) {
    using Shape = decltype(shape);
    using Windows = typename Shape::Windows;
    constexpr KernelTuning kTuning = Shape::kTuning;
    constexpr unsigned kThreads = kTuning.block_sort_threads;
    constexpr unsigned kRowWords = kTuning.keys_per_thread;
    constexpr unsigned kBytes = TileWords<typename Ends::Word, kRowWords>::bytes(kThreads);
    const auto launch = [&](auto kernel, unsigned blocks, const char* operation) {
      launch_kernel(kernel, {blocks, kThreads, kBytes, architecture, stream}, operation, pass);
    };
    if constexpr (kMayHaveTiny<Shape>) {
      if (pass.tiny_keys > 0) {
        return launch(
            listed_window_sort_kernel<Ends, Windows, kThreads, kRowWords, kTuning.resident_threads>,
            taking_blocks(pass.window_count, kThreads), "launching listed_window_sort_kernel");
      }
    }
    if constexpr (kMayHaveNoTiny<Shape>) {
      launch(segmented_sort_kernel<Ends, Windows, kThreads, kRowWords, kTuning.resident_threads>,
             static_cast<unsigned>(pass.window_count), "launching segmented_sort_kernel");
    }
  });
}

template <class Ends>
void launch_middle_sort(const SegmentedPass<Ends>& pass, unsigned architecture,
                        cudaStream_t stream) {
  with_tuning<typename Ends::Word>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr auto kKernel = middle_sort_kernel<Ends, kTuning.block_sort_threads,
                                                kTuning.keys_per_thread, kTuning.resident_threads>;
    constexpr unsigned kBytes =
        TileWords<typename Ends::Word, kTuning.keys_per_thread>::bytes(kTuning.block_sort_threads);
    const unsigned blocks = taking_blocks(pass.middle_window_count, kTuning.block_sort_threads);
    launch_kernel(kKernel, {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                  "launching middle_sort_kernel", pass);
  });
}

}  // namespace gsort::gpu
