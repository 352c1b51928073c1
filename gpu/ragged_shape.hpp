// Which tiles a ragged batch takes, from numbers known at run time to types.
#pragma once

#include <cstdint>

#include "gpu/ragged_windows.hpp"
#include "gpu/with_tuning.hpp"

namespace gsort::gpu {

// The block sort's numbers of kTuningOf give the windows' tiles, those of kWide the tiles of arrays
// that windows do not take.
template <KernelTuning kTuningOf, KernelTuning kWide, unsigned kShortKeys>
struct RaggedShape {
  static constexpr KernelTuning kTuning = kTuningOf;
  using Windows = RaggedWindows<kTuning.keys_per_thread, kTuning.block_sort_threads, kShortKeys>;
  using Middle = MiddleWindows<kWide.keys_per_thread, kWide.block_sort_threads>;
  static_assert(kWide.block_sort_keys() >= 2 * (kSharedTileKeys + 1));
};

// Threads of an SM, at least, in the sort with narrow rows; bounds the registers of a thread.
inline constexpr unsigned kNarrowResidentThreads = 3 * kNarrowTileRows;
inline constexpr KernelTuning kNarrowTuning{kNarrowRowWords,       kNarrowTileRows, 0, 0, 0,
                                            kNarrowResidentThreads};

// Calls f(shape) with a RaggedShape.
template <class Key, class F>
void with_ragged_shape(const WindowChoice& choice, unsigned architecture, F&& f) {
  with_tuning<Key>(architecture, [&](auto constant) {
    constexpr KernelTuning kWide = decltype(constant)::kTuning;
    if (choice.narrow) {
      f(RaggedShape<kNarrowTuning, kWide, kFewShortKeys>{});
    } else if (choice.few) {
      f(RaggedShape<kWide, kWide, kFewShortKeys>{});
    } else {
      f(RaggedShape<kWide, kWide, kSharedTileKeys>{});
    }
  });
}

}  // namespace gsort::gpu
