// Processes of a cluster, as threads of one process, that sort on the emulated devices: each on its
// own, several on one, and beside processes that use none.
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "devices.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "unit/cluster/sort_words.hpp"
#include "unit/io/support.hpp"

namespace gsort::cluster {
namespace {

using test::Keys;
using test::options_of;
using Words = std::vector<const char*>;

class ClusterDevices : public testing::Test {
 protected:
  ClusterDevices() {
    emulator::restart_counts();
    io::test::write_file(input_, std::as_bytes(std::span(keys_)));
  }

  // Each process with words of its own. Returns the reports of all; `error_` is what ended them.
  std::vector<RankReport> sort_by(const std::vector<Words>& words_of_ranks) {
    test::LocalNetwork network(static_cast<unsigned>(words_of_ranks.size()));
    test::Ended ended = test::sort_by(network, [&](unsigned rank) {
      Words words = words_of_ranks[rank];
      words.insert(words.end(),
                   {"-S256M", "-T", runs_.c_str(), input_.c_str(), "-o", output_.c_str()});
      return options_of(words);
    });
    if (!ended.error.empty()) error_ = ended.error;
    lost_devices_ = std::move(ended.outcome.lost_devices);
    return std::move(ended.outcome.ranks);
  }

  void expect_sorted() const {
    EXPECT_EQ(error_, "");
    Keys wanted = keys_;
    std::ranges::sort(wanted);
    const auto bytes = std::as_bytes(std::span(wanted));
    EXPECT_TRUE(std::ranges::equal(io::test::read_file(output_), bytes));
  }

