// Parts, on every engine: the merge of any slices is std::sort of them all.
#include <algorithm>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "support/engines.hpp"
#include "support/sinks.hpp"
#include "support/sorted_copy.hpp"

namespace gsort {
namespace {

using test::Bytes;
using Counts = std::vector<std::uint64_t>;

constexpr std::uint64_t kStretch = std::uint64_t{1} << 16;  // what the CPU engine merges at once

std::uint64_t sum_of(const Counts& counts) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) sum += count;
  return sum;
}

// The slices of a part: raw keys of each, sorted; the part of all together.
struct Part {
  Counts counts;
  Bytes slices;  // raw, each slice sorted, one behind the other
};

Part make_part(const KeyFormat& format, Distribution distribution, const Counts& counts) {
  Part part{counts, {}};
  std::uint64_t seed = 1;
  for (const std::uint64_t count : counts) {
    const Bytes slice =
        test::sorted_copy(test::generated(format, distribution, count, seed++), format);
    part.slices.insert(part.slices.end(), slice.begin(), slice.end());
  }
  return part;
}

// `runs` slices of random length, of which about one in four is empty.
Counts random_counts(std::size_t runs, std::uint64_t most) {
  std::mt19937_64 random(runs);
  Counts counts(runs);
  for (std::uint64_t& count : counts) count = random() % 4 == 0 ? 0 : random() % most;
  return counts;
}

class MergesOfEngine : public test::EngineTest {
 protected:
  void expect_merges(MergeLane& lane, const KeyFormat& format, const Part& part, KeyForm form,
                     std::uint64_t position = 0) {
    const Bytes wanted = test::sorted_copy(part.slices, format);
    const Bytes input = test::to_ordered(part.slices, format);
    ASSERT_GE(lane.input().size(), input.size());
    std::ranges::copy(input, lane.input().begin());
    const std::uint64_t key_bytes = bytes_of(format.type);
    test::CollectingSink sink(sum_of(part.counts), key_bytes, position);
    lane.merge(part.counts, position, form, sink);
    EXPECT_EQ(sink.complaint(), "");
    EXPECT_TRUE(sink.bytes() ==
                (form == KeyForm::kRaw ? wanted : test::to_ordered(wanted, format)));
  }

  // One merge on a new engine, in a part that is just large enough.
  void expect_merges(const KeyFormat& format, Distribution distribution, const Counts& counts,
                     KeyForm form = KeyForm::kRaw, std::uint64_t position = 0) {
    SCOPED_TRACE(testing::Message() << testing::PrintToString(counts) << ' '
                                    << name_of(distribution) << ' ' << test::words_of(format));
    const std::uint64_t total = std::max<std::uint64_t>(sum_of(counts), 1);
    test::EngineUnderTest engine(GetParam(), test::shape_for(format, 1), 1, total);
    const auto lanes = engine->make_merge_lanes(1, total);
    ASSERT_EQ(lanes.size(), 1U);
    expect_merges(*lanes[0], format, make_part(format, distribution, counts), form, position);
  }

