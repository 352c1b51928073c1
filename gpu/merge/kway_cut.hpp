// kway_cut: the exact cuts of several sorted runs for one output position, by a team with a lane a
// run.
//
// Problem. A tile of a merge pass must know its slice of each run. Bisecting every run in device
// memory takes hundreds of dependent reads, each of a sector that nothing else needs.
//
// Idea. All keys have one total order: by key, then run, then position; so there are no ties. Of
// each run take every 2^l-th key, from the first on: the elements of level l. A cut of level l
// splits these into the first m and the rest. One of level l - 1 follows from it: every run has one
// more element between the two around its cut, and those that precede the greatest element of the
// prefix are part of the prefix, too. The result is a prefix of 2m elements less the runs whose
// new element was left out, and only a few elements off the size that is wanted: they change sides
// one by one, the least of those behind or the greatest of those before. The sizes that are wanted
// expect w new elements to be left out, half of them or one more: of level l,
// m = (d + w * (2^l - 1)) / 2^l. Any w would do; it decides how many elements change sides.
// So each level reads one key a run, and a few more. On level 0 the cut is exact.
//
// Levels from S upwards are read from samples, every S-th key of each run, kept together in a small
// array. Long runs would take many levels: so first pivots, keys of one run that are looked up in
// all others at once, narrow windows of samples until none is wider than 2^kNearLevel; the levels
// begin there, inside the windows. A pivot's rank is known exactly; if it is below m, all windows
// lose what lies before it, else what lies behind. It comes from the widest window, a little beyond
// the place where the cut is expected if keys are spread evenly: beyond it as seen from the side
// that the last pivot cut off, so that the next pivot cuts off the other side. After pivots that
// did not halve the windows, it comes from the middle, which bounds the rounds for any keys.
//
// Example. Two runs: run 0 = 1 3 5 7, run 1 = 2 4 6 8; d = 5 (the prefix is 1 2 3 4 5).
//   level 1: elements 1 5 | 2 6, w = 1, m = (5 + 1) / 2 = 3: the prefix is 1 2 5, the cuts 4 and 2.
//   level 0: new elements 7 and 4; the greatest of the prefix is 5, so 4 belongs to it and 7 does
//   not: cuts 3 and 2, five keys, as wanted.
//
// Cost. A level is one read in each run and two looks at what all lanes hold, and about one and a
// half changes of sides for eight runs; evenly spread keys take two pivots. A pivot is one binary
// search in every window. Source. P. Varman et al., JPDC 12(2), 1991,
// doi:10.1016/0743-7315(91)90022-2; see also element/kway_split.hpp, which bisects on values.
#pragma once

