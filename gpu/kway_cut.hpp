// kway_cut: the exact cuts of up to kRuns sorted runs for one output position, by one thread.
//
// Problem. A tile of a merge pass must know its slice of each run. Bisecting every run in device
// memory takes hundreds of dependent reads, each to a sector that nothing else needs.
//
// Idea. All keys have one total order: by key, then run, then position; so there are no ties. A
// pivot (one key of one run) is looked up in all other runs at once, which tells its exact rank. If
// that is below d, the pivot is in the prefix and all windows lose what lies before it; else they
// lose what lies behind. Pivots come from the widest window, at the place where the cut is expected
// if keys are spread evenly; after a pivot that did not halve the windows, from its middle. This is
// done first on samples, every kSampleStep-th key of each run, kept together in a small array. If
// c[i] is the cut of run i, the samples before it are ceil(c[i] / S), and these are the first m of
// all samples in order, where
//   d / S <= m <= (d + runs * (S - 1)) / S.
// So two selections among the samples, the second one nearly free, leave windows of about 2 S keys
// a run; and a last selection among those gives the cuts.
//
// Example. Two runs, S = 2: run 0 = 1 3 5 7, run 1 = 2 4 6 8; samples 1 5 | 2 6; d = 5 (the prefix
// is 1 2 3 4 5).
//   m lies between 3 and 3: the first three samples are 1 2 5: two of run 0, one of run 1.
//   cut of run 0 in [3, 4], of run 1 in [1, 2]; the pivot 7 has rank 6, not in the prefix: cuts
//   3 2.
//
// Cost. About log2 of the samples rounds for any keys, few for evenly spread ones; each is a binary
// search in every window. Source. P. Varman et al., JPDC 12(2), 1991,
// doi:10.1016/0743-7315(91)90022-2; see also base/kway_split.hpp, which bisects on values.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"
#include "gpu/static_for.hpp"