  Keys keys_ = test::random_keys(60'000, UINT32_MAX);
  io::test::TempFolder folder_;
  const std::string runs_ = folder_ / "";
  const std::string input_ = folder_ / "in.u32";
  const std::string output_ = folder_ / "out.u32";
  std::string error_;
  std::vector<LostDevice> lost_devices_;
};

int devices_that_launched() {
  int devices = 0;
  for (int device = 0; device < emulator::kDevices; ++device) {
    devices += emulator::use_of(device).launches > 0 ? 1 : 0;
  }
  return devices;
}

void expect_nothing_left() {
  for (int device = 0; device < emulator::kDevices; ++device) {
    EXPECT_EQ(emulator::use_of(device).objects, 0U) << "device " << device;
  }
}

TEST_F(ClusterDevices, AreDividedAmongProcesses) {
  const Words words = {"--engine=cuda", "--device=all"};
  for (const RankReport& report : sort_by({words, words})) EXPECT_EQ(report.devices, 2U);
  expect_sorted();
  EXPECT_GE(devices_that_launched(), 2);
  expect_nothing_left();
}

// Where they have more than sorting needs.
TEST_F(ClusterDevices, KeepRunsInTheirMemory) {
  const auto set_all = [](std::size_t bytes) {
    for (int device = 0; device < emulator::kDevices; ++device) {
      emulator::set_device_bytes(device, bytes);
    }
  };
  set_all(4 * emulator::kDeviceBytes);
  const Words words = {"--engine=cuda"};
  const auto reports = sort_by({words, words});
  set_all(emulator::kDeviceBytes);
  ASSERT_EQ(reports.size(), 2U);
  for (const RankReport& report : reports) {
    EXPECT_GT(report.device_bytes, 0U);
    EXPECT_EQ(report.spilled_bytes, 0U);
  }
  expect_sorted();
  expect_nothing_left();
}

TEST_F(ClusterDevices, AreSharedByProcessesThatAreMore) {
  const Words words = {"--engine=cuda", "--device=1"};
  const auto reports = sort_by({words, words, words});
  ASSERT_EQ(reports.size(), 3U);
  for (const RankReport& report : reports) EXPECT_EQ(report.devices, 1U);
  expect_sorted();
  EXPECT_EQ(devices_that_launched(), 1);
  EXPECT_LE(emulator::use_of(1).peak_bytes, emulator::kDeviceBytes);
  expect_nothing_left();
}

// Runs of the CPU are merged by devices, and runs of devices by the CPU.
TEST_F(ClusterDevices, AreBesideProcessesThatUseTheCpu) {
  const auto reports = sort_by({{"--engine=cpu"}, {"--engine=cuda"}, {"--engine=cpu"}});
  ASSERT_EQ(reports.size(), 3U);
  EXPECT_EQ(reports[0].devices, 0U);
  EXPECT_EQ(reports[1].devices, 1U);
  expect_sorted();
  EXPECT_EQ(devices_that_launched(), 1);
}

TEST_F(ClusterDevices, WriteOneOfEachKey) {
  std::ranges::for_each(keys_, [](std::uint32_t& key) { key %= 20'000; });
  io::test::write_file(input_, std::as_bytes(std::span(keys_)));
  (void)sort_by({{"--engine=cuda", "-u"}, {"--engine=cpu", "-u"}});
  std::ranges::sort(keys_);
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  expect_sorted();
}

TEST_F(ClusterDevices, SortRecordsStably) {
  const Words words = {"--record=8", "--key=0:u16"};
  Words cuda = words;
  cuda.push_back("--engine=cuda");
  Words cpu = words;
  cpu.push_back("--engine=cpu");
  (void)sort_by({cuda, cpu});
  using Record = std::array<std::uint32_t, 2>;
  std::vector<Record> records(keys_.size() / 2);
  std::memcpy(records.data(), keys_.data(), records.size() * sizeof(Record));
  std::ranges::stable_sort(records, {}, [](const Record& r) { return r[0] & 0xFFFFU; });
  EXPECT_EQ(error_, "");
  EXPECT_TRUE(std::ranges::equal(io::test::read_file(output_), std::as_bytes(std::span(records))));
}

TEST_F(ClusterDevices, ThatAreNotThereAreAnError) {
  (void)sort_by({{"--engine=cuda"}, {"--engine=cuda", "--device=9"}});
  EXPECT_NE(error_.find("(rank 1): --device 9: there is no such device"), error_.npos) << error_;
  EXPECT_FALSE(std::filesystem::exists(output_));
}

TEST_F(ClusterDevices, EndTheSortWithTheirFailure) {
  gpu::inject_cuda_fault({gpu::CudaCall::kLaunch, 1, cudaErrorLaunchFailure, true, 1});
  (void)sort_by({{"--engine=cuda"}, {"--engine=cuda"}});
  EXPECT_TRUE(gpu::cuda_fault_was_met());
  gpu::clear_cuda_fault();
  EXPECT_NE(error_.find("device 1"), std::string::npos) << error_;
  EXPECT_NE(error_.find("localhost"), std::string::npos) << error_;
  EXPECT_FALSE(std::filesystem::exists(output_));
}

// Another process has taken memory of a device since the plan was made: runs are formed with less.
// Later, when all processes have agreed on sizes, the lack ends the sort.
TEST_F(ClusterDevices, WithTooLittleMemoryFormRunsWithLess) {
  unsigned sorted = 0;
  for (const std::uint64_t nth : {1U, 2U, 3U, 5U}) {
    SCOPED_TRACE(nth);
    std::filesystem::remove(output_);
    error_.clear();
    gpu::inject_cuda_fault({gpu::CudaCall::kMemory, nth, cudaErrorMemoryAllocation, false, 1});
    (void)sort_by({{"--engine=cuda"}, {"--engine=cuda"}});
    const bool was_met = gpu::cuda_fault_was_met();
    gpu::clear_cuda_fault();
    EXPECT_EQ(std::filesystem::exists(output_), error_.empty());
    if (error_.empty()) {
      expect_sorted();
      sorted += was_met ? 1 : 0;
    } else {
      EXPECT_NE(error_.find("(rank 1): "), std::string::npos) << error_;
    }
    expect_nothing_left();
  }
  EXPECT_GT(sorted, 0U);
}

// The input is so large that one core would need longer than a device with its start.
TEST_F(ClusterDevices, AreToldIfALoneProcessSortsWithoutThem) {
  keys_.assign(std::size_t{44} << 20, 0);
  std::filesystem::resize_file(input_, 0);
  std::filesystem::resize_file(input_, keys_.size() * sizeof(std::uint32_t));
  gpu::inject_cuda_fault({gpu::CudaCall::kMemory, 1, cudaErrorLaunchFailure, true});
  const auto reports = sort_by({{"--parallel=1"}});
  EXPECT_TRUE(gpu::cuda_fault_was_met());
  gpu::clear_cuda_fault();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].devices, 0U);
  EXPECT_FALSE(lost_devices_.empty());
  expect_sorted();
}

}  // namespace
}  // namespace gsort::cluster
