// Chunks, on every engine: what comes out is std::sort of what went in, for every type, shape,
// size, byte order and direction, whatever the sample said and however the blocks came.
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "support/engines.hpp"
#include "support/error_of.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

using test::Bytes;

constexpr KeyType kSortedTypes[] = {KeyType::kU32, KeyType::kI32, KeyType::kF32,  KeyType::kU64,
                                    KeyType::kI64, KeyType::kF64, KeyType::kU128, KeyType::kI128};
constexpr std::uint64_t kBlockBytes = 4096;
constexpr std::uint64_t kBucket = std::uint64_t{1} << 16;       // what a bucket should hold at most
constexpr std::uint64_t kSmallBucket = std::uint64_t{1} << 12;  // and at least

// Nothing, one, vector and rank-sort borders, block and page borders, bucket borders.
std::vector<std::uint64_t> small_sizes(std::uint64_t key_bytes) {
  std::vector<std::uint64_t> sizes = {0, 1, 2, 3, 16, 17, 63, 64, 65, 1'000};
  for (const std::uint64_t border : {kBlockBytes, 2 * kBlockBytes, 4 * kBlockBytes}) {
    for (const std::uint64_t off : {0U, 1U, 2U}) sizes.push_back(border / key_bytes - 1 + off);
  }
  return sizes;
}

class ChunksOfEngine : public test::EngineTest {
 protected:
  // Sorts `raw` on a lane and compares with std::sort of a copy.
  void expect_sorted(ChunkLane& lane, const EngineShape& shape, const Bytes& raw,
                     const Bytes& sample, std::uint64_t seed = 1) {
    const Bytes wanted = test::sorted_copy(raw, shape.format);
    const std::uint64_t key_bytes = bytes_of(shape.format.type);
    test::fill_lane(lane, shape, raw, sample, seed);
    test::CollectingSink sink(raw.size() / key_bytes, key_bytes);
    lane.emit(sink);
    EXPECT_EQ(sink.complaint(), "");
    EXPECT_TRUE(sink.bytes() == wanted);
  }

  void expect_sorts(const KeyFormat& format, Distribution distribution, std::uint64_t count,
                    std::uint64_t room = 0) {
    SCOPED_TRACE(testing::Message() << count << ' ' << name_of(distribution) << ' '
                                    << test::words_of(format) << ", room for " << count + room);
    const EngineShape shape = test::shape_for(format, count + room, 2, kBlockBytes);
    test::EngineUnderTest engine(GetParam(), shape);
    const auto lanes = engine->make_chunk_lanes();
    ASSERT_EQ(lanes.size(), 1U);
    const Bytes raw = test::generated(format, distribution, count, count + 1);
    expect_sorted(*lanes[0], shape, raw, test::even_sample(raw, bytes_of(format.type)));
  }
};

TEST_P(ChunksOfEngine, AreSortedForAllSmallSizesInEveryFormat) {
  for (const KeyType type : kSortedTypes) {
    std::size_t turn = 0;
    for (const KeyFormat& format : test::formats_of(type)) {
      for (const std::uint64_t size : small_sizes(bytes_of(type))) {
        const auto distribution = kAllDistributions[turn++ % std::size(kAllDistributions)];
        expect_sorts(format, distribution, size, turn % 3 * 1'000);
      }
    }
  }
}

TEST_P(ChunksOfEngine, AreSortedForEveryDistribution) {
  for (const KeyType type : kSortedTypes) {
    std::size_t turn = 0;
    for (const Distribution distribution : kAllDistributions) {
      expect_sorts(test::formats_of(type)[turn++ % 4], distribution, 70'001);
    }
  }
}

TEST_P(ChunksOfEngine, AreSortedAtTheBordersOfBuckets) {
  for (const KeyType type : {KeyType::kI32, KeyType::kF64}) {
    std::size_t turn = 0;
    for (const std::uint64_t border : {kSmallBucket, 3 * kSmallBucket, kBucket, 3 * kBucket}) {
      for (const std::uint64_t size : {border - 1, border, border + 1}) {
        expect_sorts(test::formats_of(type)[turn++ % 4], Distribution::kUniform, size);
        expect_sorts(test::formats_of(type)[turn % 4], Distribution::kZipf, size, kBucket);
      }
    }
  }
}

TEST_P(ChunksOfEngine, AreSortedWhenTheyTakeManyBuckets) {
  for (const Distribution distribution :
       {Distribution::kUniform, Distribution::kZipf, Distribution::kFewDistinct,
        Distribution::kEqual, Distribution::kWorstMerge}) {
    expect_sorts({KeyType::kI32, false, false}, distribution, 1'200'000);
    expect_sorts({KeyType::kU64, true, true}, distribution, 700'000);
  }
}

TEST_P(ChunksOfEngine, AreSortedWhateverTheSampleSaid) {
  for (const KeyType type : {KeyType::kU32, KeyType::kF64}) {
    const KeyFormat format{type, false, false};
    const Bytes other = test::generated(format, Distribution::kSorted, 4'096, 99);
    const Bytes samples[] = {
        {},
        test::generated(format, Distribution::kEqual, 4'096),
        test::generated(format, Distribution::kAllMaximum, 1),
        Bytes(other.begin(), other.begin() + 2'048),  // the lower end of the range only
    };
    for (const Bytes& sample : samples) {
      for (const Distribution distribution : {Distribution::kUniform, Distribution::kZipf,
                                              Distribution::kSorted, Distribution::kAllMaximum}) {
        SCOPED_TRACE(testing::Message() << name_of(distribution) << ' ' << test::words_of(format)
                                        << ", a sample of " << sample.size() << " bytes");
        const Bytes raw = test::generated(format, distribution, 400'000);
        const EngineShape shape = test::shape_for(format, 400'000, 2, kBlockBytes);
        test::EngineUnderTest engine(GetParam(), shape);
        expect_sorted(*engine->make_chunk_lanes()[0], shape, raw, sample);
      }
    }
  }
}

// Keys at all scales: half of them in the upper half of the range, a quarter in the next, and so
// on.
template <class Key>
Bytes keys_at_all_scales(std::uint64_t count) {
  std::mt19937_64 random(count);
  std::vector<Key> keys(count);
  for (Key& key : keys) {
    const auto bits = static_cast<Key>(random());
    key = static_cast<Key>(bits >> (random() % (8 * sizeof(Key))));
  }
  return test::raw_of(keys);
}

TEST_P(ChunksOfEngine, AreSortedWhenKeysLieAtAllScalesAndTheSampleIsEmpty) {
  const Bytes narrow = keys_at_all_scales<std::uint32_t>(900'000);
  const Bytes wide = keys_at_all_scales<std::uint64_t>(900'000);
  for (const unsigned threads : {1U, 4U}) {
    for (const bool is_wide : {false, true}) {
      const EngineShape shape = test::shape_for(
          {is_wide ? KeyType::kU64 : KeyType::kU32, false, false}, 900'000, threads, kBlockBytes);
      test::EngineUnderTest engine(GetParam(), shape);
      expect_sorted(*engine->make_chunk_lanes()[0], shape, is_wide ? wide : narrow, {});
    }
  }
}

TEST_P(ChunksOfEngine, DoNotDependOnTheOrderOfBlocks) {
  const KeyFormat format{KeyType::kF32, true, false};
  const EngineShape shape = test::shape_for(format, 150'001, 4, kBlockBytes);
  test::EngineUnderTest engine(GetParam(), shape);
  const auto lanes = engine->make_chunk_lanes();
  const Bytes raw = test::generated(format, Distribution::kNearlySorted, 150'001);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    expect_sorted(*lanes[0], shape, raw, test::even_sample(raw, 4), seed);
  }
}

TEST_P(ChunksOfEngine, FollowEachOtherOnOneLane) {
  const KeyFormat format{KeyType::kI64, false, true};
  const EngineShape shape = test::shape_for(format, 100'000, 2, kBlockBytes);
  test::EngineUnderTest engine(GetParam(), shape);
  const auto lanes = engine->make_chunk_lanes();
  for (const std::uint64_t count : {100'000U, 5U, 0U, 99'999U, 70'000U, 1U}) {
    for (const Distribution distribution : {Distribution::kEqual, Distribution::kUniform}) {
      const Bytes raw = test::generated(format, distribution, count, count);
      expect_sorted(*lanes[0], shape, raw, test::even_sample(raw, 8));
    }
  }
}

TEST_P(ChunksOfEngine, DoNotDisturbEachOtherOnSeveralLanes) {
  for (const KeyType type : {KeyType::kU32, KeyType::kU64}) {
    for (const std::uint64_t elements : {70'000U, 150'000U, 150'001U, 300'003U}) {
      for (const unsigned threads : {1U, 2U}) {
        SCOPED_TRACE(testing::Message() << elements << ' ' << name_of(type) << ' ' << threads);
        EngineShape shape = test::shape_for({type, false, false}, elements, threads, 64 << 10);
        shape.chunk_lanes = 3;
        test::EngineUnderTest engine(GetParam(), shape);
        const auto lanes = engine->make_chunk_lanes();
        ASSERT_EQ(lanes.size(), 3U);
        std::vector<Bytes> inputs;
        for (std::uint64_t lane = 0; lane < 3; ++lane) {
          inputs.push_back(
              test::generated(shape.format, Distribution::kUniform, elements, lane + 1));
          test::fill_lane(*lanes[lane], shape, inputs.back(), {}, lane);
        }
        for (std::size_t lane = 0; lane < 3; ++lane) {
          test::CollectingSink sink(elements, bytes_of(type));
          lanes[lane]->emit(sink);
          EXPECT_EQ(sink.complaint(), "");
          EXPECT_TRUE(sink.bytes() == test::sorted_copy(inputs[lane], shape.format));
        }
      }
    }
  }
}

TEST_P(ChunksOfEngine, AreEmittedAsOrderedNumbersWhereAskedFor) {
  for (const KeyType type : kSortedTypes) {
    for (const KeyFormat& format : test::formats_of(type)) {
      const EngineShape shape = test::shape_for(format, 3'000);
      test::EngineUnderTest engine(GetParam(), shape);
      const auto lanes = engine->make_chunk_lanes();
      const Bytes raw = test::generated(format, Distribution::kUniform, 3'000);
      test::fill_lane(*lanes[0], shape, raw, {}, 1, KeyForm::kOrdered);
      test::CollectingSink sink(3'000, bytes_of(type));
      lanes[0]->emit(sink);
      EXPECT_EQ(sink.complaint(), "");
      EXPECT_TRUE(sink.bytes() == test::to_ordered(test::sorted_copy(raw, format), format))
          << test::words_of(format);
    }
  }
}

TEST_P(ChunksOfEngine, CanBeWrittenToAStream) {
  for (const Distribution distribution : {Distribution::kUniform, Distribution::kFewDistinct}) {
    const KeyFormat format{KeyType::kI32, false, false};
    const EngineShape shape = test::shape_for(format, 800'000, 4, 64 << 10);
    test::EngineUnderTest engine(GetParam(), shape);
    const auto lanes = engine->make_chunk_lanes();
    const Bytes raw = test::generated(format, distribution, 800'000);
    test::fill_lane(*lanes[0], shape, raw, test::even_sample(raw, 4));
    test::StreamSink sink(4);
    lanes[0]->emit(sink);
    EXPECT_TRUE(sink.bytes() == test::sorted_copy(raw, format));
  }
}

TEST_P(ChunksOfEngine, PassTheFailureOfASinkOnAndWakeThoseWhoWait) {
  const KeyFormat format{KeyType::kI32, false, false};
  const EngineShape shape = test::shape_for(format, 800'000, 4, 64 << 10);
  const Bytes raw = test::generated(format, Distribution::kUniform, 800'000);
  for (const std::uint64_t failing : {0U, 100'000U, 400'000U, 799'999U}) {
    SCOPED_TRACE(failing);
    test::EngineUnderTest engine(GetParam(), shape);
    const auto lanes = engine->make_chunk_lanes();
    test::fill_lane(*lanes[0], shape, raw, test::even_sample(raw, 4));
    test::StreamSink sink(4, 0, failing);
    const Error error = test::error_of([&] { lanes[0]->emit(sink); });
    EXPECT_EQ(error.reason(), test::StreamSink::kFailure);
    EXPECT_TRUE(sink.was_abandoned());
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, ChunksOfEngine, testing::ValuesIn(test::kEngineNames),
                         test::engine_name);

}  // namespace
}  // namespace gsort