namespace gsort::gpu {

// One sorted run and its samples: samples[j] == keys[j * kSampleStep], for all j with a key there.
template <class Key>
struct SampledRun {
  const Key* keys = nullptr;
  const Key* samples = nullptr;
  std::uint64_t length = 0;
};

// Counts in every window, at once, the keys that precede the pivot. On entry and on return low[i]
// <= high[i].
template <std::size_t kRuns, class Key>
GSORT_HOST_DEVICE constexpr void rank_pivot(const Key* const (&runs)[kRuns], unsigned pivot_run,
                                            std::uint32_t pivot, Key key,
                                            const std::uint32_t (&low)[kRuns],
                                            const std::uint32_t (&high)[kRuns],
                                            std::uint32_t (&count)[kRuns]) {
  std::uint32_t end[kRuns] = {};
  bool open = false;
  static_for<kRuns>([&](auto run) {
    count[run] = run == pivot_run ? pivot : low[run];
    end[run] = run == pivot_run ? pivot : high[run];
    open |= count[run] < end[run];
  });
  while (open) {
    Key probe[kRuns] = {};
    static_for<kRuns>([&](auto run) {
      if (count[run] < end[run]) probe[run] = runs[run][count[run] + (end[run] - count[run]) / 2];
    });
    open = false;
    static_for<kRuns>([&](auto run) {
      if (count[run] < end[run]) {
        const std::uint32_t middle = count[run] + (end[run] - count[run]) / 2;
        const bool precedes = run < pivot_run ? !(key < probe[run]) : probe[run] < key;
        if (precedes) {
          count[run] = middle + 1;
        } else {
          end[run] = middle;
        }
        open |= count[run] < end[run];
      }
    });
  }
}

// Narrows the windows until low holds the cuts of output position `rank`.
// Requires: each cut lies in [low[i], high[i]].
template <std::size_t kRuns, class Key>
GSORT_HOST_DEVICE constexpr void kway_select(std::uint32_t rank, const Key* const (&runs)[kRuns],
                                             std::uint32_t (&low)[kRuns],
                                             std::uint32_t (&high)[kRuns]) {
  std::uint32_t last_open = ~std::uint32_t{0};
  bool halved = true;
  for (;;) {
    std::uint32_t below = 0;
    std::uint32_t open = 0;
    static_for<kRuns>([&](auto run) {
      below += low[run];
      open += high[run] - low[run];
    });
    if (below == rank || open == 0) return;
    halved = open <= last_open / 2;
    last_open = open;
    const float place = halved ? static_cast<float>(rank - below) / static_cast<float>(open) : 0.5F;

    unsigned pivot_run = 0;
    std::uint32_t pivot = 0;
    std::uint32_t widest = 0;
    const Key* pivot_keys = runs[0];
    static_for<kRuns>([&](auto run) {
      const std::uint32_t width = high[run] - low[run];
      if (width > widest) {
        widest = width;
        pivot_run = static_cast<unsigned>(run);
        pivot_keys = runs[run];
        const auto offset = static_cast<std::uint32_t>(static_cast<float>(width) * place);
        pivot = low[run] + (offset < width ? offset : width - 1);
      }
    });

    std::uint32_t count[kRuns] = {};
    rank_pivot(runs, pivot_run, pivot, pivot_keys[pivot], low, high, count);
    std::uint32_t pivot_rank = 0;
    static_for<kRuns>([&](auto run) { pivot_rank += count[run]; });
    const bool in_prefix = pivot_rank < rank;
    static_for<kRuns>([&](auto run) {
      if (in_prefix) {
        low[run] = run == pivot_run ? pivot + 1 : count[run];
      } else {
        high[run] = count[run];
      }
    });
  }
}

// cuts[i]: how many keys of run i are among the first d of all, ties to lower runs.
// Requires: d <= the sum of lengths; each run has fewer than 2^32 samples, all runs fewer than 2^32
// - kRuns.
template <std::uint32_t kSampleStep, std::size_t kRuns, class Key>
GSORT_HOST_DEVICE constexpr void kway_cut(std::uint64_t d, const SampledRun<Key> (&runs)[kRuns],
                                          std::uint64_t (&cuts)[kRuns]) {
  const Key* keys[kRuns] = {};
  std::uint32_t low[kRuns] = {};
  std::uint32_t high[kRuns] = {};
  std::uint32_t sample_count = 0;
  static_for<kRuns>([&](auto run) {
    keys[run] = runs[run].samples;
    high[run] = static_cast<std::uint32_t>((runs[run].length + kSampleStep - 1) / kSampleStep);
    sample_count += high[run];
  });
  const auto least = static_cast<std::uint32_t>((d + kSampleStep - 1) / kSampleStep);
  const auto bound = static_cast<std::uint32_t>((d + kRuns * (kSampleStep - 1)) / kSampleStep);
  const std::uint32_t most = bound < sample_count ? bound : sample_count;
  kway_select(least, keys, low, high);
  std::uint64_t base[kRuns] = {};
  static_for<kRuns>([&](auto run) {
    base[run] = low[run] == 0 ? 0 : (std::uint64_t{low[run]} - 1) * kSampleStep + 1;
    const auto samples =
        static_cast<std::uint32_t>((runs[run].length + kSampleStep - 1) / kSampleStep);
    const std::uint32_t reach = low[run] + (most - least);
    high[run] = reach < samples ? reach : samples;
  });
  kway_select(most, keys, low, high);
  std::uint64_t rank = d;
  static_for<kRuns>([&](auto run) {
    const std::uint64_t reach = std::uint64_t{low[run]} * kSampleStep;
    const std::uint64_t top = reach < runs[run].length ? reach : runs[run].length;
    rank -= base[run];
    keys[run] = runs[run].keys + base[run];
    low[run] = 0;
    high[run] = static_cast<std::uint32_t>(top - base[run]);
  });
  kway_select(static_cast<std::uint32_t>(rank), keys, low, high);
  static_for<kRuns>([&](auto run) { cuts[run] = base[run] + low[run]; });
}

}  // namespace gsort::gpu
