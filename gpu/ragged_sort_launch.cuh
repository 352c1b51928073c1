// The bodies of launch_ragged_plan, launch_ragged_sort and launch_middle_sort; included by one .cu
// file a key type.
#pragma once

#include <algorithm>
#include <type_traits>

#include "base/units.hpp"
#include "gpu/programmatic_launch.cuh"
#include "gpu/ragged_shape.hpp"
#include "gpu/ragged_sort_kernel.cuh"
#include "gpu/with_tuning.hpp"

namespace gsort::gpu {

// Calls f(constant) with the pass's tiny_keys.
template <class Key, class F>
void with_tiny_keys(const RaggedPass<Key>& pass, F&& f) {
  switch (pass.tiny_keys) {
    case 0:
      return f(std::integral_constant<unsigned, 0>{});
    case 4:
      return f(std::integral_constant<unsigned, 4>{});
    case 8:
      return f(std::integral_constant<unsigned, 8>{});
    default:
      return f(std::integral_constant<unsigned, 16>{});
  }
}

template <class Key>
void launch_ragged_plan(const RaggedPass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_ragged_shape<Key>(pass.windows, architecture, [&](auto shape) {
    const auto blocks = static_cast<unsigned>(div_up(pass.array_count, kPlanThreads));
    with_tiny_keys(pass, [&](auto tiny) {
      launch_kernel(ragged_plan_kernel<Key, decltype(shape), decltype(tiny)::value>,
                    {blocks, kPlanThreads, 0, architecture, stream}, "launching ragged_plan_kernel",
                    pass);
    });
  });
}

template <class Key>
void launch_ragged_sort(const RaggedPass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_ragged_shape<Key>(pass.windows, architecture, [&](auto shape) {
    using Windows = typename decltype(shape)::Windows;
    constexpr KernelTuning kTuning = decltype(shape)::kTuning;
    constexpr unsigned kThreads = kTuning.block_sort_threads;
    constexpr unsigned kRowWords = kTuning.keys_per_thread;
    constexpr unsigned kBytes = TileWords<Key, kRowWords>::bytes(kThreads);
    const auto launch = [&](auto kernel, std::uint64_t blocks, const char* operation) {
      launch_kernel(kernel, {static_cast<unsigned>(blocks), kThreads, kBytes, architecture, stream},
                    operation, pass);
    };
    if (pass.tiny_keys > 0) {
      launch(listed_windows_kernel<Key, Windows, kThreads, kRowWords, kTuning.resident_threads>,
             std::min(pass.window_count, kTakingBlocks), "launching listed_windows_kernel");
    } else {
      launch(ragged_sort_kernel<Key, Windows, kThreads, kRowWords, kTuning.resident_threads>,
             pass.window_count, "launching ragged_sort_kernel");
    }
  });
}

template <class Key>
void launch_middle_sort(const RaggedPass<Key>& pass, std::uint64_t windows, unsigned architecture,
                        cudaStream_t stream) {
  with_tuning<Key>(architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr auto kKernel = middle_sort_kernel<Key, kTuning.block_sort_threads,
                                                kTuning.keys_per_thread, kTuning.resident_threads>;
    constexpr unsigned kBytes =
        TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.block_sort_threads);
    const auto blocks = static_cast<unsigned>(std::min(windows, kTakingBlocks));
    launch_kernel(kKernel, {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                  "launching middle_sort_kernel", pass);
  });
}

}  // namespace gsort::gpu
