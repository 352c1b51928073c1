#include "cluster/job_progress.hpp"

#include <gtest/gtest.h>

#include "unit/cluster/local_team.hpp"

namespace gsort::cluster {
namespace {

TEST(JobProgress, IsThatOfTheProcessesInTheEarliestPhase) {
  JobProgress all;
  all.begin({"a", "b", "c"}, 300);
  EXPECT_EQ(all.phase(1).phase, Phase::kRead);
  EXPECT_EQ(all.phase(1).stages[Stage::kRead].bytes, 0);
  all.note(0, {Phase::kMerge, 40, 100});
  all.note(1, {Phase::kRead, 70, 100});
  all.note(2, {Phase::kRead, 20, 100});
  const PhaseRecord reading = all.phase(9);
  EXPECT_EQ(reading.phase, Phase::kRead);
  EXPECT_EQ(reading.begin_ns, 1);
  EXPECT_EQ(reading.total_bytes, 300);
  EXPECT_EQ(reading.later_bytes, 300);
  EXPECT_EQ(reading.stages[Stage::kRead].bytes, 190);
  ASSERT_TRUE(all.slowest());
  EXPECT_EQ(all.slowest()->name, "c");
  EXPECT_DOUBLE_EQ(all.slowest()->percent, 20);

  all.note(1, {Phase::kMerge, 0, 100});
  all.note(2, {Phase::kMerge, 10, 100});
  const PhaseRecord merging = all.phase(20);
  EXPECT_EQ(merging.phase, Phase::kMerge);
  EXPECT_EQ(merging.begin_ns, 20);
  EXPECT_EQ(merging.stages[Stage::kWrite].bytes, 50);
  EXPECT_EQ(all.slowest()->name, "b");
}

TEST(JobProgress, OfOneProcessHasItsRounds) {
  JobProgress all;
  all.begin({"a"}, 100);
  Meter meter;
  meter.begin_phase(Phase::kMerge, 300, 0);
  meter.begin_round(2, 3);
  all.follow(&meter);
  EXPECT_EQ(all.phase(1).round, 2U);
  EXPECT_EQ(all.phase(1).rounds, 3U);
  EXPECT_EQ(all.phase(1).total_bytes, 300U);
  all.follow(nullptr);
  EXPECT_EQ(all.phase(1).rounds, 0U);
}

TEST(JobProgress, NamesNoProcessThatHasNothingToDo) {
  JobProgress all;
  all.begin({"a", "b"}, 100);
  all.note(0, {Phase::kRead, 0, 0});
  all.note(1, {Phase::kRead, 60, 100});
  EXPECT_EQ(all.slowest()->name, "b");
  all.note(0, {Phase::kSync, 0, 0});
  all.note(1, {Phase::kSync, 0, 0});
  EXPECT_FALSE(all.slowest());
}

TEST(JobProgress, NamesNoSlowestProcessOfOne) {
  JobProgress all;
  EXPECT_EQ(all.phase(1).phase, Phase::kRead);
  EXPECT_FALSE(all.slowest());
  all.begin({"a"}, 100);
  EXPECT_FALSE(all.slowest());
}

// The first report comes with the first step.
TEST(ProgressReports, EndWithTheirObject) {
  test::LocalNetwork network(1);
  test::run_job(network, [](Team& team) {
    JobProgress progress;
    Meter meter;
    meter.begin_phase(Phase::kMerge, 300, 0);
    meter.begin_round(2, 3);
    {
      const ProgressReports reports(team, meter, 100, progress);
      progress.follow(&meter);
      EXPECT_EQ(progress.phase(1).rounds, 3U);
    }
    EXPECT_EQ(progress.phase(1).rounds, 0U);
    team.step();
    EXPECT_EQ(progress.phase(1).phase, Phase::kRead);
    const ProgressReports reports(team, meter, 100, progress);
    team.step();
    EXPECT_EQ(progress.phase(1).phase, Phase::kMerge);
  });
}

}  // namespace
}  // namespace gsort::cluster
