// Tiling: checks that stretches of numbers cover [0, size) exactly once, in any order. Neighbours
// are joined, so its size is the number of gaps, not of stretches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace gsort {

// Not thread-safe.
class Tiling {
 public:
  // Adds [begin, end). Returns false, and adds nothing, if any of it has been added before.
  // Requires: begin <= end.
  [[nodiscard]] bool add(std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return true;
    auto after = stretches_.lower_bound(begin);
    if (after != stretches_.end() && after->first < end) return false;
    if (after != stretches_.begin()) {
      const auto before = std::prev(after);
      if (before->second > begin) return false;
      if (before->second == begin) {
        begin = before->first;
        stretches_.erase(before);
      }
    }
    if (after != stretches_.end() && after->first == end) {
      end = after->second;
      stretches_.erase(after);
    }
    stretches_.emplace(begin, end);
    return true;
  }

  // The parts of [begin, end) that were not added, in order: pairs of begin and end.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps(std::uint64_t begin,
                                                                          std::uint64_t end) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
    auto next = stretches_.upper_bound(begin);
    if (next != stretches_.begin()) begin = std::max(begin, std::prev(next)->second);
    for (; next != stretches_.end() && next->first < end; ++next) {
      gaps.emplace_back(begin, next->first);
      begin = next->second;
    }
    if (begin < end) gaps.emplace_back(begin, end);
    return gaps;
  }

  // Whether all of [0, size), and nothing else, has been added.
  [[nodiscard]] bool covers(std::uint64_t size) const {
    if (size == 0) return stretches_.empty();
    return stretches_.size() == 1 && first_gap() == size && stretches_.begin()->first == 0;
  }

  // The least number that has not been added.
  [[nodiscard]] std::uint64_t first_gap() const {
    if (stretches_.empty() || stretches_.begin()->first != 0) return 0;
    return stretches_.begin()->second;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> stretches_;  // begin -> end, no two of them adjacent
};

}  // namespace gsort
