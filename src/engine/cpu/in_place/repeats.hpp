// Counts how often a bucket's number repeats among neighbours. If most keys go to the bucket of the
// key before them, runs of keys are moved together: key by key, each would wait for the count that
// the one before has just stored.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace gsort::cpu {

// How many numbers equal the one before them. Counts without branches and in the width of the
// numbers, for vector code. Requires: fewer than 2^16 numbers.
inline std::size_t count_repeats(std::span<const std::uint16_t> numbers) {
  std::uint16_t repeats = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    repeats = static_cast<std::uint16_t>(repeats + (numbers[i] == numbers[i - 1] ? 1U : 0U));
  }
  return repeats;
}

// Whether most keys go to the bucket of the key before them, judged by the first ones, because this
// is called for all keys. Runs of two or three do not count: their ends cannot be predicted, and
// their keys are dealt out faster one by one.
inline bool mostly_repeat(std::span<const std::uint16_t> cells, const std::uint16_t* bucket_of) {
  std::uint16_t first[32];
  const std::size_t count = std::min(cells.size(), std::size(first));
  for (std::size_t i = 0; i < count; ++i) first[i] = bucket_of[cells[i]];
  return count_repeats({first, count}) > count * 3 / 4;
}

}  // namespace gsort::cpu
