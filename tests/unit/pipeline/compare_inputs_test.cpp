// --intersect and --subtract against the standard library: every type, windows that are much
// shorter than the inputs, repeats, inputs that are empty, equal or lie apart.
#include "pipeline/compare_inputs.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "form/equal_floats.hpp"
#include "support/sort_run.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::SetOperation;
using Inputs = std::vector<std::vector<std::uint64_t>>;  // ordered keys

constexpr SetOperation kOperations[] = {SetOperation::kIntersect, SetOperation::kSubtract};

Bytes raw_keys(const std::vector<std::uint64_t>& keys, const KeyFormat& format) {
  return with_key_of_width(bytes_of(format.type), [&](auto width) {
    using Key = decltype(width);
    const auto map = KeyMap<Key>::of(format);
    std::vector<Key> raw;
    for (const std::uint64_t key : keys) raw.push_back(map.to_raw(static_cast<Key>(key)));
    const auto bytes = std::as_bytes(std::span<const Key>(raw));
    return Bytes(bytes.begin(), bytes.end());
  });
}

std::vector<std::uint64_t> expected_keys(const Inputs& inputs, SetOperation operation) {
  std::vector<std::uint64_t> keys = inputs.front();
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    std::vector<std::uint64_t> stay;
    if (operation == SetOperation::kIntersect) {
      std::ranges::set_intersection(keys, inputs[i], std::back_inserter(stay));
    } else {
      std::vector<std::uint64_t> others = inputs[i];
      others.erase(std::unique(others.begin(), others.end()), others.end());
      std::ranges::set_difference(keys, others, std::back_inserter(stay));
    }
    keys = stay;
  }
  return keys;
}

// Windows of two pages, pieces of a few keys: every border is met.
void use_small_sizes(Plan& plan) {
  auto& sizes = std::get<SetPlan>(plan.strategy);
  sizes.window_bytes = 8 * kKiB;
  sizes.piece_bytes = 256;
}

test::SortRequest request_of(const Inputs& inputs, const KeyFormat& format,
                             SetOperation operation) {
  test::SortRequest request;
  request.format = format;
  for (const auto& keys : inputs) request.merged.push_back(raw_keys(keys, format));
  request.set_operation = operation;
  request.budget = "16M";
  return request;
}

// Equal floats become the same float.
Inputs alike(Inputs inputs, const KeyFormat& format) {
  for (std::vector<std::uint64_t>& keys : inputs) {
    Bytes raw = raw_keys(keys, format);
    make_equal_floats_alike(raw, bytes_of(format.type), floats_in_numeric_order({format, {}}));
    const Bytes ordered = test::to_ordered(raw, format);
    const std::size_t bytes = bytes_of(format.type);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      keys[i] = 0;
      std::memcpy(&keys[i], ordered.data() + i * bytes, std::min(bytes, sizeof keys[i]));
    }
  }
  return inputs;
}

void expect_right(const test::SortRequest& request, const Inputs& inputs) {
  const auto keys = expected_keys(alike(inputs, request.format), request.set_operation);
  const test::SortResult result = test::sort_in_folder(request);
  ASSERT_FALSE(result.error) << result.error->what();
  EXPECT_TRUE(result.plan.is<SetPlan>());
  EXPECT_TRUE(result.output == raw_keys(keys, request.format)) << keys.size() << " keys";
  EXPECT_EQ(result.outcome.output_elements, keys.size());
  std::uint64_t read = 0;
  for (const auto& input : inputs) read += input.size();
  EXPECT_EQ(result.outcome.elements, read);
}

void expect_right(const Inputs& inputs, const KeyFormat& format) {
  for (const SetOperation operation : kOperations) {
    for (const bool small : {false, true}) {
      auto request = request_of(inputs, format, operation);
      if (small) request.change_plan = use_small_sizes;
      expect_right(request, inputs);
    }
  }
}

