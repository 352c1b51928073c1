#include "report/status.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/measured.hpp"

namespace gsort {
namespace {

PhaseRecord reading(std::uint64_t bytes, std::uint64_t total) {
  PhaseRecord phase = test::phase_of(Phase::kRead, 1, 2);
  phase.total_bytes = total;
  phase.stages[Stage::kRead].bytes = bytes;
  return phase;
}

TEST(StatusTracker, TellsRateAndWhatIsLeft) {
  StatusTracker tracker;
  const Status status = tracker.look(reading(3'000, 9'000), 2.5);
  EXPECT_DOUBLE_EQ(status.phase_seconds, 1.5);
  EXPECT_DOUBLE_EQ(status.bytes_per_second, 2'000);
  ASSERT_TRUE(status.seconds_left);
  EXPECT_DOUBLE_EQ(*status.seconds_left, 3);
}

TEST(StatusTracker, CountsWhatLaterPhasesMove) {
  StatusTracker tracker;
  PhaseRecord phase = reading(3'000, 9'000);
  phase.later_bytes = 10'000;
  const Status status = tracker.look(phase, 2.5);
  EXPECT_EQ(status.total_bytes, 9'000);
  EXPECT_DOUBLE_EQ(status.seconds_left.value_or(0), 8);
}

TEST(StatusTracker, ForgetsHowFastItWasLongAgo) {
  StatusTracker tracker;
  static_cast<void>(tracker.look(reading(100'000, 0), 2));
  for (unsigned i = 1; i <= 10; ++i) {
    const Status status = tracker.look(reading(100'000 + std::uint64_t{10} * i, 0), 2 + i);
    if (i == 10) {
      EXPECT_DOUBLE_EQ(status.bytes_per_second, 10);
    }
  }
}

TEST(StatusTracker, BeginsAnewWithEveryPhase) {
  StatusTracker tracker;
  static_cast<void>(tracker.look(reading(1'000'000, 0), 2));
  PhaseRecord merging = test::phase_of(Phase::kMerge, 3, 3);
  merging.stages[Stage::kSpill].bytes = 10;
  merging.stages[Stage::kWrite].bytes = 30;
  EXPECT_DOUBLE_EQ(tracker.look(merging, 5).bytes_per_second, 20);
}

TEST(StatusLine, CountsTheRoundsOfMerging) {
  StatusTracker tracker;
  PhaseRecord merging = test::phase_of(Phase::kMerge, 1, 2);
  EXPECT_EQ(status_line(tracker.look(merging, 2)).find("round"), std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(status_json(tracker.look(merging, 2))).contains("round"));
  merging.round = 2;
  merging.rounds = 3;
  const Status status = tracker.look(merging, 2);
  EXPECT_TRUE(status_line(status).starts_with("merging, round 2 of 3: 0 B"));
  EXPECT_EQ(nlohmann::json::parse(status_json(status)).at("round"), 2);
  EXPECT_EQ(nlohmann::json::parse(status_json(status)).at("rounds"), 3);
}

TEST(StatusLine, SaysPhaseBytesRateAndWhatIsLeft) {
  Status status;
  status.bytes = std::uint64_t{512} << 20;
  status.total_bytes = std::uint64_t{1} << 30;
  status.bytes_per_second = 1.2e9;
  status.seconds_left = 0.6;
  EXPECT_EQ(status_line(status), "reading: 512 MiB of 1 GiB (50%), 1.12 GiB/s, 1 s left");
  status.seconds_left = 75;
  EXPECT_TRUE(status_line(status).ends_with(", 1 min 15 s left"));
  status.seconds_left = 7'500;
  EXPECT_TRUE(status_line(status).ends_with(", 2 h 05 min left"));
}

TEST(StatusLine, LeavesOutWhatIsNotKnown) {
  Status status;
  status.phase = Phase::kMerge;
  status.bytes = 1'000;
  EXPECT_EQ(status_line(status), "merging: 0.98 KiB, 0 B/s") << "the phase makes no progress";
  status.bytes = 0;
  EXPECT_EQ(status_line(status), "merging: 0 B");
  status.total_bytes = 1'000;
  EXPECT_EQ(status_line(status), "merging: 0 B of 0.98 KiB (0%)");
  status.phase = Phase::kSync;
  status.phase_seconds = 3;
  EXPECT_EQ(status_line(status), "syncing: 3 s");
}

TEST(StatusJson, IsOneLineWithTheSameFigures) {
  Status status;
  status.phase = Phase::kWrite;
  status.bytes = 5;
  status.total_bytes = 10;
  const std::string line = status_json(status);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json.at("phase"), "write");
  EXPECT_EQ(json.at("bytes"), 5);
  EXPECT_EQ(json.at("total_bytes"), 10);
  EXPECT_TRUE(json.at("seconds_left").is_null());
  EXPECT_EQ(nlohmann::json::parse(done_json(1.5, 7)).at("phase"), "done");
}

}  // namespace
}  // namespace gsort
