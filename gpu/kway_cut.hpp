// kway_cut: the exact cuts of several sorted runs for one output position, by a team with a lane a
// run.
//
// Problem. A tile of a merge pass must know its slice of each run. Bisecting every run in device
// memory takes hundreds of dependent reads, each of a sector that nothing else needs.
//
// Idea. All keys have one total order: by key, then run, then position; so there are no ties. A
// pivot (one key of one run) is looked up in all other runs at once, which tells its exact rank. If
// that is below d, the pivot is in the prefix and all windows lose what lies before it; else they
// lose what lies behind. The pivot comes from the widest window, a little beyond the place where
// the cut is expected if keys are spread evenly: beyond it as seen from the side that the last
// pivot cut off, so that the next pivot cuts off the other side. After pivots that did not halve
// the windows, it comes from the middle, which bounds the rounds for any keys. This is done first
// on samples, every S-th key of each run, kept together in a small array. If c[i] is the
// cut of run i, the samples before it are ceil(c[i] / S), and these are the first m of all samples
// in order, where
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
// Cost. About log2 of the keys rounds at worst, a third of that for evenly spread keys; a round is
// one binary search in every window. Source. P. Varman et al., JPDC 12(2), 1991,
// doi:10.1016/0743-7315(91)90022-2; see also base/kway_split.hpp, which bisects on values.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace gsort::gpu {

// A team on the CPU: each() visits its lanes in turn. On the device a team is kRuns neighbouring
// threads, and each() runs once in each of them (partition_kernel.cuh).
template <unsigned kRuns>
struct SerialTeam {
  static constexpr unsigned kLanes = kRuns;

  // One T a lane.
  template <class T>
  struct Each {
    T values[kRuns] = {};
    constexpr T& operator[](unsigned lane) { return values[lane]; }
  };

  template <class F>
  constexpr void each(const F& f) const {
    for (unsigned lane = 0; lane < kRuns; ++lane) f(lane);
  }
  template <class T>
  [[nodiscard]] constexpr T get(Each<T>& each, unsigned lane) const {
    return each[lane];
  }
  [[nodiscard]] constexpr std::uint32_t sum(Each<std::uint32_t>& each) const {
    std::uint32_t total = 0;
    for (unsigned lane = 0; lane < kRuns; ++lane) total += each[lane];
    return total;
  }
  // A lane whose value is the greatest, if values are below 2^27; above that, any such lane.
  [[nodiscard]] constexpr unsigned greatest(Each<std::uint32_t>& each) const {
    unsigned found = 0;
    for (unsigned lane = 1; lane < kRuns; ++lane) found = each[found] < each[lane] ? lane : found;
    return found;
  }
  // Does any team that runs in step with this one want another round?
  [[nodiscard]] constexpr bool any(bool wants) const { return wants; }
};

// One sorted run and its samples: samples[j] == keys[j << sample_shift], for all j with a key
// there.
template <class Key>
struct SampledRun {
  const Key* keys = nullptr;
  const Key* samples = nullptr;
  std::uint64_t length = 0;
};

// Pivots lie so many square roots of the keys in between from the expected place; found by
// simulation.
inline constexpr float kPivotMargin = 0.5F;

// About the square root; exactness does not matter.
[[nodiscard]] GSORT_HOST_DEVICE constexpr float rough_root(float value) {
#ifdef __CUDA_ARCH__
  return __fsqrt_rn(value);
#else
  float root = 1.0F;
  while (root * root < value) root *= 2.0F;
  return root;
#endif
}

[[nodiscard]] GSORT_HOST_DEVICE constexpr float rough_quotient(float dividend, float divisor) {
#ifdef __CUDA_ARCH__
  return __fdividef(dividend, divisor);
#else
  return dividend / divisor;
#endif
}

