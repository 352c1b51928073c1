// Sorts by several processes (--form, --take, --join): emulated devices or the CPU form runs, and
// others merge them.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "app/files.hpp"
#include "app/shares.hpp"
#include "device_sorts.hpp"
#include "devices.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "io/input/reader.hpp"
#include "options/options.hpp"
#include "support/error_of.hpp"
#include "support/sorted_copy.hpp"
#include "support/stably_sorted.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using test::Bytes;
using Words = std::vector<std::string>;

Bytes distinct(const Bytes& sorted) {
  Bytes kept;
  for (auto key = sorted.begin(); key != sorted.end(); key += 4) {
    if (kept.empty() || !std::equal(key, key + 4, kept.end() - 4)) {
      kept.insert(kept.end(), key, key + 4);
    }
  }
  return kept;
}

// A process that forms runs, or takes parts.
struct Worker {
  const char* name;
  Words words;
  std::vector<int> devices = {};
};

void PrintTo(const Worker& worker, std::ostream* out) {
  *out << worker.name;
}

const Worker kCpu{"Cpu", {"--engine=cpu"}};
const Worker kOne{"OneDevice", {"--engine=cuda", "--device=2"}, {2}};
const Worker kTwo{"TwoDevices", {"--engine=cuda", "--device=1,3"}, {1, 3}};

constexpr unsigned kShares = 2;
constexpr unsigned kParts = 3;

// The commands' files and options.
class ShareFolders : public testing::Test {
 protected:
  [[nodiscard]] std::string folder_of(unsigned share) const {
    return folder_ / ("share-" + std::to_string(share));
  }
  [[nodiscard]] std::string output(const Words& result) const {
    return folder_ / (result.empty() ? "out" : "out-{}");
  }

  static Options options_of(Words words, const char* parallel = "--parallel=2") {
    words.insert(words.begin(), {"gsort", parallel});
    std::vector<const char*> line;
    for (const std::string& word : words) line.push_back(word.c_str());
    const Environment none = [](const char*) -> const char* { return nullptr; };
    return parse_options(static_cast<int>(line.size()), line.data(), none);
  }

  static Bytes joined_outputs(const Options& options) {
    Bytes all;
    for (const std::string& name : options.outputs()) {
      std::ranges::copy(io::test::read_file(name), std::back_inserter(all));
    }
    return all;
  }

  const io::test::TempFolder folder_;
  const std::string input_ = folder_ / "in";
  std::string gpu_memory_ = "18M";  // for short chunks
};

class ShareDevices : public ShareFolders,
                     public testing::WithParamInterface<std::tuple<Worker, Worker>> {
 protected:
  // Returns the output. If there are options of the result, each part has its own file.
  Bytes sort(const Bytes& input, const Words& order, const Words& result = {}) {
    io::test::write_file(input_, input);
    for (unsigned share = 0; share < kShares; ++share) (void)form(former(), share, order);
    for (unsigned part = 0; part < kParts; ++part) (void)take(taker(), part, result);
    const Options options = options_of({"--join=" + std::to_string(kParts), "-o", output(result)});
    (void)join(options);
    return joined_outputs(options);
  }

  ShareDone form(const Worker& worker, unsigned share, Words words) {
    const std::string number = std::to_string(share) + "/" + std::to_string(kShares);
    words.insert(words.end(), {"--form=" + folder_of(share), "--share=" + number, input_});
    const Options options = options_by(worker, words);
    io::Reader reader(options.inputs, reader_options(options));
    Meter meter;
    emulator::restart_counts();
    const ShareDone done = gsort::form(options, job_of(options, reader), reader, meter);
    EXPECT_GT(done.outcome.spilled_bytes, 0U);
    // Chunks go to devices in turn.
    expect_work_of(worker, done, std::min(worker.devices.size(), done.outcome.runs));
    return done;
  }

  ShareDone take(const Worker& worker, unsigned part, Words words) {
    const std::string number = std::to_string(part) + "/" + std::to_string(kParts);
    words.insert(words.end(), {"--take=" + number, "-o", output(words)});
    for (unsigned share = 0; share < kShares; ++share)
      words.push_back("--from=" + folder_of(share));
    const Options options = options_by(worker, words);
    Meter meter;
    emulator::restart_counts();
    const ShareDone done = gsort::take(options, meter);
    expect_work_of(worker, done, std::min<std::size_t>(worker.devices.size(), 1));
    return done;
  }

  static const Worker& former() { return std::get<0>(GetParam()); }
  static const Worker& taker() { return std::get<1>(GetParam()); }

 private:
  [[nodiscard]] Options options_by(const Worker& worker, Words words) const {
    words.insert(words.end(), {"-S256M", "--gpu-memory=" + gpu_memory_});
    words.insert(words.end(), worker.words.begin(), worker.words.end());
    return options_of(words);
  }

  // At least `least` of the worker's devices did something, no other did, and nothing is left on
  // them.
  static void expect_work_of(const Worker& worker, const ShareDone& done, std::size_t least) {
    EXPECT_EQ(done.plan.devices.size(), worker.devices.size());
    EXPECT_EQ(done.plan.device_run_bytes(), 0U);
    std::size_t working = 0;
    for (int device = 0; device < emulator::kDevices; ++device) {
      SCOPED_TRACE(testing::Message() << "device " << device);
      const emulator::DeviceUse use = emulator::use_of(device);
      EXPECT_EQ(use.objects, 0U);
      if (use.launches == 0) continue;
      ++working;
      EXPECT_EQ(std::ranges::count(worker.devices, device), 1);
    }
    EXPECT_GE(working, least);
  }
};

