// Sorts whose result is not all elements: one of each key, the first N, positions. The result is
// that of std::sort and std::unique of a copy.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/engines.hpp"
#include "support/key_values.hpp"
#include "support/some_of.hpp"
#include "support/sort_run.hpp"
#include "support/stably_sorted.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::SortRequest;
using test::SortResult;

// Equal floats have the same bits.
Bytes alike(Bytes keys, const KeyFormat& format) {
  if (!is_float(format.type)) return keys;
  test::with_value_named(name_of(format.type), [&](auto value) {
    for (std::size_t at = 0; at < keys.size(); at += sizeof(value)) {
      const ByteSpan key = std::span(keys).subspan(at, sizeof(value));
      if (format.big_endian) std::ranges::reverse(key);
      std::memcpy(&value, key.data(), key.size());
      test::make_alike(value);
      std::memcpy(key.data(), &value, key.size());
      if (format.big_endian) std::ranges::reverse(key);
    }
  });
  return keys;
}

Bytes without_repeats(const Bytes& sorted, const KeyFormat& format) {
  const std::size_t key_bytes = bytes_of(format.type);
  const Bytes classes = alike(sorted, format);
  Bytes unique;
  for (std::size_t at = 0; at < sorted.size(); at += key_bytes) {
    const auto key = classes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto end = key + static_cast<std::ptrdiff_t>(key_bytes);
    if (at > 0 && std::equal(key, end, key - static_cast<std::ptrdiff_t>(key_bytes))) continue;
    const auto kept = sorted.begin() + static_cast<std::ptrdiff_t>(at);
    unique.insert(unique.end(), kept, kept + static_cast<std::ptrdiff_t>(key_bytes));
  }
  return unique;
}

// Each key that occurs so often, and how often, in the byte order of the keys.
Bytes counted(const Bytes& sorted, const KeyFormat& format, std::uint64_t min_count) {
  const auto key_bytes = static_cast<std::ptrdiff_t>(bytes_of(format.type));
  Bytes all;
  for (auto key = sorted.begin(); key != sorted.end();) {
    auto next = key + key_bytes;
    while (next != sorted.end() && std::equal(key, key + key_bytes, next)) next += key_bytes;
    const auto count = static_cast<std::uint64_t>((next - key) / key_bytes);
    Bytes digits;
    for (int i = 0; i < 8; ++i) digits.push_back(static_cast<std::byte>(count >> (8 * i)));
    if (format.big_endian) std::ranges::reverse(digits);
    if (count >= min_count) all.insert(all.end(), key, key + key_bytes);
    if (count >= min_count) all.insert(all.end(), digits.begin(), digits.end());
    key = next;
  }
  return all;
}

// Every array of the input by itself.
Bytes sorted_arrays(const SortRequest& request, std::size_t array_bytes) {
  Bytes all;
  for (std::size_t at = 0; at < request.input.size(); at += array_bytes) {
    const auto bytes = std::min(array_bytes, request.input.size() - at);
    const Bytes array =
        test::sorted_copy(std::span(request.input).subspan(at, bytes), request.format);
    all.insert(all.end(), array.begin(), array.end());
  }
  return all;
}

