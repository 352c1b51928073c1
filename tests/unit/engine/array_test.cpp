// Blocks of many arrays, on every engine: each comes out as std::sort makes it, whatever their
// length, and whether the last one is whole.
#include <algorithm>

#include <gtest/gtest.h>

#include "support/engines.hpp"
#include "support/sorted_copy.hpp"
#include "support/stably_sorted.hpp"

namespace gsort {
namespace {

using test::Bytes;

// Fills the lane's block twice: what the first one left behind must not be seen.
void expect_sorts(ArrayLane& lane, const Bytes& raw, const Bytes& wanted) {
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_GE(lane.input().size(), raw.size() + kBufferAlignment);
    std::ranges::copy(raw, lane.input().begin());
    std::fill_n(lane.input().begin() + static_cast<std::ptrdiff_t>(raw.size()), 64, std::byte{0});
    const ConstByteSpan sorted = lane.sort(raw.size());
    EXPECT_TRUE(std::ranges::equal(sorted, wanted));
  }
}

class ArraysOfEngine : public test::EngineTest {
 protected:
  [[nodiscard]] bool is_cuda() const { return test::is_cuda_engine(GetParam()); }
};

TEST_P(ArraysOfEngine, AreSortedByThemselvesInEveryFormat) {
  std::size_t turn = 0;
  for (const KeyType type : kAllKeyTypes) {
    if (is_cuda() && bytes_of(type) != 4 && bytes_of(type) != 8) continue;  // these are the CPU's
    for (const std::uint64_t elements : {1U, 2U, 33U, 1'000U, 8'192U, 8'193U, 100'000U}) {
      const KeyFormat format = test::formats_of(type)[turn % 4];
      const Distribution distribution = kAllDistributions[turn++ % std::size(kAllDistributions)];
      SCOPED_TRACE(testing::Message()
                   << elements << ' ' << test::words_of(format) << ' ' << name_of(distribution));
      const ArrayShape arrays{elements, elements * (elements < 1'000 ? 500 : 3)};
      const EngineShape shape = test::shape_for(format, 1);
      test::EngineUnderTest engine(GetParam(), shape, arrays, 2);
      const auto lanes = engine->make_array_lanes(2, arrays);
      ASSERT_EQ(lanes.size(), 2U);
      for (const std::uint64_t left_out : {std::uint64_t{0}, elements / 2, 2 * elements - 1}) {
        const Bytes raw =
            test::generated(format, distribution, arrays.block_elements - left_out, turn);
        const Bytes wanted = test::sorted_arrays(
            raw, elements * bytes_of(type),
            [&](const Bytes& array) { return test::sorted_copy(array, format); });
        expect_sorts(*lanes[left_out % 2], raw, wanted);
      }
    }
  }
}

TEST_P(ArraysOfEngine, MayBeNone) {
  const ArrayShape arrays{10, 100};
  test::EngineUnderTest engine(GetParam(), test::shape_for({KeyType::kU64}, 1), arrays, 1);
  EXPECT_TRUE(engine->make_array_lanes(1, arrays)[0]->sort(0).empty());
}

INSTANTIATE_TEST_SUITE_P(Engines, ArraysOfEngine, testing::ValuesIn(test::kEngineNames),
                         test::engine_name);

TEST(ArraysOfRecords, AreSortedStably) {
  const RecordFormat format{13, {{1, 9, std::nullopt, false, false}}};
  EngineShape shape = test::shape_for({}, 1);
  shape.records = format;
  for (const std::uint64_t elements : {1U, 2U, 33U, 3'000U}) {
    for (const unsigned values : {1U, 2U, 256U}) {
      SCOPED_TRACE(testing::Message() << elements << ' ' << values);
      const ArrayShape arrays{elements, 3 * elements};
      test::EngineUnderTest engine("cpu", shape, arrays, 1);
      Bytes raw = test::generated({KeyType::kU8, false, false}, Distribution::kUniform,
                                  (3 * elements - elements / 2) * format.bytes, values);
      for (std::byte& byte : raw) {
        byte = static_cast<std::byte>(static_cast<unsigned>(byte) % values);
      }
      const Bytes wanted = test::sorted_arrays(
          raw, elements * format.bytes,
          [&](const Bytes& array) { return test::stably_sorted(array, format); });
      expect_sorts(*engine->make_array_lanes(1, arrays)[0], raw, wanted);
    }
  }
}

}  // namespace
}  // namespace gsort
