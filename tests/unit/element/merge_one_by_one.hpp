// The obvious co-rank of K runs: merges the runs key by key and counts what each of them gives. And
// runs to try it with.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gsort::test {

using Cuts = std::vector<std::uint64_t>;

// Moves the cuts of d elements to those of d + 1. Requires: not all keys are taken.
template <class Key>
void take_the_next(const std::vector<std::vector<Key>>& runs, Cuts& cuts) {
  std::size_t best = runs.size();
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (cuts[run] == runs[run].size()) continue;
    if (best == runs.size() || runs[run][cuts[run]] < runs[best][cuts[best]]) best = run;
  }
  ++cuts[best];
}

// How many keys each run gives to the first `d` of the stable merge, ties from lower runs first.
// Requires: every run is ascending; d is at most the sum of their lengths.
template <class Key>
[[nodiscard]] Cuts merge_one_by_one(const std::vector<std::vector<Key>>& runs, std::uint64_t d) {
  Cuts cuts(runs.size(), 0);
  for (std::uint64_t taken = 0; taken < d; ++taken) take_the_next(runs, cuts);
  return cuts;
}

// All ascending runs with at most `most` keys of three values, which ascend.
template <class Key>
[[nodiscard]] std::vector<std::vector<Key>> all_runs(std::size_t most,
                                                     const std::array<Key, 3>& values) {
  std::vector<std::vector<Key>> runs = {{}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].size() == most) continue;
    for (const Key value : values) {
      if (!runs[i].empty() && value < runs[i].back()) continue;
      std::vector<Key> longer = runs[i];
      longer.push_back(value);
      runs.push_back(longer);
    }
  }
  return runs;
}

}  // namespace gsort::test
