// Counts how often a bucket's number repeats among neighbours. If most keys go to the bucket of the
// key before them, runs of keys are moved together: key by key, each would wait for the count that
// the one before has just stored.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gsort::cpu {

// The number of numbers that equal the one before them. Counts without branches and in the width of
// the numbers, for vector code. Requires: fewer than 2^16 numbers.
inline std::size_t count_repeats(std::span<const std::uint16_t> numbers) {
  std::uint16_t repeats = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    repeats = static_cast<std::uint16_t>(repeats + (numbers[i] == numbers[i - 1] ? 1U : 0U));
  }
  return repeats;
}

// Whether most numbers repeat, judged by the first ones, because this is called for all keys. Runs
// of two or three do not count: their ends cannot be predicted, and their keys are dealt out faster
// one by one.
inline bool mostly_repeat(std::span<const std::uint16_t> numbers) {
  const auto first = numbers.first(std::min<std::size_t>(numbers.size(), 32));
  return count_repeats(first) > first.size() * 3 / 4;
}

}  // namespace gsort::cpu
