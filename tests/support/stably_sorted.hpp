// The reference for sorts of records: std::stable_sort by their normalised keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "element/record.hpp"

namespace gsort::test {

[[nodiscard]] inline std::vector<std::byte> stably_sorted(const std::vector<std::byte>& records,
                                                          const RecordFormat& format) {
  const RecordOrder order(format);
  const std::size_t bytes = format.bytes;
  std::vector<std::string> keys(records.size() / bytes);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = order.normalised_key(records.data() + i * bytes);
  }
  std::vector<std::size_t> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::vector<std::byte> sorted(records.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::memcpy(sorted.data() + i * bytes, records.data() + numbers[i] * bytes, bytes);
  }
  return sorted;
}

}  // namespace gsort::test