// Equal keys have their positions in the order of the input.
Bytes positions(const SortRequest& request) {
  const std::size_t key_bytes = bytes_of(request.format.type);
  const auto key_at = [key_bytes](const Bytes& keys, std::size_t at) {
    return std::string(reinterpret_cast<const char*>(keys.data() + at), key_bytes);
  };
  const Bytes input = alike(request.input, request.format);
  std::map<std::string, std::vector<std::uint32_t>> places;
  for (std::size_t at = 0; at < input.size(); at += key_bytes) {
    places[key_at(input, at)].push_back(static_cast<std::uint32_t>(at / key_bytes));
  }
  Bytes all;
  const Bytes sorted = without_repeats(test::sorted_copy(input, request.format), request.format);
  for (std::size_t at = 0; at < sorted.size(); at += key_bytes) {
    const auto& of_key = places[key_at(sorted, at)];
    for (std::size_t i = 0; i < (request.unique ? 1 : of_key.size()); ++i) {
      std::array<std::byte, 4> bytes{};
      std::memcpy(bytes.data(), &of_key[i], bytes.size());
      if (request.format.big_endian) std::ranges::reverse(bytes);
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
  }
  if (request.top) all.resize(std::min<std::uint64_t>(all.size(), *request.top * 4));
  return all;
}

Bytes wanted(const SortRequest& request) {
  if (request.argsort) return positions(request);
  const std::size_t key_bytes = bytes_of(request.format.type);
  if (request.batch_elements) return sorted_arrays(request, *request.batch_elements * key_bytes);
  if (request.min_count) {
    const Bytes keys = alike(request.input, request.format);
    return counted(test::sorted_copy(keys, request.format), request.format, *request.min_count);
  }
  Bytes want = test::sorted_copy(request.input, request.format);
  if (request.unique) want = without_repeats(want, request.format);
  if (request.top) want.resize(std::min<std::uint64_t>(want.size(), *request.top * key_bytes));
  return want;
}

void expect_right(const SortRequest& request) {
  const SortResult result = sort_in_folder(request);
  ASSERT_FALSE(result.error) << result.error->what();
  const Bytes want = wanted(request);
  ASSERT_TRUE(result.output.has_value());
  EXPECT_TRUE(*result.output == want);
  EXPECT_EQ(result.outcome.elements, request.input.size() / bytes_of(request.format.type));
  const std::size_t result_bytes = request.argsort ? 4 : result.plan.job.result_bytes();
  EXPECT_EQ(result.outcome.output_elements, want.size() / result_bytes);
  EXPECT_TRUE(result.left_in_temporary.empty());
  EXPECT_TRUE(result.left_in_folder.empty());
}

class ResultOnEngine : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string reason = test::why_not(GetParam()); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }
  [[nodiscard]] SortRequest request_for(const KeyFormat& format, Distribution distribution,
                                        std::uint64_t elements) const {
    SortRequest request;
    request.format = format;
    request.input = test::generated(format, distribution, elements);
    test::use_engine(request, GetParam());
    return request;
  }

  // For every type and each of `sizes`, turn by turn with another order, distribution, way in and
  // way out; of long inputs, only some. change(request, turn, size) says what is wanted.
  template <class Change>
  void expect_right_for_every_type(std::initializer_list<std::uint64_t> sizes,
                                   std::optional<std::uint64_t> always,
                                   const Change& change) const {
    constexpr std::uint64_t kLong = 100'000;
    std::size_t turn = 0;
    test::SomeOf long_ones(8);
    for (const KeyType type : kAllKeyTypes) {
      for (const std::uint64_t size : sizes) {
        const KeyFormat format = test::formats_of(type)[turn % 4];
        const Distribution distribution = kAllDistributions[turn++ % std::size(kAllDistributions)];
        const std::uint64_t elements = always.value_or(size);
        if (elements > kLong && !long_ones.takes()) continue;
        SCOPED_TRACE(testing::Message()
                     << size << ' ' << test::words_of(format) << ' ' << name_of(distribution));
        SortRequest request = request_for(format, distribution, elements);
        request.from_pipe = turn % 3 == 0;
        request.to_pipe = turn % 2 == 0;
        request.budget = bytes_of(type) > 8 ? "20M" : "14M";
        request.threads = request.from_pipe ? 1 : 2;
        change(request, turn, size);
        expect_right(request);
      }
    }
  }
};

