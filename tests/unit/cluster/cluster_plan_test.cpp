#include "cluster/cluster_plan.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/units.hpp"
#include "cluster/cluster_sort.hpp"
#include "cluster/exchange_plan.hpp"
#include "cluster/runs/devices.hpp"
#include "cluster/runs/room.hpp"
#include "io/system/host_facts.hpp"
#include "plan/disk_space.hpp"
#include "plan/make_plan.hpp"
#include "plan/rates.hpp"
#include "support/error_of.hpp"
#include "support/invented.hpp"
#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

using gsort::test::invented_machine;

ClusterPlan plan_of(std::uint64_t hosts, std::uint64_t elements_each, unsigned threads) {
  ClusterPlan plan;
  plan.elements = hosts * elements_each;
  plan.output_elements = plan.elements;
  plan.element_bytes = 8;
  plan.file_element_bytes = 8;
  for (std::uint64_t host = 0; host < hosts; ++host) {
    plan.names.push_back("h" + std::to_string(host + 1));
    plan.hosts.push_back({.elements = elements_each, .runs = 3, .threads = threads});
  }
  return plan;
}

TEST(ClusterPlan, SendsAllButTheShareOfEachHost) {
  EXPECT_EQ(network_bytes(plan_of(1, 1000, 4)), 0);
  ClusterPlan plan = plan_of(4, 1000, 4);
  EXPECT_EQ(network_bytes(plan), 3 * 8000);
  plan.output_elements = 100;
  EXPECT_EQ(network_bytes(plan), 600);
  plan.is_counted = true;
  EXPECT_EQ(network_bytes(plan), 0);
}

TEST(ClusterPlan, SendsAllBeforeItSendsWhatIsDistinct) {
  ClusterPlan plan = plan_of(4, 1000, 4);
  plan.merges_twice = true;
  EXPECT_EQ(network_bytes(plan), 3 * 8000);  // then each has its share
  plan.output_elements = 100;
  EXPECT_EQ(network_bytes(plan), 3 * 8000 + 600);
  plan.output_elements = 2000;  // the first two have it
  EXPECT_EQ(network_bytes(plan), 3 * 8000 + 8000);
}

