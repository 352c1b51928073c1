#include "report/stats.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/invented.hpp"
#include "support/measured.hpp"

namespace gsort {
namespace {

using Json = nlohmann::json;

Json stats_of(const Outcome& outcome, const Options& options) {
  const Machine machine = test::invented_machine(kGiB, 4, 64 * kGiB);
  return Json::parse(stats_json(outcome, test::plan_of(options, machine), options, machine));
}

Outcome outcome_of_a_sort() {
  Outcome outcome;
  outcome.elements = 1'000;
  outcome.bytes = 4'000;
  outcome.seconds = 2;
  outcome.peak_resident_bytes = kMiB;
  outcome.device_bytes = 30;
  outcome.kept_bytes = 20;
  outcome.spilled_bytes = 10;
  outcome.verified = true;
  outcome.fingerprint = {255, 1, 2};
  outcome.notes = {"in: cached"};
  outcome.lost_devices = {{1, "sorting: lost"},
                          {std::nullopt, "pinning: refused", DoneAgain::kParts}};
  outcome.phases = {test::phase_of(Phase::kRead, 0, 1), test::phase_of(Phase::kWrite, 1, 1.75)};
  test::moved(outcome.phases[0], Stage::kRead, 4'000, 5'000);
  test::moved(outcome.phases[1], Stage::kWrite, 4'000, 0);
  outcome.phases[0].stages[Stage::kSpill].waiting_ns = 500'000'000;
  return outcome;
}

TEST(Stats, HoldTheSort) {
  const Json json = stats_of(outcome_of_a_sort(), test::options_for(KeyType::kF32));
  EXPECT_EQ(json.at("version"), kStatsVersion);
  EXPECT_EQ(json.at("input").at("files"), Json({"in"}));
  EXPECT_EQ(json.at("input").at("elements"), 1'000);
  EXPECT_EQ(json.at("input").at("type"), "f32");
  EXPECT_TRUE(json.at("output").is_null());
  EXPECT_EQ(json.at("engine"), "cpu");
  EXPECT_EQ(json.at("seconds"), 2.0);
  EXPECT_EQ(json.at("bytes_per_second"), 2'000.0);
  EXPECT_EQ(json.at("bytes").at("read"), 4'000);
  EXPECT_EQ(json.at("bytes").at("written"), 4'000);
  EXPECT_EQ(json.at("bytes").at("kept_on_device"), 30);
  EXPECT_EQ(json.at("bytes").at("kept_in_memory"), 20);
  EXPECT_EQ(json.at("bytes").at("spilled"), 10);
  EXPECT_EQ(json.at("memory").at("peak_resident_bytes"), kMiB);
  EXPECT_EQ(json.at("fingerprint"), to_string(Fingerprint{255, 1, 2}));
  EXPECT_EQ(json.at("notes"), Json({"in: cached"}));
  EXPECT_EQ(json.at("lost_devices").at(0).at("ordinal"), 1);
  EXPECT_EQ(json.at("lost_devices").at(0).at("failure"), "sorting: lost");
  EXPECT_EQ(json.at("lost_devices").at(0).at("again"), "sort");
  EXPECT_EQ(json.at("lost_devices").at(1).at("again"), "parts");
  EXPECT_TRUE(json.at("lost_devices").at(1).at("ordinal").is_null());
  EXPECT_EQ(json.at("plan").at("strategy"), "one chunk");
}

const Json& part_of(const Json& json, StatsPart part) {
  if (part == StatsPart::kInput) return json.at("input");
  if (part == StatsPart::kBytes) return json.at("bytes");
  return part == StatsPart::kMemory ? json.at("memory") : json;
}

TEST(Stats, HoldEveryStatisticOfTheTable) {
  Outcome outcome;
  test::set_each(outcome, 1'000);
  const Json json = stats_of(outcome, test::options_for(KeyType::kF32));
  std::size_t found = 0;
  for_each_statistic([&](const StatisticRow& row, auto member) {
    if (row.part == StatsPart::kNone) return;
    EXPECT_EQ(part_of(json, row.part).at(std::string(row.name)), outcome.*member) << row.member;
    ++found;
  });
  EXPECT_GE(found, 14U);
}

TEST(Stats, HoldEveryStageThatDidOrWaitedForSomething) {
  const Json json = stats_of(outcome_of_a_sort(), test::options_for(KeyType::kF32));
  const Json& read = json.at("phases").at(0);
  EXPECT_EQ(read.at("name"), "read");
  EXPECT_EQ(read.at("seconds"), 1.0);
  ASSERT_EQ(read.at("stages").size(), 2U);
  EXPECT_EQ(read.at("stages").at(0).at("name"), "read");
  EXPECT_EQ(read.at("stages").at(0).at("best_bytes_per_second"), 5'000);
  EXPECT_EQ(read.at("stages").at(1).at("name"), "spill");
  EXPECT_EQ(read.at("stages").at(1).at("waiting_seconds"), 0.5);
  EXPECT_TRUE(json.at("phases").at(1).at("stages").at(0).at("best_bytes_per_second").is_null());
}

TEST(Stats, HoldWhatTheStagesDidForEachDevice) {
  Outcome outcome = outcome_of_a_sort();
  PhaseRecord& phase = outcome.phases[0];
  phase.devices = {{0, {}}, {5, {}}};
  phase.devices[1].stages[Stage::kCopyIn] = {2'000'000'000, 500'000'000, 77, 3, 40};
  const Json json = stats_of(outcome, test::options_for(KeyType::kF32));
  const Json& devices = json.at("phases").at(0).at("devices");
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_TRUE(devices.at(0).at("stages").empty());
  EXPECT_EQ(devices.at(1).at("ordinal"), 5);
  const Json& stages = devices.at(1).at("stages");
  ASSERT_EQ(stages.size(), 1U);
  EXPECT_EQ(stages.at(0).at("name"), "copy in");
  EXPECT_EQ(stages.at(0).at("busy_seconds"), 2.0);
  EXPECT_EQ(stages.at(0).at("waiting_seconds"), 0.5);
  EXPECT_EQ(stages.at(0).at("bytes"), 77);
  EXPECT_TRUE(json.at("phases").at(1).at("devices").empty());
}

TEST(Stats, CountWhatCrossedTheBusAndNotWhatItStandsFor) {
  Outcome outcome = outcome_of_a_sort();
  for (PhaseRecord& phase : outcome.phases) test::moved(phase, Stage::kCopyOut, 4'000, 0);
  outcome.phases[0].stages[Stage::kCopyOut].moved_bytes = 1'500;  // packed
  const Json json = stats_of(outcome, test::options_for(KeyType::kF32));
  EXPECT_EQ(json.at("bytes").at("bus_from_device"), 5'500);
  EXPECT_EQ(json.at("bytes").at("bus_to_device"), 0);
}

TEST(Stats, SayNullForWhatIsNotKnown) {
  Outcome outcome = outcome_of_a_sort();
  outcome.verified = false;
  Options options = test::options_for(KeyType::kI32);
  options.output = "out";
  const Json json = stats_of(outcome, options);
  EXPECT_TRUE(json.at("fingerprint").is_null());
  EXPECT_TRUE(json.at("busiest").is_null()) << "writing takes long and showed no rate";
  EXPECT_TRUE(json.at("limit").is_null()) << "nobody measured it";
  EXPECT_EQ(json.at("output"), "out");
}

TEST(Stats, HoldTheBusiestStages) {
  Outcome outcome = outcome_of_a_sort();
  outcome.phases[1].best_rates[Stage::kWrite] = 8'000;
  const Json busiest = stats_of(outcome, test::options_for(KeyType::kI32)).at("busiest");
  EXPECT_DOUBLE_EQ(busiest.at("seconds").get<double>(), 1.3);
  EXPECT_DOUBLE_EQ(busiest.at("ratio").get<double>(), 2 / 1.3);
  EXPECT_EQ(busiest.at("stage"), "reading");
}

TEST(Stats, HoldTheLimitOfDisksAndMemory) {
  Machine machine = test::invented_machine(kGiB, 4, 64 * kGiB);
  machine.rates.limits = Limits{8'000, 5'000, 1e9};
  const Options options = test::options_for(KeyType::kI32);
  const Json limit = Json::parse(stats_json(outcome_of_a_sort(), test::plan_of(options, machine),
                                            options, machine))
                         .at("limit");
  EXPECT_DOUBLE_EQ(limit.at("seconds").get<double>(), 0.5 + 0.8);
  EXPECT_DOUBLE_EQ(limit.at("ratio").get<double>(), 2 / 1.3);
}

TEST(Stats, SurviveNamesThatAreNoText) {
  Options options = test::options_for(KeyType::kI32);
  options.inputs = {"bad\xff\"name"};
  EXPECT_TRUE(stats_of({}, options).at("input").at("files").at(0).is_string());
}

}  // namespace
}  // namespace gsort
