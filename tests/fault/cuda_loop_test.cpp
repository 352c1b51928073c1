// The fault loop over the GPU's calls: sorts by the CUDA engine in which the Nth call of every kind
// fails, N = 1, 2, ... until a run is clean; once, or with every call after it, as after a kernel
// that crashed. Each time the output is what std::sort makes of the input, or there is an Error
// that says what failed and the old output is intact; nothing is left, and the next sort is right.
//
// Where there are two devices, calls of each of them fail in turn, too.
//
// By default N grows in strides. With GSORT_EVERY_FAULT set nothing is left out; beside it,
// GSORT_FAULT_SHARE=I/P takes every Pth call from the Ith on, so that P processes share the work.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/engine/gpu.hpp"
#include "gpu/sort/host_array_sort.hpp"
#include "support/engines.hpp"
#include "support/sort_run.hpp"
#include "support/sorted_copy.hpp"
#include "support/stably_sorted.hpp"
#include "unit/io/support.hpp"

namespace gsort {
namespace {

using gpu::CudaCall;
using test::Bytes;
using test::SortRequest;
using test::SortResult;

constexpr KeyFormat kU32{KeyType::kU32, false, false};
constexpr std::uint64_t kFewKeys = 100'000;
constexpr std::uint64_t kManyKeys =
    4'000'000;  // keys that take several runs in 32 MiB of the device

enum class Shape : std::uint8_t {
  kOneChunk,
  kSpilled,
  kOnDevice,
  kOnTwoDevices,
  kSeveralPasses,
  kUnpacked,
  kPipes,
  kDistinct,
  kRecords,
  kArrays,
};

struct SortCase {
  const char* name;
  Shape shape;
};

// Its name in lists of tests.
void PrintTo(const SortCase& sort, std::ostream* out) {
  *out << sort.name;
}

constexpr SortCase kCases[] = {
    {"OneChunk", Shape::kOneChunk}, {"Spilled", Shape::kSpilled},
    {"OnDevice", Shape::kOnDevice}, {"OnTwoDevices", Shape::kOnTwoDevices},
    {"Unpacked", Shape::kUnpacked}, {"SeveralPasses", Shape::kSeveralPasses},
    {"Pipes", Shape::kPipes},       {"Distinct", Shape::kDistinct},
    {"Records", Shape::kRecords},   {"Arrays", Shape::kArrays},
};

SortRequest request_for(Shape shape) {
  const bool spills = shape == Shape::kSpilled || shape == Shape::kOnDevice ||
                      shape == Shape::kOnTwoDevices || shape == Shape::kSeveralPasses ||
                      shape == Shape::kUnpacked;
  SortRequest request;
  request.format = kU32;
  request.input = test::generated(kU32, Distribution::kZipf, spills ? kManyKeys : kFewKeys);
  request.old_output = io::test::bytes_of("old");
  test::use_engine(request, shape == Shape::kOnTwoDevices ? "cuda_x2" : "cuda");
  switch (shape) {
    case Shape::kOnDevice:
    case Shape::kOnTwoDevices:
      // The plan is invented: its second device stands for the second one of the engine.
      request.make_tier = [](const DevicePlan& device, std::uint64_t bytes) {
        const auto number = static_cast<std::size_t>(device.ordinal);
        return gpu::make_device_tier(test::ordinals_of("cuda_x2").at(number), bytes);
      };
      request.device_buffers = 2;
      break;
    case Shape::kSeveralPasses:
      request.batch_size = 2;
      break;
    case Shape::kUnpacked:
      request.packing = Packing::kOff;
      break;
    case Shape::kPipes:
      request.from_pipe = request.to_pipe = true;
      break;
    case Shape::kDistinct:
      request.unique = true;
      break;
    case Shape::kRecords:
      request.records.emplace();
      request.records->bytes = 16;
      request.records->keys = {{.offset = 0, .bytes = 4, .type = KeyType::kU32}};
      break;
    case Shape::kArrays:
      request.batch_elements = 1000;
      break;
    default:
      break;
  }
  return request;
}

// Independent of gsort but for those requests whose way is tested elsewhere: these are compared
// with what comes out when nothing fails.
std::optional<Bytes> sorted_otherwise(const SortRequest& request) {
  if (request.records) return test::stably_sorted(request.input, *request.records);
  if (request.unique || request.batch_elements) return std::nullopt;
  return test::sorted_copy(request.input, request.format);
}

bool wants_every_fault() {
  static const bool every = std::getenv("GSORT_EVERY_FAULT") != nullptr;
  return every;
}

// The calls that fail.
struct FailingCalls {
  std::uint64_t first = 1;
  std::uint64_t step = 1;
};

FailingCalls share() {
  const char* const text = std::getenv("GSORT_FAULT_SHARE");
  FailingCalls share;
  if (!wants_every_fault() || text == nullptr) return share;
  char rest = 0;
  const int read = std::sscanf(text, "%" SCNu64 "/%" SCNu64 "%c", &share.first, &share.step, &rest);
  if (read != 2 || share.first < 1 || share.first > share.step) {
    throw std::runtime_error("GSORT_FAULT_SHARE is to be I/P, with 1 <= I <= P");
  }
  return share;
}

std::uint64_t after(std::uint64_t nth) {
  if (wants_every_fault()) return nth + share().step;
  return nth < 4 ? nth + 1 : nth * 2;
}

void expect_right_or_as_before(const SortRequest& request, const SortResult& result,
                               const Bytes& whole) {
  EXPECT_TRUE(result.left_in_temporary.empty());
  EXPECT_TRUE(result.left_in_folder.empty());
  ASSERT_TRUE(result.output.has_value());
  if (!result.error) {
    EXPECT_TRUE(*result.output == whole) << "no Error, and another output";
    return;
  }
  const Error& error = *result.error;
  EXPECT_TRUE(error.kind() == ErrorKind::kDevice || error.kind() == ErrorKind::kResource)
      << error.what();
  EXPECT_FALSE(error.operation().empty());
  EXPECT_FALSE(error.hint().empty()) << error.what();
  EXPECT_TRUE(request.to_pipe || *result.output == *request.old_output) << error.what();
}

// Sorts until no call is left to fail, of device `ordinal` alone if there is one. Returns how many
// sorts had a call that failed.
template <class Expect>
int sort_with_faults(const SortRequest& request, std::optional<int> ordinal, const Expect& expect) {
  int met = 0;
  for (std::size_t kind = 0; kind < gpu::kCudaCallKinds; ++kind) {
    for (const bool from_then_on : {false, true}) {
      const auto call = static_cast<CudaCall>(kind);
      const cudaError_t failure =
          call == CudaCall::kMemory ? cudaErrorMemoryAllocation : cudaErrorLaunchFailure;
      bool hit = true;
      for (std::uint64_t nth = share().first; hit; nth = after(nth)) {
        SCOPED_TRACE(testing::Message() << "kind " << kind << ", call " << nth << " fails"
                                        << (from_then_on ? " on" : ""));
        gpu::inject_cuda_fault({call, nth, failure, from_then_on, ordinal});
        const SortResult result = sort_in_folder(request);
        hit = gpu::cuda_fault_was_met();
        gpu::clear_cuda_fault();
        expect(result);
        EXPECT_TRUE(hit || !result.error) << result.error->what();
        met += hit ? 1 : 0;
        if (testing::Test::HasFailure()) return met;
      }
    }
  }
  return met;
}

class FaultsOfTheGpu : public testing::TestWithParam<SortCase> {};

TEST_P(FaultsOfTheGpu, EndRightOrWithAnErrorAndTheOldOutput) {
  const std::string reason = test::why_not("cuda");
  if (!reason.empty()) GTEST_SKIP() << reason;
  const SortRequest request = request_for(GetParam().shape);
  const SortResult first = sort_in_folder(request);
  ASSERT_FALSE(first.error.has_value()) << first.error->what();
  const Bytes whole = first.output.value();
  ASSERT_TRUE(whole == sorted_otherwise(request).value_or(whole));
  const int met = sort_with_faults(request, std::nullopt, [&](const SortResult& result) {
    expect_right_or_as_before(request, result, whole);
  });
  if (HasFailure()) return;
  const SortResult last = sort_in_folder(request);
  EXPECT_TRUE(!last.error && last.output == whole) << "something is left in the process";
  RecordProperty("faults", met);
  EXPECT_GT(met, wants_every_fault() ? 0 : 20);
}

// For two different devices.
class FaultsOfOneDevice : public testing::TestWithParam<std::size_t> {};

TEST_P(FaultsOfOneDevice, EndRightOrWithAnErrorThatNamesIt) {
  const std::string reason = test::why_not("cuda");
  if (!reason.empty()) GTEST_SKIP() << reason;
  const std::vector<int> ordinals = test::ordinals_of("cuda_x2");
  if (ordinals[0] == ordinals[1]) GTEST_SKIP() << "there is one device";
  const int failing = ordinals.at(GetParam());
  const SortRequest request = request_for(Shape::kOnTwoDevices);
  const Bytes whole = test::sorted_copy(request.input, request.format);
  int errors = 0;
  const int met = sort_with_faults(request, failing, [&](const SortResult& result) {
    expect_right_or_as_before(request, result, whole);
    if (!result.error) return;
    ++errors;
    const std::string words = result.error->what();
    EXPECT_TRUE(words.find("on device " + std::to_string(failing)) != std::string::npos ||
                words.find("pinning host memory") != std::string::npos)
        << words;
  });
  RecordProperty("faults", met);
  EXPECT_GT(errors, 0) << "of " << met << " calls that failed";
}

// A call of the library, of which nothing is left but an output that is not sorted.
TEST(FaultsOfGpuCalls, InSortsOfHostArraysAreErrors) {
  const std::string reason = test::why_not("cuda");
  if (!reason.empty()) GTEST_SKIP() << reason;
  constexpr std::uint64_t kCount = 3'000'000;
  std::vector<std::uint32_t> keys(kCount);
  std::mt19937 random(1);
  for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random());
  std::vector<std::uint32_t> expected = keys;
  std::ranges::sort(expected);
  const std::size_t bytes = gpu::sort_host_array_scratch_bytes<std::uint32_t>(kCount);
  const gpu::DeviceMemory scratch(bytes);
  std::vector<std::uint32_t> sorted(kCount);
  const auto sort = [&] {
    try {
      gpu::sort_host_array<std::uint32_t>({.input = keys.data(),
                                           .output = sorted.data(),
                                           .count = kCount,
                                           .scratch = {scratch.as<>(), bytes}});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kDevice) << error.what();
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      return false;
    }
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_TRUE(sorted == expected);
    return true;
  };
  ASSERT_TRUE(sort());
  int met = 0;
  for (const CudaCall call : {CudaCall::kCopy, CudaCall::kLaunch, CudaCall::kEvent}) {
    bool hit = true;
    for (std::uint64_t nth = 1; hit; nth = after(nth)) {
      gpu::inject_cuda_fault({call, nth, cudaErrorLaunchFailure});
      const bool done = sort();
      hit = gpu::cuda_fault_was_met();
      gpu::clear_cuda_fault();
      EXPECT_EQ(done, !hit) << "call " << nth << " of kind " << static_cast<int>(call);
      met += hit ? 1 : 0;
    }
  }
  EXPECT_TRUE(sort());
  EXPECT_GT(met, 5);
}

