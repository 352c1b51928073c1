#include "support/expected_output.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include <gtest/gtest.h>

#include "element/counted_keys.hpp"
#include "support/key_values.hpp"
#include "support/stably_sorted.hpp"

namespace gsort::test {
namespace {

std::size_t element_bytes_of(const SortRequest& request) {
  return request.records ? request.records->bytes : bytes_of(request.format.type);
}

Bytes input_of(const SortRequest& request) {
  Bytes all = request.input;
  if (!request.merged.empty()) all.clear();
  for (const Bytes& input : request.merged) all.insert(all.end(), input.begin(), input.end());
  return all;
}

// Equal floats get the same bits.
Bytes alike(const Bytes& keys, const KeyFormat& format) {
  Bytes same;
  with_value_named(name_of(format.type), [&](auto value) {
    auto values = numbers_in<decltype(value)>(keys, format.big_endian);
    std::ranges::for_each(values, make_alike<decltype(value)>);
    same = raw_of(values, format.big_endian);
  });
  return same;
}

Bytes sorted(const SortRequest& request, const Bytes& elements) {
  return request.records ? stably_sorted(elements, *request.records)
                         : sorted_copy(elements, request.format);
}

// The first of each group of equal elements. With `min_count`: of groups of at least so many, each
// followed by its count.
Bytes distinct(const SortRequest& request, const Bytes& elements,
               std::optional<std::uint64_t> min_count = {}) {
  const std::size_t bytes = element_bytes_of(request);
  const std::optional<RecordOrder> order =
      request.records ? std::optional<RecordOrder>(*request.records) : std::nullopt;
  const Bytes classes = order ? Bytes() : alike(elements, request.format);
  const auto equal = [&](std::size_t a, std::size_t b) {
    return order ? order->compare(&elements[a], &elements[b]) == 0
                 : std::memcmp(&classes[a], &classes[b], bytes) == 0;
  };
  Bytes all;
  for (std::size_t at = 0, next = 0; at < elements.size(); at = next) {
    for (next = at + bytes; next < elements.size() && equal(at, next);) next += bytes;
    const std::uint64_t count = (next - at) / bytes;
    if (count < min_count.value_or(1)) continue;
    all.insert(all.end(), &elements[at], &elements[at] + bytes);
    if (!min_count) continue;
    const Bytes raw = raw_of(std::vector{count}, request.format.big_endian);
    all.insert(all.end(), raw.begin(), raw.end());
  }
  return all;
}

// The positions of the sorted keys in the input; equal keys keep its order.
std::vector<std::uint32_t> positions_of(const SortRequest& request) {
  std::vector<std::uint32_t> positions(request.input.size() / element_bytes_of(request));
  std::iota(positions.begin(), positions.end(), 0U);
  with_value_named(name_of(request.format.type), [&](auto value) {
    const auto keys = numbers_in<decltype(value)>(request.input, request.format.big_endian);
    const auto compare = [&](std::uint32_t left, std::uint32_t right) {
      return request.format.descending ? compare_numbers(keys[right], keys[left])
                                       : compare_numbers(keys[left], keys[right]);
    };
    std::ranges::stable_sort(positions, [&](auto a, auto b) { return compare(a, b) < 0; });
    if (!request.unique) return;
    const auto equal = [&](auto a, auto b) { return compare(a, b) == 0; };
    positions.erase(std::unique(positions.begin(), positions.end(), equal), positions.end());
  });
  return positions;
}

// The output without `top`.
Bytes whole_output(const SortRequest& request) {
  if (request.argsort) return raw_of(positions_of(request), request.format.big_endian);
  const Bytes input = input_of(request);
  if (request.batch_elements) {
    return sorted_arrays(input, *request.batch_elements * element_bytes_of(request),
                         [&](const Bytes& array) { return sorted(request, array); });
  }
  if (request.min_count) {
    const Bytes keys = sorted(request, alike(input, request.format));
    return distinct(request, keys, request.min_count);
  }
  const Bytes all = sorted(request, input);
  return request.unique ? distinct(request, all) : all;
}

std::size_t result_bytes(const SortRequest& request) {
  if (request.argsort) return sizeof(std::uint32_t);
  return element_bytes_of(request) + (request.min_count ? kCountBytes : 0);
}

}  // namespace

Bytes expected_output(const SortRequest& request) {
  Bytes output = whole_output(request);
  if (request.top) {
    output.resize(std::min<std::uint64_t>(output.size(), *request.top * result_bytes(request)));
  }
  return output;
}

void expect_right(const SortRequest& request, const SortResult& result) {
  ASSERT_FALSE(result.error) << result.error->what();
  ASSERT_TRUE(result.output.has_value());
  const Bytes wanted = expected_output(request);
  EXPECT_TRUE(*result.output == wanted);
  EXPECT_TRUE(result.left_in_temporary.empty());
  EXPECT_TRUE(result.left_in_folder.empty());
  const std::uint64_t bytes = input_of(request).size();
  const Outcome& outcome = result.outcome;
  EXPECT_EQ(outcome.elements, bytes / element_bytes_of(request));
  EXPECT_EQ(outcome.bytes, bytes);
  EXPECT_EQ(outcome.output_elements, wanted.size() / result_bytes(request));
  EXPECT_EQ(outcome.verified, request.verify);
  EXPECT_EQ(outcome.fingerprint.count, outcome.elements);
  if (!request.from_pipe) {
    EXPECT_LE(outcome.peak_spilled_bytes, result.plan.temporary_bytes);
  }
}

SortResult expect_right(const SortRequest& request) {
  SortResult result = sort_in_folder(request);
  expect_right(request, result);
  return result;
}

}  // namespace gsort::test