TEST(ClusterPlan, MergesAllBeforeItMergesWhatIsDistinct) {
  ClusterPlan plan = plan_of(2, 1'000'000'000, 64);
  plan.output_elements = 0;
  EXPECT_EQ(merging_time(plan).seconds, 0);
  plan.merges_twice = true;
  EXPECT_STREQ(merging_time(plan).bound, "the network");
  EXPECT_NEAR(merging_time(plan).seconds, 4e9 / kNetworkBytesPerSecond, 1e-6);
  plan.output_elements = plan.elements;
  for (HostPlan& host : plan.hosts) {
    host.temporary_bytes = 24e9;
    host.distinct_bytes = 8e9;
  }
  EXPECT_NEAR(forming_time(plan).seconds, 16e9 / Rates::kUsualDiskWrite, 1e-6);
  EXPECT_STREQ(merging_time(plan).bound, "reading runs");
  EXPECT_NEAR(merging_time(plan).seconds,
              16e9 / Rates::kUsualDiskRead + 8e9 / Rates::kUsualDiskWrite, 1e-6);
}

// Returns the plan of --explain=json for 1,000 random keys of 4 bytes, or the error.
std::string said_by(unsigned processes, std::vector<const char*> words) {
  const io::test::TempFolder folder;
  const std::string path = folder / "in.u32";
  io::test::write_file(path, test::bytes_of(test::random_keys(1000, 1U << 31U)));
  words.insert(words.end(), {"--explain=json", path.c_str(), "-o", "out"});
  const test::Ended ended = test::sort_by(processes, test::options_of(words));
  return ended.error + ended.plan;
}

nlohmann::json explained_by(unsigned processes, std::vector<const char*> words) {
  const std::string said = said_by(processes, std::move(words));
  EXPECT_TRUE(nlohmann::json::accept(said)) << said;
  return nlohmann::json::parse(said);
}

TEST(ClusterPlan, SaysWhatDeferredPartsTake) {
  ClusterPlan plan = plan_of(2, 1000, 2);
  plan.hosts[0].deferred_bytes = 3 * kGiB;
  plan.hosts[0].free_bytes = 9 * kGiB;
  EXPECT_NE(explain(plan, ExplainMode::kText)
                .find("up to 0 B of temporary files, 3 GiB if it defers parts (9 GiB free)"),
            std::string::npos);
  plan.hosts[0].temporary_bytes = 2 * kGiB;
  EXPECT_NE(explain(plan, ExplainMode::kText).find("up to 2 GiB of temporary files, 5 GiB if"),
            std::string::npos);
  const auto json = nlohmann::json::parse(explain(plan, ExplainMode::kJson));
  EXPECT_EQ(json.at("hosts")[0].at("deferred_bytes"), 3 * kGiB);
}

TEST(ClusterPlan, KnowsWhichSortsMergeTwice) {
  EXPECT_EQ(explained_by(4, {"-r", "--top=40"}).at("network_bytes"), 120);
  EXPECT_EQ(explained_by(4, {"-u", "--top=40"}).at("network_bytes"), 3000 + 120);
}

// The numbers by which elements are shuffled are in runs and on the network, but not in files.
TEST(ClusterPlan, CountsTheNumbersOfAShuffleOnlyWhereTheyAre) {
  const nlohmann::json sort = explained_by(4, {});
  const nlohmann::json shuffle = explained_by(4, {"--shuffle=1"});
  EXPECT_EQ(shuffle.at("bytes"), sort.at("bytes"));
  EXPECT_GT(shuffle.at("network_bytes"), sort.at("network_bytes"));
  ClusterPlan plan = plan_of(2, 1'000'000'000, 64);
  plan.element_bytes = 16;
  EXPECT_STREQ(forming_time(plan).bound, "reading the input");
  EXPECT_NEAR(forming_time(plan).seconds, 8e9 / Rates::kUsualDiskRead, 1e-6);
  EXPECT_STREQ(merging_time(plan).bound, "writing the output");
  EXPECT_NEAR(merging_time(plan).seconds, 8e9 / Rates::kUsualDiskWrite, 1e-6);
  EXPECT_NE(explain(plan, ExplainMode::kText).find("reads 7.45 GiB"), std::string::npos);
}

TEST(ClusterPlan, DividesTheMemoryOfAHostAmongItsProcesses) {
  const auto planned = [](std::vector<const char*> words) {
    std::uint64_t bytes = 0;
    const nlohmann::json plan = explained_by(8, std::move(words));
    for (const nlohmann::json& host : plan.at("hosts")) {
      bytes += host.at("memory_bytes").get<std::uint64_t>();
    }
    return bytes;
  };
  EXPECT_LT(planned({}), io::host_facts().available_bytes);
  EXPECT_EQ(planned({"-S", "64M"}), 8 * 64 * kMiB);
  EXPECT_LE(planned({"-S", "50%"}), io::host_facts().memory_bytes / 2);
}

TEST(ClusterPlan, RefusesMoreMemoryThanAHostHasForAllItsProcesses) {
  const std::string size = std::to_string(io::host_facts().memory_bytes / kMiB * 2 / 5) + "M";
  EXPECT_EQ(explained_by(2, {"-S", size.c_str()}).at("hosts").size(), 2);
  const std::string said = said_by(3, {"-S", size.c_str()});
  EXPECT_TRUE(said.starts_with("on localhost (rank ")) << said;
  EXPECT_NE(said.find(" for each of 3 processes\n  give less memory"), std::string::npos) << said;
}

TEST(ClusterPlan, IsBoundByTheCoresOfAHostThatHasFew) {
  ClusterPlan plan = plan_of(3, 1'000'000'000, 64);
  EXPECT_STREQ(forming_time(plan).bound, "reading the input");
  EXPECT_NEAR(forming_time(plan).seconds, 8e9 / Rates::kUsualDiskRead, 1e-6);
  plan.hosts[2].threads = 1;
  EXPECT_STREQ(forming_time(plan).bound, "sorting");
  EXPECT_NEAR(forming_time(plan).seconds, 8e9 / Rates::kUsualCore, 1e-6);
  EXPECT_STREQ(merging_time(plan).bound, "merging");
}

TEST(ClusterPlan, NamesEveryHostInBothForms) {
  const ClusterPlan plan = plan_of(3, 1000, 2);
  for (const ExplainMode mode : {ExplainMode::kText, ExplainMode::kJson}) {
    const std::string text = explain(plan, mode);
    for (const std::string& name : plan.names)
      EXPECT_NE(text.find(name), std::string::npos) << text;
  }
}

TEST(ClusterPlan, PlansNoElements) {
  EXPECT_EQ(forming_time(plan_of(3, 0, 2)).seconds, 0);
  EXPECT_NE(explain(plan_of(3, 0, 2), ExplainMode::kText), "");
}

using Dealt = std::vector<std::vector<DealtDevice>>;

TEST(Devices, AreDividedAmongTheProcessesOfAHost) {
  const std::vector<VisibleGpu> four = {{0, "a"}, {1, "b"}, {2, "c"}, {3, "d"}};
  EXPECT_EQ(deal_devices({"h"}, {four}), (Dealt{{{0, 1}, {1, 1}, {2, 1}, {3, 1}}}));
  EXPECT_EQ(deal_devices({"h", "h"}, {four, four}), (Dealt{{{0, 1}, {2, 1}}, {{1, 1}, {3, 1}}}));
  EXPECT_EQ(deal_devices({"h", "i"}, {four, {{0, "a"}}}),
            (Dealt{{{0, 1}, {1, 1}, {2, 1}, {3, 1}}, {{0, 1}}}));
  EXPECT_EQ(deal_devices({}, {}), Dealt());
}

TEST(Devices, AreSharedWhereTheyAreFewer) {
  const std::vector<VisibleGpu> two = {{0, "a"}, {1, "b"}};
  EXPECT_EQ(deal_devices({"h", "h", "i", "h"}, {two, two, {}, two}),
            (Dealt{{{0, 2}}, {{1, 1}}, {}, {{0, 2}}}));
  EXPECT_EQ(deal_devices({"h", "h"}, {{{3, "a"}, {3, "a"}}, {}}), (Dealt{{{3, 1}}, {}}));
}

// As a launcher may do by CUDA_VISIBLE_DEVICES: each process calls its own one 0.
TEST(Devices, AreKnownByTheirPlaceOnTheBus) {
  EXPECT_EQ(deal_devices({"h", "h", "h"}, {{{0, "a"}}, {{0, "b"}}, {{0, "b"}, {1, "c"}}}),
            (Dealt{{{0, 1}}, {{0, 1}}, {{1, 1}}}));
}

TEST(ClusterPlan, NamesTheDevicesOfAHost) {
  ClusterPlan plan = plan_of(2, 1'000'000'000, 1);
  EXPECT_STREQ(forming_time(plan).bound, "sorting");
  for (HostPlan& host : plan.hosts) {
    host.devices = 2;
    host.device_bytes = 100 * kGiB;
  }
  EXPECT_STREQ(forming_time(plan).bound, "reading the input");
  EXPECT_NE(explain(plan, ExplainMode::kText).find("2 GPUs with "), std::string::npos);
  EXPECT_NE(explain(plan, ExplainMode::kJson).find("\"devices\": 2"), std::string::npos);
}

// Lanes are as large as the device has room for, where the host has more.
TEST(ExchangePlan, StaysWithinTheMemoryOfADevice) {
  ExchangeQuestion q;
  q.engine = &cuda_sizes();
  q.element.bytes = 8;
  q.host_bytes = 64 * kGiB;
  q.device_bytes = 512 * kMiB;
  q.devices = 2;
  q.threads = 16;
  q.ranks = 2;
  q.elements = 1'000'000'000;
  q.runs_here = q.runs = 8;
  q.block_bytes = 64 * kKiB;
  const ExchangePlan plan = plan_exchange(q).value();
  EXPECT_EQ(plan.lanes % q.devices, 0U);
  const LaneBytes lane = q.engine->merge_lane(q.element, plan.part_elements);
  EXPECT_LE(plan.lanes / q.devices * lane.device, q.device_bytes);
  q.device_bytes = kKiB;
  EXPECT_FALSE(plan_exchange(q).has_value());
}

TEST(Room, IsThatOfAllProcessesOfAHost) {
  constexpr std::uint64_t kOne = 1;
  constexpr std::uint64_t kOther = 2;
  const std::vector<std::vector<RoomNeed>> needs = {
      {{kOne, 100, 60}}, {{kOne, 99, 40}, {kOther, 10, 5}}, {{kOther, 10, 5}}};
  EXPECT_NO_THROW(require_room({"a", "a", "a"}, needs));
  EXPECT_NO_THROW(require_room({}, {}));
  std::vector<std::vector<RoomNeed>> more = needs;
  more[2].push_back({kOne, 100, 1});
  EXPECT_NO_THROW(require_room({"a", "a", "b"}, more));  // the same number, another host
  const Error error = gsort::test::error_of([&] { require_room({"a", "a", "a"}, more); });
  const std::string text = error.what();
  EXPECT_EQ(error.kind(), ErrorKind::kResource);
  EXPECT_NE(text.find("making room for 3 processes on a: 101 B needed, 100 B free"), text.npos)
      << text;
}

TEST(Room, IsNotCountedWhereFilesMayLieElsewhere) {
  Plan plan;
  plan.temporary_bytes = 70;
  Machine machine;
  machine.temporary = {{"/a", 1, 100, ""}, {"/b", 2, 100, ""}};
  EXPECT_TRUE(room_needs(plan, machine, 30).empty());
  machine.temporary.pop_back();
  machine.output = Folder{"/a", 1, 100, ""};
  const std::vector<RoomNeed> needs = room_needs(plan, machine, 30);
  EXPECT_NO_THROW(require_room({"h"}, {needs}));
  EXPECT_THROW(require_room({"h", "h"}, {needs, needs}), Error);
}

Job job_of_share(const KeyFormat& key, const char* memory) {
  Job job;
  job.element.key = key;
  job.resources.buffer_size = memory;
  job.forms_share = true;
  return job;
}

TEST(Room, IsThatOfARunBesideAllOthers) {
  constexpr std::uint64_t kShare = kGiB / 8;
  const Job job = job_of_share({KeyType::kU64}, "64M");
  Machine machine = invented_machine(kGiB, 4, 16 * kGiB);
  const Plan plan = make_plan(job, machine);
  Plan both = plan;
  add_runs(both, machine, kShare, 0);
  EXPECT_GE(both.temporary_bytes, plan.temporary_bytes + kGiB);
  EXPECT_LE(both.temporary_bytes, plan.temporary_bytes + kGiB + kGiB / 4);
  EXPECT_EQ(both.elements, plan.elements);
  EXPECT_EQ(both.run.count, plan.run.count);
  machine.temporary.front().free_bytes = both.temporary_bytes;
  EXPECT_NO_THROW(add_runs(both = plan, machine, kShare, 0));
  machine.temporary.front().free_bytes -= 1;
  EXPECT_NO_THROW(require_disk_space(plan, machine));
  EXPECT_THROW(add_runs(both = plan, machine, kShare, 0), Error);
  EXPECT_THROW(add_runs(both = plan, machine, UINT64_MAX, 0), Error);
  EXPECT_THROW(add_runs(both = plan, machine, UINT64_MAX / 4, 0), Error);
}

std::optional<std::uint64_t> bytes_deferred(Plan plan, const Machine& machine,
                                            std::uint64_t deferred, std::uint64_t distinct) {
  return add_runs(plan, machine, distinct, deferred).deferred_bytes;
}

TEST(Room, OfARunThatIsNotNeededMayBeMissing) {
  constexpr std::uint64_t kShare = kGiB / 8;
  Machine machine = invented_machine(kGiB, 4, 16 * kGiB);
  const Plan plan = make_plan(job_of_share({KeyType::kU64}, "64M"), machine);
  Plan both = plan;
  add_runs(both, machine, kShare, 0);
  machine.temporary.front().free_bytes = both.temporary_bytes;
  EXPECT_EQ(bytes_deferred(plan, machine, kShare, 0), both.temporary_bytes - plan.temporary_bytes);
  machine.processes = 2;  // each has half of that
  EXPECT_EQ(bytes_deferred(plan, machine, kShare, 0), std::nullopt);
  machine.processes = 1;
  machine.temporary.front().free_bytes -= 1;
  EXPECT_EQ(bytes_deferred(plan, machine, kShare, 0), std::nullopt);
  EXPECT_EQ(bytes_deferred(plan, machine, UINT64_MAX, 0), std::nullopt);
  EXPECT_EQ(bytes_deferred(plan, machine, 0, 0), std::nullopt);
  machine.temporary.front().free_bytes = 4 * kGiB;
  // Beside a run of distinct keys.
  const auto second = bytes_deferred(plan, machine, kShare, kShare);
  ASSERT_TRUE(second);
  EXPECT_GE(*second, kGiB);
  machine.temporary.front().free_bytes = both.temporary_bytes;
  machine.output->file_system = machine.temporary.front().file_system;
  machine.output->free_bytes = both.temporary_bytes;
  EXPECT_EQ(bytes_deferred(plan, machine, kShare, 0), std::nullopt);
}

TEST(Room, OfARunThatFitsInMemoryIsNone) {
  Machine machine = invented_machine(kMiB, 4, 16 * kGiB);
  machine.temporary.front().free_bytes = 0;
  Plan plan = make_plan(job_of_share({KeyType::kU64}, "1G"), machine);
  add_runs(plan, machine, kMiB / 8, 0);
  EXPECT_EQ(plan.temporary_bytes, 0);
  Job counted = job_of_share({KeyType::kU8}, "1G");
  counted.forms_share = false;
  plan = make_plan(counted, machine);
  add_runs(plan, machine, kMiB, 0);
  EXPECT_EQ(plan.temporary_bytes, 0);
}

TEST(Room, OfARunDecidesOnThePageCache) {
  Machine machine = invented_machine(kGiB, 4, 16 * kGiB);
  Plan plan = make_plan(job_of_share({KeyType::kU64}, "64M"), machine);
  ASSERT_TRUE(plan.run.through_page_cache);
  add_runs(plan, machine, 2 * kGiB, 0);
  EXPECT_FALSE(plan.run.through_page_cache);
}

TEST(Room, IsThatOfTheOutputAndNotOfTheInput) {
  const Job job = job_of_share({KeyType::kU64}, "64M");
  Machine machine = invented_machine(kGiB, 4, 16 * kGiB);
  machine.output->free_bytes = 8000;
  EXPECT_THROW((void)make_plan(job, machine), Error);
  EXPECT_EQ(plan_of_host(job, machine, 8000).temporary_bytes,
            plan_of_host(job, machine, 0).temporary_bytes);
  EXPECT_THROW((void)plan_of_host(job, machine, 8001), Error);
  EXPECT_FALSE(plan_of_host(job, machine, 8000).output.needs_order);
  machine.temporary.front().free_bytes = 8000;
  EXPECT_THROW((void)plan_of_host(job, machine, 0), Error);
}

// An error about room names the host: another one may have the room.
TEST(Room, IsTheResourceOfAHost) {
  const Machine machine = invented_machine(kGiB, 4, 16 * kGiB);
  for (const char* const memory : {"64G", "1M"}) {
    SCOPED_TRACE(memory);
    const Error error = gsort::test::error_of(
        [&] { (void)plan_of_host(job_of_share({KeyType::kU64}, memory), machine, 0); });
    EXPECT_EQ(error.kind(), ErrorKind::kResource);
    EXPECT_NE(std::string(error.what()).find("-S"), std::string::npos);
    EXPECT_FALSE(error.hint().empty());
  }
}

TEST(Room, OfTheOutputIsThatOfEachPart) {
  Job job = job_of_share({KeyType::kU64}, "64M");
  Request request;
  EXPECT_EQ(least_output_of(request, job, 11, 0, 4), 88);
  EXPECT_EQ(least_output_of(request, job, 11, 1, 4), 0);
  request.parts = true;
  std::uint64_t all = 0;
  for (unsigned rank = 0; rank < 4; ++rank) all += least_output_of(request, job, 11, rank, 4);
  EXPECT_EQ(all, 88);
  EXPECT_EQ(least_output_of(request, job, 11, 0, 4), 16);
  job.unique = true;
  EXPECT_EQ(least_output_of(request, job, 11, 0, 4), 0);
}

}  // namespace
}  // namespace gsort::cluster