  // Merges several stretches of u64 keys, in 2 to 700 slices. key_at(i, count) is key i of a slice,
  // before this is sorted.
  void expect_merges_of_many(
      const std::function<std::uint64_t(std::uint64_t i, std::uint64_t count)>& key_at) {
    const KeyFormat format{KeyType::kU64, false, false};
    for (const std::size_t slices : {2U, 40U, 700U}) {
      Part part = {Counts(slices, 400'000 / slices), {}};
      for (const std::uint64_t count : part.counts) {
        std::vector<std::uint64_t> keys(count);
        for (std::uint64_t i = 0; i < count; ++i) keys[i] = key_at(i, count);
        std::ranges::sort(keys);
        const auto bytes = std::as_bytes(std::span(keys));
        part.slices.insert(part.slices.end(), bytes.begin(), bytes.end());
      }
      test::EngineUnderTest engine(GetParam(), test::shape_for(format, 1), 1, sum_of(part.counts));
      expect_merges(*engine->make_merge_lanes(1, sum_of(part.counts))[0], format, part,
                    KeyForm::kRaw);
    }
  }
};

TEST_P(MergesOfEngine, AreRightForAnyNumberOfSlicesInEveryFormat) {
  for (const KeyType type : {KeyType::kU32, KeyType::kI32, KeyType::kF32, KeyType::kU64,
                             KeyType::kI64, KeyType::kF64, KeyType::kU128, KeyType::kI128}) {
    for (const KeyFormat& format : test::formats_of(type)) {
      for (const std::size_t runs : {1U, 2U, 3U, 7U, 20U}) {
        expect_merges(format, Distribution::kUniform, random_counts(runs, 700));
        expect_merges(format, Distribution::kFewDistinct, random_counts(runs, 700),
                      KeyForm::kOrdered);
      }
    }
  }
}

TEST_P(MergesOfEngine, AreRightForEveryDistribution) {
  for (const Distribution distribution : kAllDistributions) {
    expect_merges({KeyType::kI32, false, false}, distribution, random_counts(7, 30'000));
    expect_merges({KeyType::kF64, true, true}, distribution, random_counts(3, 60'000));
  }
}

// Dense keys, then sparse ones, then the greatest key alone: what a stretch says of the next one is
// wrong at each border.
TEST_P(MergesOfEngine, AreRightWhereTheDensityOfKeysJumps) {
  std::mt19937_64 random(7);
  expect_merges_of_many([&](std::uint64_t i, std::uint64_t count) {
    return i < count / 3 ? random() % 100'000 : i < count * 2 / 3 ? random() : ~0ULL;
  });
}

// Values that fill a part of a stretch, or several ones, with other keys between.
TEST_P(MergesOfEngine, AreRightWhereFewValuesFillStretches) {
  std::mt19937_64 random(8);
  for (const std::uint64_t values : {2U, 6U, 17U}) {
    expect_merges_of_many([&](std::uint64_t i, std::uint64_t /*count*/) {
      return i % 5 == 0 ? random() : random() % values << 58U;
    });
    expect_merges_of_many([&](std::uint64_t i, std::uint64_t count) {
      return i < count / 2 ? std::min(random() % (2 * values), values) : ~(random() % 2);
    });
  }
}

TEST_P(MergesOfEngine, AreRightWithEmptySlicesAndSlicesOfOneKey) {
  const KeyFormat format{KeyType::kU64, false, false};
  for (const Counts& counts :
       {Counts{}, Counts{0}, Counts{0, 0, 0}, Counts{1}, Counts{0, 1, 0}, Counts{1, 1},
        Counts{1, 0, 0, 5'000}, Counts{5'000, 0, 1, 1, 0}, Counts(20, 1), Counts(300, 3)}) {
    expect_merges(format, Distribution::kUniform, counts);
    expect_merges(format, Distribution::kEqual, counts);
  }
}

// As the hosts of a large cluster have.
TEST_P(MergesOfEngine, AreRightForThousandsOfSlices) {
  for (const std::size_t slices : {1'024U, 10'000U}) {
    expect_merges({KeyType::kU64, false, false}, Distribution::kUniform, random_counts(slices, 60));
    expect_merges({KeyType::kU32, true, false}, Distribution::kFewDistinct,
                  random_counts(slices, 9));
  }
}

TEST_P(MergesOfEngine, AreRightWhenAllKeysAreEqual) {
  for (const Distribution distribution : {Distribution::kEqual, Distribution::kAllMaximum}) {
    expect_merges({KeyType::kU32, false, false}, distribution, {70'000, 1, 0, 70'000, 3});
    expect_merges({KeyType::kU64, false, true}, distribution, Counts(20, 9'999));
  }
}

TEST_P(MergesOfEngine, AreRightAtTheBordersOfStretches) {
  const KeyFormat format{KeyType::kI32, false, false};
  for (const std::uint64_t total : {kStretch, 2 * kStretch}) {
    for (const std::uint64_t off : {0U, 1U, 2U}) {
      const std::uint64_t size = total - 1 + off;
      expect_merges(format, Distribution::kUniform, {size});
      expect_merges(format, Distribution::kUniform, {size / 3, size - size / 3});
      expect_merges(format, Distribution::kFewDistinct,
                    {size / 2, 0, size / 4, size - size / 2 - size / 4});
    }
  }
}

TEST_P(MergesOfEngine, AreRightWhenSlicesDoNotOverlap) {
  const KeyFormat format{KeyType::kU32, false, false};
  const Bytes all =
      test::sorted_copy(test::generated(format, Distribution::kUniform, 150'000), format);
  for (const bool reversed : {false, true}) {
    Part part{{50'000, 50'000, 50'000}, {}};
    for (const std::size_t slice : {0U, 1U, 2U}) {
      const auto begin =
          all.begin() + static_cast<std::ptrdiff_t>((reversed ? 2 - slice : slice) * 200'000);
      part.slices.insert(part.slices.end(), begin, begin + 200'000);
    }
    test::EngineUnderTest engine(GetParam(), test::shape_for(format, 1), 1, 150'000);
    expect_merges(*engine->make_merge_lanes(1, 150'000)[0], format, part, KeyForm::kRaw);
  }
}

TEST_P(MergesOfEngine, CountPositionsFromThePartsOwn) {
  expect_merges({KeyType::kI64, true, false}, Distribution::kUniform, {80'000, 20'000},
                KeyForm::kRaw, (std::uint64_t{1} << 40) + 3);
}

TEST_P(MergesOfEngine, FollowEachOtherOnSeveralLanes) {
  const KeyFormat format{KeyType::kF32, false, true};
  test::EngineUnderTest engine(GetParam(), test::shape_for(format, 1), 3, 50'001);
  const auto lanes = engine->make_merge_lanes(3, 50'001);
  ASSERT_EQ(lanes.size(), 3U);
  for (int round = 0; round < 3; ++round) {
    for (const auto& lane : lanes) {
      expect_merges(*lane, format, make_part(format, Distribution::kZipf, {50'000, 1}),
                    KeyForm::kRaw);
      expect_merges(*lane, format, make_part(format, Distribution::kUniform, {7, 0, 9, 3}),
                    KeyForm::kRaw);
    }
  }
}

TEST_P(MergesOfEngine, FollowChunksInTheSameMemory) {
  const KeyFormat format{KeyType::kI32, false, false};
  const EngineShape shape = test::shape_for(format, 100'000);
  test::EngineUnderTest engine(GetParam(), shape, 2, 60'000);
  for (int round = 0; round < 2; ++round) {
    {
      const auto lanes = engine->make_chunk_lanes();
      const Bytes raw = test::generated(format, Distribution::kUniform, 100'000);
      test::fill_lane(*lanes[0], shape, raw, {});
      test::CollectingSink sink(100'000, 4);
      lanes[0]->emit(sink);
      EXPECT_TRUE(sink.bytes() == test::sorted_copy(raw, format));
    }
    const auto lanes = engine->make_merge_lanes(2, 60'000);
    for (const auto& lane : lanes) {
      expect_merges(*lane, format, make_part(format, Distribution::kUniform, {30'000, 30'000}),
                    KeyForm::kRaw);
    }
  }
}

TEST_P(MergesOfEngine, PassTheFailureOfASinkOn) {
  const KeyFormat format{KeyType::kU32, false, false};
  const Part part = make_part(format, Distribution::kUniform, {100'000, 100'000});
  for (const std::uint64_t failing : {0U, 65'536U, 199'999U}) {
    test::EngineUnderTest engine(GetParam(), test::shape_for(format, 1), 1, 200'000);
    const auto lanes = engine->make_merge_lanes(1, 200'000);
    std::ranges::copy(part.slices, lanes[0]->input().begin());
    test::StreamSink sink(4, 0, failing);
    EXPECT_THROW(lanes[0]->merge(part.counts, 0, KeyForm::kRaw, sink), Error);
  }
}

// Counts the pieces that are put from within `memory`.
class PiecesWithin final : public PieceSink {
 public:
  explicit PiecesWithin(ConstByteSpan memory) : memory_(memory) {}
  void put(std::uint64_t /*position*/, ConstByteSpan keys) override {
    const bool within = keys.data() >= memory_.data() &&
                        keys.data() + keys.size() <= memory_.data() + memory_.size();
    ++(within ? within_ : elsewhere_);
  }
  [[nodiscard]] int within() const { return within_; }
  [[nodiscard]] int elsewhere() const { return elsewhere_; }

 private:
  ConstByteSpan memory_;
  int within_ = 0;
  int elsewhere_ = 0;
};

TEST(MergesOfTheCpuEngine, DoNotCopyWhatOneSliceGivesAlone) {
  const KeyFormat format{KeyType::kI64, false, true};
  const Bytes all = test::to_ordered(
      test::sorted_copy(test::generated(format, Distribution::kUniform, 3 * kStretch), format),
      format);
  test::EngineUnderTest engine("cpu", test::shape_for(format, 1), 1, 3 * kStretch);
  const auto lanes = engine->make_merge_lanes(1, 3 * kStretch);
  std::ranges::copy(all, lanes[0]->input().begin());
  PiecesWithin pieces(lanes[0]->input().first(all.size()));
  const Counts counts = {kStretch + 1, 0, 2 * kStretch - 1};
  lanes[0]->merge(counts, 0, KeyForm::kRaw, pieces);
  EXPECT_GE(pieces.within(), 2);
  EXPECT_EQ(pieces.elsewhere(), 1) << "the one with keys of two slices";
}

// Notes how many bytes each piece has.
class SizesOfPieces final : public PieceSink {
 public:
  void put(std::uint64_t /*position*/, ConstByteSpan keys) override {
    sizes_.push_back(keys.size());
  }
  [[nodiscard]] const std::vector<std::size_t>& sizes() const { return sizes_; }

 private:
  std::vector<std::size_t> sizes_;
};

// The first slice gives the least keys alone, which become raw where they are; after that it says
// nothing of where the next cut may be.
TEST(MergesOfTheCpuEngine, CutAtTheSameKeysWhateverTheirRawFormIs) {
  const KeyFormat format{KeyType::kU64, false, true};
  std::mt19937_64 random(11);
  std::vector<std::uint64_t> keys(7 * kStretch);
  for (std::uint64_t i = 0; i < keys.size(); ++i) {
    keys[i] = i < kStretch ? i * 1000 : (std::uint64_t{1} << 62) + random() % (1ULL << 62);
  }
  const Counts counts = {kStretch, 3 * kStretch, 3 * kStretch};
  std::sort(keys.begin() + kStretch, keys.begin() + 4 * kStretch);
  std::sort(keys.begin() + 4 * kStretch, keys.end());
  const auto sizes_as = [&](KeyForm form) {
    test::EngineUnderTest engine("cpu", test::shape_for(format, 1), 1, keys.size());
    const auto lanes = engine->make_merge_lanes(1, keys.size());
    std::ranges::copy(std::as_bytes(std::span(keys)), lanes[0]->input().begin());
    SizesOfPieces pieces;
    lanes[0]->merge(counts, 0, form, pieces);
    return pieces.sizes();
  };
  EXPECT_EQ(sizes_as(KeyForm::kRaw), sizes_as(KeyForm::kOrdered));
}

INSTANTIATE_TEST_SUITE_P(Engines, MergesOfEngine, testing::ValuesIn(test::kEngineNames),
                         test::engine_name);

}  // namespace
}  // namespace gsort