#include <bit>
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
  template <class Key>
  [[nodiscard]] constexpr Key least(Each<Key>& each) const {
    Key found = each[0];
    for (unsigned lane = 1; lane < kRuns; ++lane) found = each[lane] < found ? each[lane] : found;
    return found;
  }
  // Bit i: what lane i says.
  [[nodiscard]] constexpr std::uint32_t ballot(Each<bool>& each) const {
    std::uint32_t bits = 0;
    for (unsigned lane = 0; lane < kRuns; ++lane) bits |= (each[lane] ? 1U : 0U) << lane;
    return bits;
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
// there. Keys: a pointer, or what reads keys in its place (merge_pass.hpp).
template <class Key, class Keys = const Key*>
struct SampledRun {
  Keys keys{};
  Keys samples{};
  std::uint64_t length = 0;
};

// The distance of pivots from the expected place, in square roots of the keys in between; found by
// simulation.
inline constexpr float kPivotMargin = 0.5F;

// About the square root of value + 1; exactness does not matter.
[[nodiscard]] GSORT_HOST_DEVICE constexpr float rough_root(float value) {
#ifdef __CUDA_ARCH__
  return (value + 1.0F) * rsqrtf(value + 1.0F);
#else
  float root = 1.0F;
  while (root * root < value) root *= 2.0F;
  return root;
#endif
}

[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint32_t count_bits(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__popc(static_cast<int>(bits)));
#else
  return static_cast<std::uint32_t>(std::popcount(bits));
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
template <class Key, class Keys>
[[nodiscard]] GSORT_HOST_DEVICE constexpr std::uint32_t rank_in_window(Keys run, std::uint32_t low,
                                                                       std::uint32_t high,
                                                                       Key pivot, bool ties,
                                                                       float place) {
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

// `missing` of the `open` keys in all windows belong to the prefix. Returns where to look for the
// next pivot, as a share of the windows. `beyond`: the last pivot cut off the keys before it, so
// look a little behind the expected place.
[[nodiscard]] GSORT_HOST_DEVICE constexpr float pivot_place(std::uint32_t missing,
                                                            std::uint32_t open, bool beyond) {
  const std::uint32_t near = missing < open - missing ? missing : open - missing;
  const float margin = 1.0F + kPivotMargin * rough_root(static_cast<float>(near));
  const float aim = static_cast<float>(missing) + (beyond ? margin : -margin);
  const float place = rough_quotient(aim, static_cast<float>(open));
  return place < 0.0F ? 0.0F : (place > 1.0F ? 1.0F : place);
}

// Windows of at most this many elements are left to the levels.
inline constexpr unsigned kNearLevel = 5;

// The windows that pivots narrow: the cuts lie in [low, high] of the lanes, and `before` is the sum
// of low.
template <class Team>
struct CutWindows {
  typename Team::template Each<std::uint32_t> low;
  typename Team::template Each<std::uint32_t> high;
  std::uint32_t before = 0;
};

// Narrows the windows around the cuts of `rank` until none is wider than 2^kNearLevel.
template <class Team, class Key, class Keys>
GSORT_HOST_DEVICE constexpr void kway_narrow(const Team& team, std::uint32_t rank,
                                             typename Team::template Each<Keys>& runs,
                                             CutWindows<Team>& windows) {
  typename Team::template Each<std::uint32_t> width;
  typename Team::template Each<std::uint32_t> count;
  typename Team::template Each<std::uint32_t> pivot;
  typename Team::template Each<Key> pivot_key;
  auto& low = windows.low;
  auto& high = windows.high;
  windows.before = team.sum(low);
  std::uint32_t behind = team.sum(high);
  bool beyond = rank - windows.before < behind - rank;
  unsigned slow_rounds = 0;
  for (;;) {
    team.each([&](unsigned lane) { width[lane] = high[lane] - low[lane]; });
    const unsigned pivot_lane = team.greatest(width);
    const bool wants = team.get(width, pivot_lane) > (1U << kNearLevel);
    if (!team.any(wants)) return;
    const std::uint32_t open = behind - windows.before;
    const float place = slow_rounds < 2 ? pivot_place(rank - windows.before, open, beyond) : 0.5F;
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
      windows.before = pivot_rank + 1;
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
    slow_rounds = behind - windows.before <= open / 2 ? 0 : slow_rounds + 1;
  }
}

// A run's cut on one level, whose elements are `step` places apart. Places count from `elements`,
// which lies somewhere in the run.
template <class Key, class Keys>
struct LevelCut {
  Keys elements{};
  std::int32_t low = 0;   // where the run begins, or a place far before
  std::int32_t high = 0;  // where it ends, or a place far behind
  std::int32_t cut = 0;   // a multiple of the step; may lie behind `high`
  Key left = 0;           // the last element of the prefix, if cut > low
  Key right = 0;          // the first one behind it, if cut < high
};

// From a cut of the level with twice the step, whose prefix has `size` elements, to one of this
// level. Returns: the size of its prefix.
template <class Team, class Key, class Keys>
GSORT_HOST_DEVICE constexpr std::uint32_t kway_halve(
    const Team& team, typename Team::template Each<LevelCut<Key, Keys>>& cuts, std::int32_t step,
    std::uint32_t size) {
  typename Team::template Each<Key> offer;
  typename Team::template Each<bool> says;
  team.each([&](unsigned lane) {
    says[lane] = cuts[lane].cut > cuts[lane].low;
    offer[lane] = says[lane] ? static_cast<Key>(~cuts[lane].left) : static_cast<Key>(~Key{0});
  });
  const auto greatest = static_cast<Key>(~team.least(offer));
  team.each([&](unsigned lane) { says[lane] = says[lane] && cuts[lane].left == greatest; });
  const std::uint32_t ties = team.ballot(says);
  team.each([&](unsigned lane) {
    LevelCut<Key, Keys>& cut = cuts[lane];
    says[lane] = false;  // that the new element is left out
    if (cut.cut <= cut.low) return;
    const std::int32_t place = cut.cut - step;
    const bool exists = place < cut.high;
    const Key key = exists ? cut.elements[place] : Key{0};
    const bool ties_precede = (ties >> lane >> 1) != 0;  // equal keys of this run, that is
    if (exists && (key < greatest || (key == greatest && ties_precede))) {
      cut.left = key;
    } else {
      cut.cut = place;
      cut.right = key;
      says[lane] = true;
    }
  });
  return 2 * size - count_bits(team.ballot(says));
}

// Lets the least elements behind the cuts join the prefix, as many as it misses; or the greatest
// leave it, if `missing` is negative. Returns how many it still misses if there are no more.
template <class Team, class Key, class Keys>
GSORT_HOST_DEVICE constexpr std::int32_t kway_change_sides(
    const Team& team, typename Team::template Each<LevelCut<Key, Keys>>& cuts, std::int32_t step,
    std::int32_t missing) {
  // Elements go from the outer side to the inner one. Leaving ones are complemented, so that
  // the greatest is the least.
  const bool forward = missing > 0;
  const Key flip = forward ? Key{0} : static_cast<Key>(~Key{0});
  const std::int32_t stride = forward ? step : -step;
  typename Team::template Each<Key> outer;
  typename Team::template Each<Key> inner;
  typename Team::template Each<std::int32_t> place;  // of the outer element
  typename Team::template Each<std::int32_t> room;
  typename Team::template Each<Key> offer;
  typename Team::template Each<bool> offers;
  typename Team::template Each<std::uint32_t> first_lanes;  // whose equal keys go before
  team.each([&](unsigned lane) {
    const LevelCut<Key, Keys>& cut = cuts[lane];
    outer[lane] = (forward ? cut.right : cut.left) ^ flip;
    inner[lane] = (forward ? cut.left : cut.right) ^ flip;
    place[lane] = forward ? cut.cut : cut.cut - step;
    room[lane] = forward ? cut.high - cut.cut : cut.cut - cut.low;
    first_lanes[lane] = forward ? (1U << lane) - 1 : ~((2U << lane) - 1);
  });
  std::int32_t left = forward ? missing : -missing;
  std::int32_t changed = 0;
  while (team.any(left != 0)) {
    team.each([&](unsigned lane) {
      offers[lane] = left != 0 && room[lane] > 0;
      offer[lane] = offers[lane] ? outer[lane] : static_cast<Key>(~Key{0});
    });
    const Key best = team.least(offer);
    team.each([&](unsigned lane) { offers[lane] = offers[lane] && offer[lane] == best; });
    const std::uint32_t ties = team.ballot(offers);
    team.each([&](unsigned lane) {
      if (!offers[lane] || (ties & first_lanes[lane]) != 0) return;
      inner[lane] = outer[lane];
      room[lane] -= step;
      place[lane] += stride;
      if (room[lane] > 0) outer[lane] = cuts[lane].elements[place[lane]] ^ flip;
    });
    changed += ties != 0 ? 1 : 0;
    left = ties != 0 ? left - 1 : 0;
  }
  team.each([&](unsigned lane) {
    LevelCut<Key, Keys>& cut = cuts[lane];
    cut.left = (forward ? inner[lane] : outer[lane]) ^ flip;
    cut.right = (forward ? outer[lane] : inner[lane]) ^ flip;
    cut.cut = forward ? place[lane] : place[lane] + step;
  });
  return missing - (forward ? changed : -changed);
}

// From a cut of `level` to one of level 0, by way of all between. `size` counts the elements of its
// prefix, wanted(level) those that it shall have.
template <class Team, class Key, class Keys, class Wanted>
GSORT_HOST_DEVICE constexpr void kway_refine(
    const Team& team, typename Team::template Each<LevelCut<Key, Keys>>& cuts, unsigned level,
    std::uint32_t size, const Wanted& wanted) {
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  while (level-- > 0) {
    const auto step = static_cast<std::int32_t>(1U << level);
    size = kway_halve<Team, Key, Keys>(team, cuts, step, size);
    const auto missing = static_cast<std::int32_t>(wanted(level) - size);
    size = wanted(level) - static_cast<std::uint32_t>(
                               kway_change_sides<Team, Key, Keys>(team, cuts, step, missing));
  }
}

// The size of the prefix that is wanted on a level, if `size` is wanted on level 0 and each level
// is expected to leave `left_out` new elements out.
template <class Size>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Size level_size(Size size, unsigned left_out,
                                                          unsigned level) {
  return static_cast<Size>(size + static_cast<Size>(left_out) * ((Size{1} << level) - 1)) >> level;
}

// cuts: how many keys of each lane's run are among the first d of all, ties to lower runs.
// Requires: d <= the sum of lengths; all runs together have fewer than 2^31 samples.
template <class Team, class Key, class Keys = const Key*>
GSORT_HOST_DEVICE constexpr void kway_cut(const Team& team, std::uint64_t d,
                                          std::uint32_t sample_shift,
                                          typename Team::template Each<SampledRun<Key, Keys>>& runs,
                                          typename Team::template Each<std::uint64_t>& cuts) {
  constexpr unsigned kLeftOut = Team::kLanes / 2 + 1;  // half of them, and the greatest run's
  typename Team::template Each<Keys> samples;
  typename Team::template Each<std::uint32_t> counts;  // of samples
  typename Team::template Each<LevelCut<Key, Keys>> near;
  CutWindows<Team> windows;
  team.each([&](unsigned lane) {
    const std::uint64_t step_less_one = (std::uint64_t{1} << sample_shift) - 1;
    samples[lane] = runs[lane].samples;
    counts[lane] = static_cast<std::uint32_t>((runs[lane].length + step_less_one) >> sample_shift);
    windows.low[lane] = 0;
    windows.high[lane] = counts[lane];
  });
  const std::uint32_t all = team.sum(counts);
  const auto bound = static_cast<std::uint32_t>(level_size(d, kLeftOut, sample_shift));
  const std::uint32_t rank = bound < all ? bound : all;
  kway_narrow<Team, Key, Keys>(team, rank, samples, windows);

  // On the level above the first no run has an element.
  team.each([&](unsigned lane) {
    LevelCut<Key, Keys>& cut = near[lane];
    cut.elements = samples[lane] + windows.low[lane];
    cut.high = static_cast<std::int32_t>(windows.high[lane] - windows.low[lane]);
    if (cut.high > 0) cut.right = cut.elements[0];
  });
  const std::uint32_t inner = rank - windows.before;
  const auto wanted_samples = [&](unsigned level) {
    return level_size(inner, Team::kLanes / 2, level);
  };
  const std::int32_t begin =
      kway_change_sides<Team, Key, Keys>(team, near, std::int32_t{1} << kNearLevel,
                                         static_cast<std::int32_t>(wanted_samples(kNearLevel)));
  kway_refine<Team, Key, Keys>(team, near, kNearLevel,
                               wanted_samples(kNearLevel) - static_cast<std::uint32_t>(begin),
                               wanted_samples);

  // The keys around the samples; beyond a window's end there may be more.
  constexpr std::uint64_t kFar = std::uint64_t{1} << 20;
  team.each([&](unsigned lane) {
    LevelCut<Key, Keys>& cut = near[lane];
    const std::uint32_t before = windows.low[lane] + static_cast<std::uint32_t>(cut.cut);
    if (cut.cut == 0 && before > 0) cut.left = samples[lane][before - 1];
    if (cut.cut == cut.high && before < counts[lane]) cut.right = samples[lane][before];
    const std::uint64_t place = std::uint64_t{before} << sample_shift;
    const std::uint64_t length = runs[lane].length;
    cuts[lane] = place;
    cut.elements = runs[lane].keys + place;
    cut.low = -static_cast<std::int32_t>(place < kFar ? place : kFar);
    cut.high = static_cast<std::int32_t>(length < place + kFar ? length - place : kFar);
    cut.cut = 0;
  });
  // Beyond those that the samples of the prefix stand for; it is at most a few samples a lane.
  const auto excess = static_cast<std::int32_t>(d - (std::uint64_t{rank} << sample_shift));
  kway_refine<Team, Key, Keys>(team, near, sample_shift, rank, [&](unsigned level) {
    return (rank << (sample_shift - level)) +
           static_cast<std::uint32_t>(level_size(excess, kLeftOut, level));
  });
  team.each([&](unsigned lane) {
    cuts[lane] += static_cast<std::uint64_t>(std::int64_t{near[lane].cut});
  });
}

}  // namespace gsort::gpu
