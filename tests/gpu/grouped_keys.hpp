// Keys far apart, some of them in groups: the keys of a group differ only in their last bits, so a
// short word has the same part of each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace gsort::gpu {

struct Grouping {
  std::size_t group = 1;
  unsigned percent = 0;    // of keys in groups
  std::size_t window = 1;  // the order of this many neighbours is random

  [[nodiscard]] std::string words() const {
    return std::to_string(percent) + "% in " + std::to_string(group);
  }
};

template <class Key>
std::vector<Key> grouped_keys(std::size_t count, const Grouping& grouping) {
  const auto& [group, percent, window] = grouping;
  std::mt19937_64 random(group * 100 + percent);
  std::vector<Key> keys;
  while (keys.size() < count) {
    const auto base = static_cast<Key>(random());
    const bool alone = random() % (group * 100) >= percent;
    for (std::size_t i = 0; i < (alone ? 1 : group) && keys.size() < count; ++i) {
      keys.push_back(static_cast<Key>(base + random() % 16));
    }
  }
  for (std::size_t begin = 0; begin < count; begin += window) {
    const std::size_t end = std::min(begin + window, count);
    std::shuffle(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                 keys.begin() + static_cast<std::ptrdiff_t>(end), random);
  }
  return keys;
}

// Calls test(grouping, keys) for groups of many kinds.
template <class Key, class Test>
void for_each_grouping(const Test& test) {
  for (const std::size_t count : {20001U, 150001U}) {
    for (const std::size_t group : {2U, 5U, 24U, 25U, 100U}) {
      for (const unsigned percent : {1U, 5U, 20U, 100U}) {
        for (const std::size_t window : {std::size_t{2000}, std::size_t{8192}, count}) {
          const Grouping grouping{group, percent, window};
          test(grouping, grouped_keys<Key>(count, grouping));
        }
      }
    }
  }
}

}  // namespace gsort::gpu
