#include "cluster/rank_report.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/measured.hpp"
#include "unit/cluster/local_team.hpp"

namespace gsort::cluster {
namespace {

using Json = nlohmann::ordered_json;

// Reports of two processes; the numbers of the second one are greater by 1,000.
std::vector<RankReport> two_reports() {
  std::vector<RankReport> reports(2);
  gsort::test::set_each(reports[0], 1'000);
  gsort::test::set_each(reports[1], 2'000);
  return reports;
}

TEST(RankReports, HoldEveryStatisticOfTheTable) {
  Request request;
  request.inputs = {"in"};
  request.output = "out";
  test::LocalNetwork network(2);
  Json ranks;
  test::run_job(network, [&](Team& team) {
    ClusterOutcome outcome(false);
    outcome.ranks = gather_reports(team, two_reports().at(team.rank()));
    if (team.rank() == 0) ranks = Json::parse(cluster_stats(team, outcome, request))["ranks"];
  });
  ASSERT_EQ(ranks.size(), 2U);
  std::string fields;
  for (const auto& [name, value] : ranks[1].items()) fields += name + " ";
  EXPECT_EQ(fields,
            "rank host share elements_read elements_written lost_nan_payloads runs resumed_runs "
            "resumed_elements devices device_bytes kept_bytes spilled_bytes loaded_bytes own_bytes "
            "sent_bytes sent_frame_bytes sent_frames deferred_bytes form_seconds exchange_seconds "
            "waiting_seconds sync_seconds peak_resident_bytes ");
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const RankReport expected = two_reports()[rank];
    for_each_statistic([&](const StatisticRow& row, auto member) {
      if (row.rank_name.empty()) return;
      EXPECT_EQ(ranks[rank].at(std::string(row.rank_name)), expected.*member) << row.member;
    });
  }
}

TEST(RankReports, AddUp) {
  Statistics all;
  all.elements = 5;
  for (const RankReport& report : two_reports()) add_up(all, report);
  const std::vector<RankReport> reports = two_reports();
  EXPECT_EQ(all.elements, 5U) << "each process knows how many all have";
  EXPECT_EQ(all.bytes, 0U);
  EXPECT_EQ(all.runs, reports[0].runs + reports[1].runs);
  EXPECT_EQ(all.resumed_runs, reports[0].resumed_runs + reports[1].resumed_runs);
  EXPECT_EQ(all.resumed_elements, reports[0].resumed_elements + reports[1].resumed_elements);
  EXPECT_EQ(all.lost_nan_payloads, reports[0].lost_nan_payloads + reports[1].lost_nan_payloads);
  EXPECT_EQ(all.output_elements, reports[0].output_elements + reports[1].output_elements);
  EXPECT_EQ(all.form_seconds, reports[1].form_seconds);
  EXPECT_EQ(all.peak_resident_bytes, reports[1].peak_resident_bytes);
}

}  // namespace
}  // namespace gsort::cluster
