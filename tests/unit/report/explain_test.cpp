#include "report/explain.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/invented.hpp"

namespace gsort {
namespace {

struct Case {
  Options options;
  Machine machine;
  Plan plan;
};

Case case_of(std::optional<std::uint64_t> input_bytes, KeyType type, const std::string& budget) {
  Case c{test::options_for(type, budget), test::invented_machine(input_bytes, 4, 64 * kGiB), {}};
  c.plan = test::plan_of(c.options, c.machine);
  return c;
}

std::string text_of(const Case& c) {
  return explain(ExplainMode::kText, c.plan, c.machine);
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(ExplainText, SaysWhatWillHappenToEveryKindOfInput) {
  expect_part(text_of(case_of(kMiB, KeyType::kI32, "1G")), "one chunk");
  expect_part(text_of(case_of(kMiB, KeyType::kU8, "1G")), "count every value");
  expect_part(text_of(case_of({}, KeyType::kI32, "1G")), "a pipe");
  const Case spills = case_of(10 * kGiB, KeyType::kI32, "256M");
  expect_part(text_of(spills), format_count(spills.plan.run.count) + " runs");
  expect_part(text_of(spills), "/scratch");
}

TEST(ExplainText, CountsTheRoundsBeforeTheLastMerge) {
  Case c = case_of(10 * kGiB, KeyType::kI32, "256M");
  c.options.batch_size = 4;
  c.plan = test::plan_of(c.options, c.machine);
  ASSERT_FALSE(c.plan.run.rounds.empty());
  expect_part(text_of(c), std::to_string(c.plan.run.rounds.size()) + " round");
}

TEST(Explain, SaysHowMuchStaysOnTheDevice) {
  Case c = case_of(30 * kGiB, KeyType::kU64, "2G");
  test::add_gpu(c.machine, 40 * kGiB);
  c.options.engine = EngineChoice::kCuda;
  c.plan = test::plan_of(c.options, c.machine);
  ASSERT_GT(c.plan.run.device_buffers, 0U);
  expect_part(text_of(c), "up to " + format_bytes(c.plan.run.device_bytes()) +
                              " stay on the device, then up to");
  const auto json = nlohmann::json::parse(explain(ExplainMode::kJson, c.plan, c.machine));
  EXPECT_EQ(json.at("device_run_bytes"), c.plan.run.device_bytes());
}

TEST(Explain, SaysHowMuchStaysOnEveryDevice) {
  Case c = case_of(30 * kGiB, KeyType::kU64, "2G");
  test::add_gpu(c.machine, 40 * kGiB);
  test::add_gpu(c.machine, 20 * kGiB);
  c.options.engine = EngineChoice::kCuda;
  c.options.devices.all = true;
  c.plan = test::plan_of(c.options, c.machine);
  c.plan.devices[1].link_bytes_per_second = 64e9;
  c.plan.devices[1].node = 1;
  ASSERT_GT(c.plan.run.device_buffers, 0U);
  expect_part(text_of(c), "up to " + format_bytes(c.plan.device_run_bytes()) +
                              " stay on the devices, then up to");
  expect_part(text_of(c), "device 0   at most 36 GiB of 40 GiB free");
  expect_part(text_of(c),
              "device 1   at most 18 GiB of 20 GiB free, link of 59.6 GiB/s, NUMA node 1");
  const auto json = nlohmann::json::parse(explain(ExplainMode::kJson, c.plan, c.machine));
  EXPECT_EQ(json.at("device_run_bytes"), c.plan.device_run_bytes());
  EXPECT_EQ(json.at("device_budget_bytes"), 54 * kGiB);
  ASSERT_EQ(json.at("devices").size(), 2U);
  EXPECT_EQ(json.at("devices")[1].at("ordinal"), 1);
  EXPECT_EQ(json.at("devices")[1].at("name"), "an invented GPU");
  EXPECT_EQ(json.at("devices")[1].at("budget_bytes"), 18 * kGiB);
  EXPECT_TRUE(json.at("devices")[0].at("numa_node").is_null());
  EXPECT_EQ(json.at("devices")[1].at("numa_node"), 1);
  EXPECT_EQ(json.at("devices")[1].at("link_bytes_per_second"), 64e9);
}

TEST(ExplainJson, HoldsThePlanExactly) {
  const Case c = case_of(10 * kGiB, KeyType::kF64, "256M");
  const auto json = nlohmann::json::parse(explain(ExplainMode::kJson, c.plan, c.machine));
  EXPECT_EQ(json.at("input_bytes"), 10 * kGiB);
  EXPECT_EQ(json.at("elements"), c.plan.elements);
  EXPECT_EQ(json.at("type"), "f64");
  EXPECT_EQ(json.at("engine"), "cpu");
  EXPECT_EQ(json.at("runs"), c.plan.run.count);
  EXPECT_EQ(json.at("fan_in"), c.plan.run.fan_in);
  EXPECT_EQ(json.at("host_budget_bytes"), 256 * kMiB);
  EXPECT_EQ(json.at("arena_bytes"), c.plan.arena_bytes);
  EXPECT_EQ(json.at("temporary_bytes"), c.plan.temporary_bytes);
  EXPECT_EQ(json.at("temporary").at(0).at("path"), "/scratch");
}

TEST(ExplainJson, SaysNullForWhatAPipeDoesNotTell) {
  const Case c = case_of({}, KeyType::kI32, "256M");
  const auto json = nlohmann::json::parse(explain(ExplainMode::kJson, c.plan, c.machine));
  EXPECT_TRUE(json.at("input_bytes").is_null());
  EXPECT_TRUE(json.at("elements").is_null());
}

TEST(ExplainJson, SurvivesFolderNamesThatAreNoText) {
  Case c = case_of(10 * kGiB, KeyType::kI32, "256M");
  c.machine.temporary[0].path = "/bad\xff\"name";
  const auto json = nlohmann::json::parse(explain(ExplainMode::kJson, c.plan, c.machine));
  EXPECT_TRUE(json.at("temporary").at(0).at("path").is_string());
}

}  // namespace
}  // namespace gsort
