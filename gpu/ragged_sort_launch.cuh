// The bodies of launch_ragged_plan and launch_ragged_sort; included by one .cu file a key type.
#pragma once

#include <algorithm>
#include <type_traits>

#include "base/units.hpp"
#include "gpu/programmatic_launch.cuh"
#include "gpu/ragged_sort_kernel.cuh"
#include "gpu/with_tuning.hpp"

namespace gsort::gpu {

// Threads of an SM, at least, in the sort with narrow rows; bounds the registers of a thread.
inline constexpr unsigned kNarrowResidentThreads = 3 * kNarrowTileRows;

// Calls f(constant) with the shape of the pass's rows: a KernelTuning of which the block sort's
// numbers count.
template <class Key, class F>
void with_ragged_rows(const RaggedPass<Key>& pass, unsigned architecture, F&& f) {
  if (pass.narrow) {
    f(TuningConstant<KernelTuning{kNarrowRowWords, kNarrowTileRows, 0, 0, 0,
                                  kNarrowResidentThreads}>{});
  } else {
    with_tuning<Key>(architecture, f);
  }
}

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
  with_ragged_rows(pass, architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    using Windows = RaggedWindows<kTuning.keys_per_thread, kTuning.block_sort_threads>;
    const auto blocks = static_cast<unsigned>(div_up(pass.array_count, kPlanThreads));
    with_tiny_keys(pass, [&](auto tiny) {
      launch_kernel(ragged_plan_kernel<Key, Windows, decltype(tiny)::value>,
                    {blocks, kPlanThreads, 0, architecture, stream}, "launching ragged_plan_kernel",
                    pass);
    });
  });
}

template <class Key>
void launch_ragged_sort(const RaggedPass<Key>& pass, unsigned architecture, cudaStream_t stream) {
  with_ragged_rows(pass, architecture, [&](auto constant) {
    constexpr KernelTuning kTuning = decltype(constant)::kTuning;
    constexpr auto kKernel = ragged_sort_kernel<Key, kTuning.block_sort_threads,
                                                kTuning.keys_per_thread, kTuning.resident_threads>;
    constexpr unsigned kBytes =
        TileWords<Key, kTuning.keys_per_thread>::bytes(kTuning.block_sort_threads);
    if (pass.tiny_keys > 0) {
      constexpr auto kListed =
          listed_windows_kernel<Key, kTuning.block_sort_threads, kTuning.keys_per_thread,
                                kTuning.resident_threads>;
      const auto blocks = static_cast<unsigned>(std::min(pass.window_count, kTakingBlocks));
      launch_kernel(kListed, {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                    "launching listed_windows_kernel", pass);
      return;
    }
    const auto blocks = static_cast<unsigned>(pass.window_count);
    launch_kernel(kKernel, {blocks, kTuning.block_sort_threads, kBytes, architecture, stream},
                  "launching ragged_sort_kernel", pass);
  });
}

}  // namespace gsort::gpu