INSTANTIATE_TEST_SUITE_P(FormAndTake, ShareDevices,
                         testing::Values(std::tuple(kOne, kOne), std::tuple(kTwo, kTwo),
                                         std::tuple(kOne, kCpu), std::tuple(kTwo, kCpu),
                                         std::tuple(kCpu, kOne), std::tuple(kCpu, kTwo)),
                         [](const auto& workers) {
                           return std::string(std::get<0>(workers.param).name) + "Then" +
                                  std::get<1>(workers.param).name;
                         });

// Two devices have two chunks of each share.
TEST_P(ShareDevices, GiveTheBytesOfOneSort) {
  const std::uint64_t elements = former().devices.size() == 2 ? 1'060'000 : 60'000;
  const Bytes input = test::generated(test::kU32, Distribution::kZipf, elements);
  EXPECT_TRUE(sort(input, {"-t", "u32"}) == test::sorted_copy(input, test::kU32));
}

// Runs hold them as records.
TEST_P(ShareDevices, SortKeysOfTwoBytes) {
  gpu_memory_ = "32M";  // blocks of the CPU's runs are larger
  const KeyFormat format{KeyType::kI16, false, true};
  const Bytes input = test::generated(format, Distribution::kUniform, 60'000);
  EXPECT_TRUE(sort(input, {"-t", "i16", "-r"}) == test::sorted_copy(input, format));
}

TEST_P(ShareDevices, SortRecordsStably) {
  RecordFormat format;
  format.bytes = 16;
  format.keys = {{.offset = 4, .bytes = 2, .type = KeyType::kU16}};
  const Bytes input = test::generated(test::kU32, Distribution::kUniform, 80'000);
  EXPECT_TRUE(sort(input, {"--record=16", "--key=4:u16"}) == test::stably_sorted(input, format));
}

TEST_P(ShareDevices, WriteOneOfEachKey) {
  const Bytes input = test::generated(test::kU32, Distribution::kZipf, 60'000);
  EXPECT_TRUE(sort(input, {"-t", "u32"}, {"-u"}) == distinct(test::sorted_copy(input, test::kU32)));
}

// The same command is then given again.
TEST_P(ShareDevices, EndTheCommandWithTheirFailure) {
  const Bytes input = test::generated(test::kU32, Distribution::kZipf, 60'000);
  const auto expect_error = [](const Worker& worker, const auto& command) {
    if (worker.devices.empty()) return;
    gpu::inject_cuda_fault({gpu::CudaCall::kLaunch, 1, cudaErrorLaunchFailure, true});
    const Error error = test::error_of(command);
    gpu::clear_cuda_fault();
    EXPECT_NE(std::string(error.what()).find("device "), std::string::npos) << error.what();
  };
  io::test::write_file(input_, input);
  expect_error(former(), [&] { (void)form(former(), 0, {"-t", "u32"}); });
  EXPECT_EQ(folder_.entries(), Words{"in"});
  for (unsigned share = 0; share < kShares; ++share) (void)form(kCpu, share, {"-t", "u32"});
  expect_error(taker(), [&] { (void)take(taker(), 1, {}); });
  for (unsigned share = 0; share < kShares; ++share) {
    std::filesystem::remove_all(folder_of(share));
  }
  EXPECT_TRUE(sort(input, {"-t", "u32"}) == test::sorted_copy(input, test::kU32));
}

// Another process has taken memory of a device since the plan was made.
TEST_P(ShareDevices, PlanAgainForLessMemory) {
  const Bytes input = test::generated(test::kU32, Distribution::kZipf, 60'000);
  io::test::write_file(input_, input);
  unsigned again = 0;
  const auto with_lack = [&](const Worker& worker, const auto& command) {
    if (worker.devices.empty()) return command();
    constexpr std::uint64_t kBehindHostMemory = 2;
    gpu::inject_cuda_fault(
        {gpu::CudaCall::kMemory, kBehindHostMemory, cudaErrorMemoryAllocation, false});
    const ShareDone done = command();
    EXPECT_TRUE(gpu::cuda_fault_was_met());
    gpu::clear_cuda_fault();
    for (const LostDevice& lost : done.outcome.lost_devices) {
      EXPECT_EQ(lost.again, DoneAgain::kSortWithLess);
      ++again;
    }
    return done;
  };
  for (unsigned share = 0; share < kShares; ++share) {
    (void)with_lack(former(), [&] { return form(former(), share, {"-t", "u32"}); });
  }
  for (unsigned part = 0; part < kParts; ++part) {
    (void)with_lack(taker(), [&] { return take(taker(), part, {}); });
  }
  EXPECT_EQ(again,
            (former().devices.empty() ? 0 : kShares) + (taker().devices.empty() ? 0 : kParts));
  (void)join(options_of({"--join=" + std::to_string(kParts), "-o", output({})}));
  EXPECT_TRUE(io::test::read_file(output({})) == test::sorted_copy(input, test::kU32));
  EXPECT_EQ(folder_.entries().size(), 5U);  // the shares, input and output, the record of the join
}

// With --engine=auto, on an input so large that a device, including its start, takes less time than
// one core. The result is short.
TEST_F(ShareFolders, AreMadeAndMergedWithoutDevicesThatFail) {
  constexpr std::size_t kElements = std::size_t{44} << 20;
  constexpr std::uint64_t kNth = 20;
  const Bytes first = test::generated(test::kU32, Distribution::kZipf, 60'000);
  io::test::write_file(input_, first);
  std::filesystem::resize_file(input_, kElements * sizeof(std::uint32_t));
  const auto without_devices = [&](DoneAgain again, Words words, const auto& command) {
    words.insert(words.end(), {"-S256M", "--gpu-memory=" + gpu_memory_, "--engine=auto"});
    const Options options = options_of(words, "--parallel=1");
    emulator::restart_counts();
    gpu::inject_cuda_fault({gpu::CudaCall::kLaunch, kNth, cudaErrorLaunchFailure, true});
    const ShareDone done = command(options);
    EXPECT_TRUE(gpu::cuda_fault_was_met());
    gpu::clear_cuda_fault();
    EXPECT_EQ(done.plan.devices.empty(), again == DoneAgain::kSort);
    EXPECT_FALSE(done.outcome.lost_devices.empty());
    for (const LostDevice& lost : done.outcome.lost_devices) EXPECT_EQ(lost.again, again);
    for (int i = 0; i < emulator::kDevices; ++i) EXPECT_EQ(emulator::use_of(i).objects, 0U);
  };
  Meter meter;
  without_devices(DoneAgain::kSort, {"-t", "u32", "--form=" + folder_of(0), "--share=0/1", input_},
                  [&](const Options& options) {
                    io::Reader reader(options.inputs, reader_options(options));
                    return gsort::form(options, job_of(options, reader), reader, meter);
                  });
  const std::string part = output({"-u"});
  without_devices(DoneAgain::kParts, {"--take=0/1", "--from=" + folder_of(0), "-u", "-o", part},
                  [&](const Options& options) { return gsort::take(options, meter); });
  const Options joined = options_of({"--join=1", "-o", part});
  (void)join(joined);
  Bytes all = first;
  all.resize(first.size() + sizeof(std::uint32_t));  // one of the zeros that follow
  EXPECT_TRUE(joined_outputs(joined) == distinct(test::sorted_copy(all, test::kU32)));
  EXPECT_EQ(folder_.entries().size(), 4U);  // share, input, output, the record of the join
}

}  // namespace
}  // namespace gsort
