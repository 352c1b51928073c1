// kway_split: the co-rank of K sorted runs. For an output position d it finds exactly how many
// elements each run gives to the first d of the merged output; ties go to lower runs.
//
// Problem. The parts of the output are merged independently, so each part must know its slice of
// every run. Sampling gives slices of uneven size and fails when one key repeats more often than a
// part holds.
//
// Idea. Bisect on the value of the key, not on positions. For a value v let c(v) be how many
// elements of all runs are <= v. The least v with c(v) >= d is the last key of the prefix. Every
// run keeps a window [low, high) in which its cut must lie; each probe halves the value range and
// narrows all windows, so the binary searches get shorter as v closes in. In the end low[i] counts
// the elements of run i below v and high[i] those up to v; what is still missing from d are ties of
// v, dealt out to lower runs first.
//
// Example. Runs 1 4 4 9 | 2 4 8 | 4 4 5, d = 6. Keys in order: 1 2 4 4 4 4 4 5 8 9.
//   v = 5: c = 8 >= 6, so v <= 5, windows [0,3) [0,2) [0,3)
//   v = 3: c = 2 <  6, so v >= 4, windows [1,3) [1,2) [0,3)
//   v = 4: c = 7 >= 6, so v == 4, windows [1,3) [1,2) [0,2)
//   below 4: 1 + 1 + 0 = 2; four ties are missing: two from run 0, one from run 1, one from run 2.
//   cuts 3 2 1: the prefix is 1 4 4 | 2 4 | 4.
//
// Cost. At most W + 2 probes for keys of W bits, each K binary searches over shrinking windows. A
// probe asks all runs at once, so that it can be one message if runs lie on other machines.
//
// Source. P. Varman, S. Scheufler, B. Iyer, G. Ricard, "Merging multiple lists on
// hierarchical-memory multiprocessors", JPDC 12(2), 1991, doi:10.1016/0743-7315(91)90022-2, bisects
// on positions; bisecting on the value makes ties cheap and allows fences to answer the first
// probes.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace gsort {

// How many keys of the sorted range keys[low, high) are <= value, plus low.
template <class Index, class Keys, class Key>
[[nodiscard]] GSORT_HOST_DEVICE constexpr Index upper_bound_in(const Keys& keys, Index low,
                                                               Index high, Key value) {
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (value < keys[middle]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Narrows the brackets of all runs to the ties of the key at the cut: on return low[i] counts the
// elements of run i below that key, high[i] those up to it. Returns the sum of low.
//
// `count_all(value, low, high, counts)` sets counts[i], for all runs, to how many elements of run i
// are <= value, knowing that the answer, or the useful part of it, lies in [low[i], high[i]]; it
// may read memory, fences or disk. `low` and `high` bracket the cut of every run: 0 and the element
// count, or the results of a neighbouring split or of the fences. `probe` is scratch. All three
// have run_count entries, and none of them overlap. Requires: d lies between the sums of low and
// high; value_low <= the key at the cut <= value_high.
template <class Key, class Index, class CountAll>
GSORT_HOST_DEVICE constexpr Index kway_ties(Index d, std::uint32_t run_count, Key value_low,
                                            Key value_high, Index* low, Index* high, Index* probe,
                                            const CountAll& count_all) {
  const auto take_probe = [&](Index* to) {
    for (std::uint32_t run = 0; run < run_count; ++run) to[run] = probe[run];
  };
  while (value_low < value_high) {
    const Key value = static_cast<Key>(value_low + (value_high - value_low) / 2);
    count_all(value, low, high, probe);
    Index total = 0;
    for (std::uint32_t run = 0; run < run_count; ++run) total += probe[run];
    const bool enough = total >= d;
    if (enough) {
      value_high = value;
    } else {
      value_low = static_cast<Key>(value + 1);
    }
    take_probe(enough ? high : low);
  }
  // The brackets may come from a coarse search: now count the elements below the value, and up to
  // it, exactly.
  count_all(value_low, low, high, probe);
  take_probe(high);
  if (value_low > 0) {
    count_all(static_cast<Key>(value_low - 1), low, high, probe);
    take_probe(low);
  }
  Index below = 0;
  for (std::uint32_t run = 0; run < run_count; ++run) below += low[run];
  return below;
}

// Finds the cuts of `run_count` runs for output position `d`; everything as for kway_ties.
// Ensures: low[i] is the cut of run i; the sum of low == d; the keys before the cuts, ties from
// lower runs first, are the first d of the stable merge.
template <class Key, class Index, class CountAll>
GSORT_HOST_DEVICE constexpr void kway_split(Index d, std::uint32_t run_count, Key value_low,
                                            Key value_high, Index* low, Index* high, Index* probe,
                                            const CountAll& count_all) {
  auto below =
      kway_ties<Key, Index>(d, run_count, value_low, value_high, low, high, probe, count_all);
  for (std::uint32_t run = 0; run < run_count && below < d; ++run) {
    const Index ties = high[run] - low[run];
    const Index taken = ties < d - below ? ties : d - below;
    low[run] += taken;
    below += taken;
  }
}

}  // namespace gsort