TEST_P(ResultOnEngine, OfUniqueKeysIsRightForEveryTypeWayInAndWayOut) {
  expect_right_for_every_type({0, 1, 2, 65'537, 2'000'003}, {},
                              [](auto& request, auto, auto) { request.unique = true; });
}

TEST_P(ResultOnEngine, OfCountedKeysIsRightForEveryTypeWayInAndWayOut) {
  const auto change = [](SortRequest& request, std::size_t turn, std::uint64_t /*size*/) {
    request.unique = true;
    request.min_count = std::array{1, 2, 1, 5}[turn % 4];
    request.verify = turn % 5 != 0;
  };
  expect_right_for_every_type({0, 1, 65'537, 1'000'003}, {}, change);
}

// Positions are of records, which the engine "std" does not sort.
class PositionsOnEngine : public ResultOnEngine {};

TEST_P(PositionsOnEngine, AreRightForEveryTypeWayInAndWayOut) {
  const auto change = [](SortRequest& request, std::size_t turn, std::uint64_t /*size*/) {
    request.argsort = true;
    request.unique = turn % 5 == 0;
    if (turn % 4 == 0) request.top = 20'000;
    if (!request.unique && !request.to_pipe) request.parts = 3;
    request.budget = request.from_pipe ? "24M" : "12M";
    request.verify = turn % 7 != 0;
  };
  expect_right_for_every_type({0, 1, 30'011, 400'003}, {}, change);
}

TEST_P(ResultOnEngine, InPartsIsRightForEveryTypeAndWayIn) {
  const auto change = [](SortRequest& request, std::size_t turn, std::uint64_t /*size*/) {
    request.parts = std::array{2U, 3U, 64U}[turn % 3];
    request.to_pipe = false;
    if (turn % 4 == 0) request.top = 50'000;
  };
  expect_right_for_every_type({0, 1, 65'537, 1'500'003}, {}, change);
}

TEST_P(ResultOnEngine, OfUniqueKeysIsRightAfterSeveralRounds) {
  SortRequest request = request_for({KeyType::kI32, true, true}, Distribution::kZipf, 4'000'000);
  request.unique = true;
  request.budget = "12M";
  request.batch_size = 2;
  expect_right(request);
  request.verify = false;
  expect_right(request);
  request.min_count = 3;
  expect_right(request);
}

TEST_P(ResultOnEngine, OfTheFirstElementsIsRightForEveryTypeWayInAndWayOut) {
  const auto change = [](SortRequest& request, std::size_t turn, std::uint64_t top) {
    request.top = top;
    request.unique = turn % 4 == 0;
  };
  expect_right_for_every_type({0, 1, 4'096, 65'537, 700'000}, 1'500'003, change);
}

TEST_P(ResultOnEngine, OfTheFirstElementsIsRightAroundTheNumberOfElements) {
  for (const std::uint64_t elements : {0U, 1U, 1'000U}) {
    for (const std::uint64_t more : {0U, 1U, 10U}) {
      SortRequest request =
          request_for({KeyType::kU64, false, false}, Distribution::kFewDistinct, elements);
      request.top = elements + more;
      expect_right(request);
      request.from_pipe = true;
      expect_right(request);
    }
  }
}

TEST_P(ResultOnEngine, OfArraysIsRightForEveryTypeWayInAndWayOut) {
  std::size_t turn = 0;
  test::SomeOf long_ones(8);
  for (const KeyType type : kAllKeyTypes) {
    for (const std::uint64_t elements : {1U, 7U, 999U, 70'000U, 1'400'000U, 3'000'000U}) {
      // Arrays of such keys are sorted on the CPU.
      const std::string_view engine = GetParam();
      if (bytes_of(type) > 8 && engine != "cpu" && engine != "std") continue;
      const KeyFormat format = test::formats_of(type)[turn % 4];
      const Distribution distribution = kAllDistributions[turn++ % std::size(kAllDistributions)];
      if (elements >= 1'000 && !long_ones.takes()) continue;
      SCOPED_TRACE(testing::Message() << elements << " elements an array, "
                                      << test::words_of(format) << ' ' << name_of(distribution));
      SortRequest request =
          request_for(format, distribution, elements < 1'000 ? 100'003 : 2'900'001);
      request.batch_elements = elements;
      request.from_pipe = turn % 3 == 0;
      request.to_pipe = turn % 2 == 0;
      request.budget = bytes_of(type) > 8 ? "20M" : "14M";
      request.threads = request.from_pipe ? 1 : 2;
      expect_right(request);
    }
  }
}

TEST_P(ResultOnEngine, OfNoArrayIsNothing) {
  for (const bool from_pipe : {false, true}) {
    for (const std::uint64_t elements : {5U, 50'000'000U}) {
      SortRequest request = request_for({KeyType::kU32, false, false}, Distribution::kUniform, 0);
      request.batch_elements = elements;
      request.from_pipe = from_pipe;
      expect_right(request);
    }
  }
}

TEST(Selection, TakesNewCandidatesAllTheTimeWhereKeysFall) {
  for (const bool unique : {false, true}) {
    SortRequest request;
    request.format = {KeyType::kU32, false, false};
    request.input = test::generated(request.format, Distribution::kReversed, 3'000'000);
    request.top = 100'000;
    request.unique = unique;
    request.threads = 3;
    request.make_engine = test::engine_maker("cpu");
    EXPECT_TRUE(sort_in_folder(request).plan.is<SelectPlan>());
    expect_right(request);
  }
}

// Returns the first `top` records; with `unique`, counts only the first record of each key.
Bytes first_records(const Bytes& input, const RecordFormat& format, std::uint64_t top,
                    bool unique) {
  const Bytes sorted = test::stably_sorted(input, format);
  const RecordOrder order(format);
  Bytes first;
  for (std::size_t at = 0; at < sorted.size() && first.size() < top * format.bytes;
       at += format.bytes) {
    const std::byte* const record = &sorted[at];
    if (unique && at > 0 && order.compare(record - format.bytes, record) == 0) continue;
    first.insert(first.end(), record, record + format.bytes);
  }
  return first;
}

TEST(Selection, OfRecordsKeepsTheFirstOnesOfEqualKeys) {
  constexpr std::uint64_t kRecords = 30'000;
  // Keys that fit into the prefix, and keys that go on behind it.
  const RecordFormat formats[] = {
      {16, {{4, 2, KeyType::kU16}}},
      {16, {{0, 8, KeyType::kU64, false, true}, {8, 4, KeyType::kU32}}},
  };
  for (const RecordFormat& format : formats) {
    for (const Distribution distribution : {Distribution::kUniform, Distribution::kFewDistinct}) {
      Bytes input = test::generated({KeyType::kU64}, distribution, kRecords * 2);
      for (const std::uint64_t top : {0U, 1U, 5'000U, 29'999U, 40'000U}) {
        for (const bool unique : {false, true}) {
          SCOPED_TRACE(testing::Message() << top << (unique ? " unique" : "") << " of "
                                          << name_of(distribution) << ' ' << format.keys.size());
          SortRequest request;
          request.records = format;
          request.input = input;
          request.top = top;
          request.unique = unique;
          request.budget = "24M";
          request.threads = 3;
          request.make_engine = test::engine_maker("cpu");
          const SortResult result = sort_in_folder(request);
          ASSERT_TRUE(result.output) << result.error->what();
          EXPECT_TRUE(top >= kRecords / 4 || result.plan.is<SelectPlan>());
          EXPECT_TRUE(*result.output == first_records(input, format, top, unique));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, PositionsOnEngine,
                         testing::Values("cpu", "cuda", "cuda_x2", "cuda_x4"),
                         [](const auto& engine) { return std::string(engine.param); });
INSTANTIATE_TEST_SUITE_P(Engines, ResultOnEngine, testing::ValuesIn(test::engines_of_sorts()),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace gsort