// Messages quote it on one line, and have a way out of their own.
TEST(FaultsOfGpuCalls, ThatEveryDeviceMeetsAreWhyThereIsNone) {
  const std::string reason = test::why_not("cuda");
  if (!reason.empty()) GTEST_SKIP() << reason;
  gpu::inject_cuda_fault({CudaCall::kQuery, 1, cudaErrorDevicesUnavailable, true});
  const gpu::Devices found = gpu::find_devices({});
  gpu::clear_cuda_fault();
  EXPECT_TRUE(found.devices.empty());
  EXPECT_TRUE(found.absent_reason.starts_with("asking for the device's properties: "))
      << found.absent_reason;
  EXPECT_TRUE(found.absent_reason.ends_with("(cudaErrorDevicesUnavailable)"))
      << found.absent_reason;
}

TEST(FindDevices, SaysThatThereIsNoDriver) {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version != 0) {
    GTEST_SKIP() << "there is a driver";
  }
  const gpu::Devices found = gpu::find_devices({});
  EXPECT_TRUE(found.devices.empty());
  EXPECT_EQ(found.absent_reason, "no NVIDIA driver was found");
}

INSTANTIATE_TEST_SUITE_P(Each, FaultsOfOneDevice, testing::Values(0, 1));
INSTANTIATE_TEST_SUITE_P(Sorts, FaultsOfTheGpu, testing::ValuesIn(kCases),
                         [](const auto& sort) { return std::string(sort.param.name); });

}  // namespace
}  // namespace gsort
