// Sorts whose result is not all elements: one of each key, the first N, positions. The result is
// that of std::sort and std::unique of a copy.
#include <array>
#include <optional>
#include <string_view>

#include <gtest/gtest.h>

#include "element/select_keys.hpp"
#include "support/engines.hpp"
#include "support/expected_output.hpp"
#include "support/some_of.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::expect_right;
using test::SortRequest;
using test::SortResult;

class ResultOnEngine : public test::EngineTest {
 protected:
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
    EXPECT_TRUE(expect_right(request).plan.is<SelectPlan>());
  }
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
          const SortResult result = expect_right(request);
          EXPECT_TRUE(top >= kRecords / 4 || result.plan.is<SelectPlan>());
        }
      }
    }
  }
}

// Most stretches of these small blocks have no key that may be wanted, or only keys that equal the
// last wanted one.
TEST(Selection, OfPositionsKeepsTheFirstOnesOfEqualKeys) {
  for (const KeyType type : {KeyType::kU32, KeyType::kF32, KeyType::kU64, KeyType::kF64}) {
    for (const Distribution distribution : {Distribution::kZipf, Distribution::kFewDistinct,
                                            Distribution::kEqual, Distribution::kReversed}) {
      for (std::size_t turn = 0; turn < 4; ++turn) {
        SortRequest request;
        request.format = test::formats_of(type)[turn];
        request.input = test::generated(request.format, distribution, 60'000);
        request.argsort = true;
        request.top = std::array{1U, 300U, 5'000U, 14'000U}[turn];
        request.threads = turn % 2 == 0 ? 1 : 3;
        request.make_engine = test::engine_maker("cpu");
        request.change_plan = [](Plan& plan) {
          plan.chunk.block_bytes = 16 * kKeysOfStretch * plan.element_bytes;
        };
        SCOPED_TRACE(testing::Message() << *request.top << " of " << test::words_of(request.format)
                                        << ' ' << name_of(distribution));
        EXPECT_TRUE(expect_right(request).plan.is<SelectPlan>());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, PositionsOnEngine,
                         testing::Values("cpu", "cuda", "cuda_x2", "cuda_x4"), test::engine_name);
INSTANTIATE_TEST_SUITE_P(Engines, ResultOnEngine, testing::ValuesIn(test::engines_of_sorts()),
                         test::engine_name);

}  // namespace
}  // namespace gsort