// How many keys of run[low, high) precede the pivot, plus low; keys equal to it precede it if
// `ties`. The count is expected at `place`, a share of the window; two reads at once see whether it
// is near there.
template <class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint32_t rank_in_window(
    const Key* run, std::uint32_t low, std::uint32_t high, Key pivot, bool ties, float place) {
  if (!ties) {
    if (pivot == 0) return low;
    --pivot;
  }
  const auto precedes = [&](Key key) { return key <= pivot; };
  constexpr std::uint32_t kWideWindow = 64;
  if (high - low > kWideWindow) {
    const auto width = static_cast<float>(high - low);
    const auto expected = static_cast<std::uint32_t>(width * place);
    const auto spread = static_cast<std::uint32_t>(2.0F * rough_root(width));
    const std::uint32_t left = low + (expected > spread ? expected - spread : 0);
    const std::uint32_t reach = left + 2 * spread;
    const std::uint32_t right = reach < high ? reach : high - 1;
    const bool left_precedes = precedes(run[left]);
    const bool right_precedes = precedes(run[right]);
    if (!left_precedes) {
      high = left;
    } else if (!right_precedes) {
      low = left + 1;
      high = right;
    } else {
      low = right + 1;
    }
  }
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (precedes(run[middle])) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Of `open` keys in all windows, `missing` belong to the prefix. Where to look for the next pivot,
// as a share of the windows. `beyond`: the last pivot cut off what lies before, so look a little
// behind the expected place.
[[nodiscard]] GSORT_HOST_DEVICE constexpr float pivot_place(std::uint32_t missing,
                                                            std::uint32_t open, bool beyond) {
  const std::uint32_t near = missing < open - missing ? missing : open - missing;
  const float margin = 1.0F + kPivotMargin * rough_root(static_cast<float>(near));
  const float aim = static_cast<float>(missing) + (beyond ? margin : -margin);
  const float place = rough_quotient(aim, static_cast<float>(open));
  return place < 0.0F ? 0.0F : (place > 1.0F ? 1.0F : place);
}

// Narrows the windows until low holds the cuts of output position `rank`.
// Requires: each cut lies in [low, high] of its lane.
template <class Team, class Key>
GSORT_HOST_DEVICE constexpr void kway_select(const Team& team, std::uint32_t rank,
                                             typename Team::template Each<const Key*>& runs,
                                             typename Team::template Each<std::uint32_t>& low,
                                             typename Team::template Each<std::uint32_t>& high) {
  typename Team::template Each<std::uint32_t> width;
  typename Team::template Each<std::uint32_t> count;
  typename Team::template Each<std::uint32_t> pivot;
  typename Team::template Each<Key> pivot_key;
  std::uint32_t before = team.sum(low);  // the sums of low and of high
  std::uint32_t behind = team.sum(high);
  bool beyond = rank - before < behind - rank;
  unsigned slow_rounds = 0;
  while (team.any(before != rank && before != behind)) {
    const bool wants = before != rank && before != behind;
    const std::uint32_t open = behind - before;
    const float place = slow_rounds < 2 ? pivot_place(rank - before, open, beyond) : 0.5F;
    team.each([&](unsigned lane) { width[lane] = high[lane] - low[lane]; });
    const unsigned pivot_lane = team.greatest(width);
    team.each([&](unsigned lane) {
      if (lane != pivot_lane || !wants) return;
      const auto offset = static_cast<std::uint32_t>(static_cast<float>(width[lane]) * place);
      pivot[lane] = low[lane] + (offset < width[lane] ? offset : width[lane] - 1);
      pivot_key[lane] = runs[lane][pivot[lane]];
    });
    const Key key = team.get(pivot_key, pivot_lane);
    team.each([&](unsigned lane) {
      count[lane] = lane == pivot_lane ? pivot[lane] : low[lane];
      if (lane != pivot_lane && wants) {
        count[lane] =
            rank_in_window(runs[lane], low[lane], high[lane], key, lane < pivot_lane, place);
      }
    });
    const std::uint32_t pivot_rank = team.sum(count);
    if (!wants) continue;
    beyond = pivot_rank < rank;
    if (beyond) {
      before = pivot_rank + 1;
    } else {
      behind = pivot_rank;
    }
    team.each([&](unsigned lane) {
      if (!beyond) {
        high[lane] = count[lane];
      } else {
        low[lane] = count[lane] + (lane == pivot_lane ? 1 : 0);
      }
    });
    slow_rounds = behind - before <= open / 2 ? 0 : slow_rounds + 1;
  }
  team.each([&](unsigned lane) {
    if (before != rank) low[lane] = high[lane];
  });
}

// cuts: how many keys of each lane's run are among the first d of all, ties to lower runs.
// Requires: d <= the sum of lengths; all runs together have fewer than 2^31 samples.
template <class Team, class Key>
GSORT_HOST_DEVICE constexpr void kway_cut(const Team& team, std::uint64_t d,
                                          std::uint32_t sample_shift,
                                          typename Team::template Each<SampledRun<Key>>& runs,
                                          typename Team::template Each<std::uint64_t>& cuts) {
  typename Team::template Each<const Key*> keys;
  typename Team::template Each<std::uint32_t> low;
  typename Team::template Each<std::uint32_t> high;
  typename Team::template Each<std::uint32_t> base;
  const std::uint64_t step_less_one = (std::uint64_t{1} << sample_shift) - 1;
  const auto samples_of = [&](std::uint64_t length) {
    return static_cast<std::uint32_t>((length + step_less_one) >> sample_shift);
  };
  team.each([&](unsigned lane) {
    keys[lane] = runs[lane].samples;
    low[lane] = 0;
    high[lane] = samples_of(runs[lane].length);
  });
  const std::uint32_t sample_count = team.sum(high);
  const std::uint32_t least = samples_of(d);
  const auto bound = static_cast<std::uint32_t>((d + Team::kLanes * step_less_one) >> sample_shift);
  const std::uint32_t most = bound < sample_count ? bound : sample_count;
  kway_select<Team, Key>(team, least, keys, low, high);
  team.each([&](unsigned lane) {
    // The window of the cut begins behind the last sample that is surely in the prefix.
    base[lane] = low[lane];
    const std::uint32_t reach = low[lane] + (most - least);
    const std::uint32_t samples = samples_of(runs[lane].length);
    high[lane] = reach < samples ? reach : samples;
  });
  kway_select<Team, Key>(team, most, keys, low, high);
  team.each([&](unsigned lane) {
    const std::uint64_t begin =
        base[lane] == 0 ? 0 : (std::uint64_t{base[lane] - 1} << sample_shift) + 1;
    const std::uint64_t reach = std::uint64_t{low[lane]} << sample_shift;
    const std::uint64_t end = reach < runs[lane].length ? reach : runs[lane].length;
    keys[lane] = runs[lane].keys + begin;
    cuts[lane] = begin;
    low[lane] = 0;
    high[lane] = static_cast<std::uint32_t>(end - begin);
    // What the begins of all lanes leave of d, counted in 32 bits: it is at most a few samples a
    // lane.
    base[lane] = static_cast<std::uint32_t>(begin);
  });
  const std::uint32_t rank = static_cast<std::uint32_t>(d) - team.sum(base);
  kway_select<Team, Key>(team, rank, keys, low, high);
  team.each([&](unsigned lane) { cuts[lane] += low[lane]; });
}

}  // namespace gsort::gpu
