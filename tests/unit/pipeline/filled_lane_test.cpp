#include "pipeline/filled_lane.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/engines.hpp"
#include "support/sinks.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using Keys = std::vector<std::uint32_t>;

constexpr std::uint64_t kCount = 10'000;
constexpr KeyFormat kU32{KeyType::kU32, false, false};

Keys numbers() {
  Keys keys(kCount);
  std::iota(keys.rbegin(), keys.rend(), 0U);
  return keys;
}

// A chunk of two stretches of the input, which cross the border of two files.
class FillAgain : public testing::Test {
 protected:
  FillAgain() {
    filled_.lane = lanes_.front().get();
    filled_.input = proof_.look(bytes().subspan(4 * 500, 4 * 1'000));
    filled_.input += proof_.look(bytes().subspan(4 * 2'000, 4 * 7'000));
  }
  [[nodiscard]] ConstByteSpan bytes() const { return std::as_bytes(std::span(keys_)); }
  void fill() { fill_again(filled_, reader_, proof_, nullptr); }

  const Keys keys_ = numbers();
  const io::test::TempFolder folder_;
  EngineShape shape_ = test::shape_for(kU32, kCount);
  test::EngineUnderTest engine_{"std", shape_};
  std::vector<std::unique_ptr<ChunkLane>> lanes_ = engine_->make_chunk_lanes();
  Proof proof_{ElementFormat{kU32, {}}, true};
  io::Reader reader_ = [this] {
    io::test::write_file(folder_ / "in1", bytes().first(4 * 3'000));
    io::test::write_file(folder_ / "in2", bytes().subspan(4 * 3'000));
    return io::Reader({folder_ / "in1", folder_ / "in2"},
                      {4, DirectIo::kAuto, {FileFormat::kBinary, Codec::kNone}});
  }();
  FilledLane filled_{nullptr, {}, 0, {{4 * 500, 4 * 1'000}, {4 * 2'000, 4 * 7'000}}};
};

TEST_F(FillAgain, ReadsTheSameElementsFromWhereTheyWere) {
  fill();
  filled_.lane->sort(KeyForm::kOrdered);
  test::CollectingSink sorted(8'000, 4);
  filled_.lane->emit(sorted);
  EXPECT_EQ(sorted.complaint(), "");
  Keys wanted(keys_.begin() + 500, keys_.begin() + 1'500);
  wanted.insert(wanted.end(), keys_.begin() + 2'000, keys_.begin() + 9'000);
  std::ranges::sort(wanted);
  EXPECT_TRUE(std::ranges::equal(sorted.bytes(), std::as_bytes(std::span(wanted))));
  EXPECT_EQ(proof_.input().count, 0U) << "they have been added when they were read first";
}

TEST_F(FillAgain, NamesAnInputThatWasWrittenTo) {
  Keys other = keys_;
  other[4'000] = 0;
  io::test::write_file(folder_ / "in2",
                       std::as_bytes(std::span(other)).subspan(std::size_t{4} * 3'000));
  const Error error = io::test::error_of([&] { fill(); });
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_EQ(error.path(), folder_ / "in2");
}

TEST_F(FillAgain, TakesNoOtherElements) {
  filled_.input = proof_.look(bytes().first(4 * 8'000));
  const Error error = io::test::error_of([&] { fill(); });
  EXPECT_EQ(error.kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(error.reason(), "the input holds other elements now");
}

TEST(ReadPieces, JoinsWhatFollowsEachOther) {
  ReadPieces read;
  read.add({100, 20}, {});
  read.add({120, 30}, {});
  read.add({160, 40}, {});
  read.add({0, 10}, {});
  EXPECT_EQ(read.bytes, 100U);
  std::vector<std::array<std::uint64_t, 2>> from;
  for (const io::InputBlock& block : read.from) from.push_back({block.position_bytes, block.bytes});
  EXPECT_EQ(from, (std::vector<std::array<std::uint64_t, 2>>{{100, 50}, {160, 40}, {0, 10}}));
}

class SharedFillOfTen : public testing::Test {
 protected:
  EngineShape shape_ = test::shape_for(kU32, 10);
  test::EngineUnderTest engine_{"std", shape_};
  std::vector<std::unique_ptr<ChunkLane>> lanes_ = engine_->make_chunk_lanes();
  SharedFill fill_{*lanes_.front(), 10};
  const DeviceError failure_{1, Error(ErrorKind::kDevice, "sorting", "failed")};
};

TEST_F(SharedFillOfTen, HasTheLastBlockEndItAlone) {
  EXPECT_EQ(fill_.begin_block(6), 6U);
  EXPECT_FALSE(fill_.is_full());
  EXPECT_EQ(fill_.begin_block(6), 4U);
  EXPECT_TRUE(fill_.is_full());
  EXPECT_EQ(fill_.begin_block(6), 0U) << "there is no room";
  EXPECT_FALSE(fill_.end_block());
  EXPECT_TRUE(fill_.end_block());
}

TEST_F(SharedFillOfTen, IsNotFullWhileThereIsRoom) {
  EXPECT_EQ(fill_.begin_block(6), 6U);
  EXPECT_FALSE(fill_.end_block());
}

TEST_F(SharedFillOfTen, PlacesBlocksBehindEachOther) {
  ReadPieces read;
  read.add({0, 16}, {.count = 4, .first = 1, .second = 2});
  EXPECT_EQ(fill_.place(read), 0U);
  EXPECT_EQ(fill_.place(read), 4U);
  EXPECT_EQ(fill_.filled().input.count, 8U);
  EXPECT_EQ(fill_.filled().from.size(), 2U);
}

TEST_F(SharedFillOfTen, BeginsNoBlockAfterAFailure) {
  EXPECT_EQ(fill_.begin_block(2), 2U);
  EXPECT_EQ(fill_.begin_block(2), 2U);
  fill_.fail(failure_);
  fill_.fail(DeviceError(2, Error(ErrorKind::kDevice, "sorting", "failed, too")));
  EXPECT_TRUE(fill_.is_full());
  EXPECT_EQ(fill_.begin_block(2), 0U);
  EXPECT_FALSE(fill_.end_block());
  EXPECT_TRUE(fill_.end_block());
  ASSERT_TRUE(fill_.failure().has_value());
  EXPECT_EQ(fill_.failure()->ordinal(), 1) << "the first failure is kept";
}

}  // namespace
}  // namespace gsort
