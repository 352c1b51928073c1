#include "pipeline/forming_lanes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <utility>
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

// A chunk of two stretches of the input; the second crosses the border of two files.
class FillAgain : public testing::Test {
 protected:
  FillAgain() {
    chunk_.input = proof_.look(bytes().subspan(4 * 500, 4 * 1'000));
    chunk_.input += proof_.look(bytes().subspan(4 * 2'000, 4 * 7'000));
  }
  [[nodiscard]] ConstByteSpan bytes() const { return std::as_bytes(std::span(keys_)); }
  void fill() { fill_again(*lanes_.front(), chunk_, reader_, proof_, nullptr); }

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
                      {4, {DirectIo::kAuto}, {FileFormat::kBinary, Codec::kNone}});
  }();
  ReadPieces chunk_{4 * 8'000, {}, {{4 * 500, 4 * 1'000}, {4 * 2'000, 4 * 7'000}}};
};

TEST_F(FillAgain, ReadsTheSameElementsFromWhereTheyWere) {
  fill();
  lanes_.front()->sort(KeyForm::kOrdered);
  test::CollectingSink sorted(8'000, 4);
  lanes_.front()->emit(sorted);
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
  chunk_.input = proof_.look(bytes().first(4 * 8'000));
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

class FormingLanesOfTen : public testing::Test {
 protected:
  static Plan plan_of(unsigned lanes) {
    Plan plan;
    plan.devices.resize(1);
    plan.chunk.lanes = lanes;
    return plan;
  }
  // Begins a lane and opens it for ten elements.
  FormingLane& opened(FormingLanes& lanes) {
    FormingLane& lane = *lanes.begin(6).first;
    lane.room = 10;
    lanes.step(lane, LaneState::kOpen);
    return lane;
  }

  EngineShape shape_ = [] {
    EngineShape shape = test::shape_for(kU32, 10);
    shape.chunk_lanes = 2;
    return shape;
  }();
  test::EngineUnderTest engine_{"std", shape_};
  FormingLanes lanes_{engine_->make_chunk_lanes(), plan_of(2)};
  const DeviceError failure_{1, Error(ErrorKind::kDevice, "sorting", "failed")};
};

TEST_F(FormingLanesOfTen, HaveTheLastBlockEndTheChunkAlone) {
  FormingLane& lane = opened(lanes_);
  EXPECT_EQ(lanes_.begin(6), (std::pair{&lane, std::uint64_t{6}}));
  EXPECT_EQ(lane.state, LaneState::kOpen);
  EXPECT_EQ(lanes_.begin(6), (std::pair{&lane, std::uint64_t{4}}));
  EXPECT_EQ(lane.state, LaneState::kShut) << "there is no room";
  EXPECT_FALSE(lanes_.end_block(lane, {}));
  EXPECT_TRUE(lanes_.end_block(lane, {}));
  EXPECT_EQ(lane.state, LaneState::kFull);
}

TEST_F(FormingLanesOfTen, AreNotFullWhileThereIsRoom) {
  FormingLane& lane = opened(lanes_);
  EXPECT_EQ(lanes_.begin(6).second, 6U);
  EXPECT_FALSE(lanes_.end_block(lane, {}));
  EXPECT_EQ(lanes_.end_open(), &lane) << "when the input has ended";
  EXPECT_EQ(lanes_.end_open(), nullptr);
}

TEST_F(FormingLanesOfTen, PlaceBlocksBehindEachOther) {
  FormingLane& lane = opened(lanes_);
  ReadPieces read;
  read.add({0, 16}, {.count = 4, .first = 1, .second = 2});
  EXPECT_EQ(lanes_.place(lane, read), 0U);
  EXPECT_EQ(lanes_.place(lane, read), 4U);
  EXPECT_EQ(lane.chunk.input.count, 8U);
  EXPECT_EQ(lane.chunk.from.size(), 2U);
}

TEST_F(FormingLanesOfTen, BeginNoBlockAfterAFailure) {
  FormingLane& lane = opened(lanes_);
  EXPECT_EQ(lanes_.begin(2).first, &lane);
  EXPECT_EQ(lanes_.begin(2).first, &lane);
  EXPECT_FALSE(lanes_.end_block(lane, failure_));
  EXPECT_NE(lanes_.begin(2).first, &lane) << "another lane is begun";
  const DeviceError second(2, Error(ErrorKind::kDevice, "sorting", "failed, too"));
  EXPECT_TRUE(lanes_.end_block(lane, second));
  ASSERT_TRUE(lane.failure.has_value());
  EXPECT_EQ(lane.failure->ordinal(), 1) << "the first failure is kept";
}

TEST_F(FormingLanesOfTen, EndAllWaitsAfterAFailure) {
  try {
    throw DeviceError(failure_);
  } catch (...) {
    lanes_.give_up();
  }
  EXPECT_EQ(lanes_.begin(2).first, nullptr);
  EXPECT_EQ(lanes_.emit(0, true), nullptr);
  EXPECT_THROW(lanes_.rethrow(), DeviceError);
}

// Readers fill one lane of each spiller, which empties another.
TEST_F(FormingLanesOfTen, AreTakenByTheOneThatSpillsThem) {
  Plan plan = plan_of(2);
  plan.chunk.spillers = 2;
  FormingLanes lanes(engine_->make_chunk_lanes(), plan);
  FormingLane* const each[] = {lanes.begin(2).first, lanes.begin(2).first};
  for (FormingLane* const lane : each) {
    for (const LaneState state : {LaneState::kFull, LaneState::kReady}) lanes.step(*lane, state);
  }
  EXPECT_EQ(lanes.emit(1, true), each[1]);
  EXPECT_EQ(lanes.emit(1, false), nullptr);
  EXPECT_EQ(lanes.emit(0, false), each[0]);
}

// Takes the steps of the table, and all others.
class LaneSteps : public FormingLanesOfTen {
 protected:
  using Step = std::pair<LaneState, LaneState>;
  static constexpr std::size_t kStates = static_cast<std::size_t>(LaneState::kLost) + 1;

  // Steps that lead to the state.
  static std::vector<LaneState> way_to(LaneState state) {
    using enum LaneState;
    if (state == kFree) return {kBegun, kFull, kFree};
    std::vector<LaneState> way{kBegun, kOpen, kShut, kFull, kReady, kEmitting, kLost};
    way.erase(std::ranges::find(way, state) + 1, way.end());
    return way;
  }
};

TEST_F(LaneSteps, AreRefusedIfTheyAreNotInTheTable) {
  const std::set<Step> table(kLaneSteps.begin(), kLaneSteps.end());
  EXPECT_EQ(table.size(), kLaneSteps.size());
  for (std::size_t from = 0; from < kStates; ++from) {
    for (std::size_t to = 0; to < kStates; ++to) {
      const Step step{static_cast<LaneState>(from), static_cast<LaneState>(to)};
      SCOPED_TRACE(testing::Message() << "from state " << from << " to " << to);
      FormingLanes lanes(engine_->make_chunk_lanes(), plan_of(2));
      FormingLane* const lane = lanes.begin(1).first;
      for (const LaneState state : way_to(step.first)) {
        if (state != LaneState::kBegun) lanes.step(*lane, state);
      }
      EXPECT_EQ(lane->state, step.first);
      if (table.contains(step)) {
        EXPECT_NO_THROW(lanes.step(*lane, step.second));
        EXPECT_EQ(lane->state, step.second);
      } else {
        EXPECT_EQ(io::test::error_of([&] { lanes.step(*lane, step.second); }).kind(),
                  ErrorKind::kCorrupt);
        EXPECT_EQ(lane->state, step.first);
      }
    }
  }
}

}  // namespace
}  // namespace gsort