class AnyInputs {
 public:
  // `count` ascending keys of the type's width, of at most `values` values.
  std::vector<std::uint64_t> keys(std::size_t count, std::uint64_t values,
                                  const KeyFormat& format) {
    const auto bytes = std::min<unsigned>(8, static_cast<unsigned>(bytes_of(format.type)));
    const unsigned spare = 64 - 8 * bytes;
    const std::uint64_t most = ~std::uint64_t{0} >> spare;
    std::vector<std::uint64_t> keys(count);
    for (std::uint64_t& key : keys) {
      const std::uint64_t value = random_() % std::min(values, most);
      key = random_() % 2 == 0 ? value : most - value;
    }
    std::ranges::sort(keys);
    return keys;
  }
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

 private:
  std::mt19937_64 random_{11};
};

TEST(CompareInputs, IsRightForEveryTypeAndOrder) {
  AnyInputs any;
  for (const KeyType type : kAllKeyTypes) {
    for (const KeyFormat& format : test::formats_of(type)) {
      SCOPED_TRACE(test::words_of(format));
      const std::uint64_t values = std::uint64_t{1} << (4 + any.below(12));
      Inputs inputs(2 + any.below(4));
      for (auto& keys : inputs) keys = any.keys(any.below(20'000), values, format);
      expect_right(inputs, format);
    }
  }
}

TEST(CompareInputs, IsRightWhereInputsAreEmptyEqualOrApart) {
  AnyInputs any;
  const KeyFormat format{KeyType::kU32, false, false};
  const auto some = any.keys(30'000, 10'000, format);
  const auto others = any.keys(70'000, std::uint64_t{1} << 30, format);
  std::vector<std::uint64_t> low(5'000);
  std::vector<std::uint64_t> high(9'000);
  for (std::size_t i = 0; i < low.size(); ++i) low[i] = i;
  for (std::size_t i = 0; i < high.size(); ++i) high[i] = 4'999 + i;
  const std::vector<std::uint64_t> alike(50'000, 4'999);
  const std::vector<std::uint64_t> one{4'999};
  for (const auto& first : {some, others, low, high, alike, one, {}}) {
    for (const auto& second : {some, others, low, high, alike, one, {}}) {
      expect_right({first, second}, format);
      expect_right({first, second, first, low}, format);
    }
  }
}

TEST(CompareInputs, IsRightForManyInputs) {
  AnyInputs any;
  const KeyFormat format{KeyType::kI64, true, true};
  Inputs inputs;
  for (std::size_t i = 0; i < 200; ++i) inputs.push_back(any.keys(2'000, 100, format));
  expect_right(inputs, format);
}

TEST(CompareInputs, TakesPipesAndGivesTheFirstKeysToPipes) {
  AnyInputs any;
  const KeyFormat format{KeyType::kU64, false, false};
  const Inputs inputs{any.keys(400'000, 300'000, format), any.keys(500'000, 300'000, format)};
  for (const SetOperation operation : kOperations) {
    auto request = request_of(inputs, format, operation);
    request.from_pipe = request.to_pipe = true;
    expect_right(request, inputs);
    auto wanted = expected_keys(inputs, operation);
    for (const std::uint64_t top : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{10'000}}) {
      request.top = top;
      const test::SortResult result = test::sort_in_folder(request);
      ASSERT_FALSE(result.error) << result.error->what();
      wanted = expected_keys(inputs, operation);
      wanted.resize(top);
      EXPECT_TRUE(result.output == raw_keys(wanted, format)) << top;
    }
  }
}

TEST(CompareInputs, NamesTheInputAndTheElementThatIsOutOfOrder) {
  AnyInputs any;
  const KeyFormat format{KeyType::kU16, false, true};
  Inputs inputs{any.keys(50'000, 3'000, format), {}, any.keys(50'000, 3'000, format)};
  inputs[2].back() = 0;
  for (const SetOperation operation : kOperations) {
    const test::SortResult result = test::sort_in_folder(request_of(inputs, format, operation));
    ASSERT_TRUE(result.error);
    const std::string text = result.error->what();
    EXPECT_NE(text.find("in2: element 49,999 is out of order"), std::string::npos) << text;
    EXPECT_FALSE(result.output);
  }
}

}  // namespace
}  // namespace gsort
