// Which tiles a segmented batch takes, from numbers known at run time to types.
#pragma once

#include <cstdint>

#include "gpu/cuda/with_tuning.hpp"
#include "gpu/segmented/segmented_windows.hpp"

namespace gsort::gpu {

// The block sort's numbers of kOfWindows give the windows' tiles, those of kWide the tiles of
// arrays that windows do not take.
template <KernelTuning kOfWindows, KernelTuning kWide, unsigned kShortKeys>
struct SegmentedShape {
  static constexpr KernelTuning kTuning = kOfWindows;
  using Windows = SegmentedWindows<kTuning.keys_per_thread, kTuning.block_sort_threads, kShortKeys>;
  using Middle = MiddleWindows<kWide.keys_per_thread, kWide.block_sort_threads>;
  static constexpr bool kHasMiddle = kShortKeys < kSharedTileKeys;
  // Tiles of long arrays are less than half empty on average; SegmentedBounds counts on that.
  static_assert(kWide.block_sort_keys() >= 2 * (kSharedTileKeys + 1));
};

// Threads of an SM, at least, in the sort with narrow rows; bounds the registers of a thread.
inline constexpr unsigned kNarrowResidentThreads = 3 * kNarrowTileRows;
inline constexpr KernelTuning kNarrowTuning{kNarrowRowWords,       kNarrowTileRows, 0, 0, 0,
                                            kNarrowResidentThreads};

// Can a batch of such a shape have tiny arrays, or none? Means decide both.
static_assert(kNarrowMeanKeys <= kMostTinyKeys && kMostTinyKeys < kLowMeanKeys);
template <class Shape>
inline constexpr bool kMayHaveTiny = Shape::kHasMiddle;
template <class Shape>
inline constexpr bool kMayHaveNoTiny = !(Shape::kTuning == kNarrowTuning);

// Calls f(shape) with a SegmentedShape.
template <class Key, class F>
void with_segmented_shape(const WindowChoice& choice, unsigned architecture, F&& f) {
  with_tuning<Key>(architecture, [&](auto constant) {
    constexpr KernelTuning kWide = decltype(constant)::kTuning;
    using Low = LowWindows<Key>;
    constexpr KernelTuning kLow{kWide.keys_per_thread, Low::kTileRows, 0, 0, 0,
                                kWide.resident_threads};
    if (choice.narrow) {
      f(SegmentedShape<kNarrowTuning, kWide, Low::kShortKeys>{});
    } else if (choice.low) {
      f(SegmentedShape<kLow, kWide, Low::kShortKeys>{});
    } else {
      f(SegmentedShape<kWide, kWide, kSharedTileKeys>{});
    }
  });
}

}  // namespace gsort::gpu
