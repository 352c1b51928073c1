// Sorts of one chunk that emulated devices hold together, also of less than they would.
#include <cstdint>
#include <latch>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/device_error.hpp"
#include "device_sorts.hpp"
#include "devices.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "io/output/output.hpp"
#include "support/engine_wrap.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::expect_right_on_devices;
using test::kU32;
using test::request_on;
using test::sort_on_devices;
using test::SortRequest;
using test::SortResult;

SortRequest shared_request(unsigned devices, const KeyFormat& format, std::uint64_t elements) {
  SortRequest request = request_on(devices, format, elements);
  request.shares_chunk = true;
  return request;
}

void expect_one_read_and_write(const SortResult& result, unsigned devices) {
  EXPECT_TRUE(result.plan.chunk.is_shared);
  EXPECT_EQ(result.plan.devices.size(), devices);
  EXPECT_EQ(result.outcome.runs, 0U);
  EXPECT_EQ(result.outcome.spilled_bytes, 0U);
}

class SharedChunk : public testing::TestWithParam<unsigned> {
 protected:
  ~SharedChunk() override {
    emulator::set_late_streams(false);
    emulator::set_peer_access(true);
  }
};

TEST_P(SharedChunk, IsSortedForEveryFormOfKeys) {
  for (const bool has_peer_access : {true, false}) {
    emulator::set_peer_access(has_peer_access);
    for (const bool is_late : {false, true}) {
      emulator::set_late_streams(is_late);
      for (const KeyFormat& format :
           {kU32, KeyFormat{KeyType::kI32, true, true}, KeyFormat{KeyType::kU64},
            KeyFormat{KeyType::kF64, true, true}, KeyFormat{KeyType::kF32, false, true}}) {
        const SortRequest request = shared_request(GetParam(), format, 50'000);
        expect_one_read_and_write(expect_right_on_devices(request, 0), GetParam());
      }
    }
  }
}

TEST_P(SharedChunk, MayBeShorterThanThereAreDevices) {
  for (const std::uint64_t elements : {0U, 1U, 2U, 3U, 5U, 31U, 32U, 33U, 1'000U}) {
    SCOPED_TRACE(testing::Message() << elements << " keys");
    const SortRequest request = shared_request(GetParam(), kU32, elements);
    expect_one_read_and_write(test::expect_right(request), GetParam());
  }
}

// Blocks end within stripes, and stripes within blocks; pieces of all devices come at once, and a
// pipe takes them in order.
TEST_P(SharedChunk, MayHaveBlocksOfAnySizeAndGoIntoAPipe) {
  for (const std::uint64_t block_bytes : {4'096U, 12'288U, 32'768U}) {
    for (const bool to_pipe : {false, true}) {
      SortRequest request = shared_request(GetParam(), kU32, 50'001);
      request.threads = 4;
      request.to_pipe = to_pipe;
      request.change_plan = [block_bytes](Plan& plan) { plan.chunk.block_bytes = block_bytes; };
      expect_one_read_and_write(expect_right_on_devices(request, 0), GetParam());
    }
  }
}

TEST_P(SharedChunk, GivesDistinctKeys) {
  SortRequest request = shared_request(GetParam(), kU32, 50'000);
  request.unique = true;
  expect_one_read_and_write(expect_right_on_devices(request, 0), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Devices, SharedChunk, testing::Values(2U, 3U, 4U));

TEST(SharedChunkOnAFailedDevice, IsAnErrorThatNamesIt) {
  const SortRequest request = shared_request(3, kU32, 12'000);
  const Bytes whole = test::sorted_copy(request.input, kU32);
  const int met = test::with_faults(1, 4, [&] {
    const SortResult result = sort_on_devices(request, 0);
    if (!result.error) {
      EXPECT_TRUE(result.output == whole);
      return;
    }
    const std::string words = result.error->what();
    EXPECT_TRUE(words.find(" on device 1") != std::string::npos ||
                words.find("pinning host memory") != std::string::npos)
        << words;
    EXPECT_TRUE(result.output == request.old_output) << words;
  });
  EXPECT_GT(met, 30);
}

// Pieces of the later devices wait for those of the earlier ones: none may wait for a piece that
// never comes. Each device puts one piece.
TEST(SharedChunkOfAnEngine, ThatLeavesAPieceOutEndsTheSort) {
  for (const bool to_pipe : {false, true}) {
    for (const std::uint64_t left_out : {0U, 1U, 2U}) {
      SCOPED_TRACE(testing::Message() << "piece " << left_out << (to_pipe ? ", to a pipe" : ""));
      SortRequest request = shared_request(3, kU32, 12'000);
      request.to_pipe = to_pipe;
      if (!to_pipe) request.output_format = FileFormat::kText;
      test::EngineHooks hooks;
      hooks.on_put = [left_out](bool, std::vector<test::PutPiece>& put) {
        if (put[0].position * 3 / 12'000 == left_out) put.clear();
      };
      request.make_engine = [make = request.make_engine, hooks](
                                const Plan& plan, const EngineShape& shape, ByteSpan memory) {
        return test::wrap_engine(make(plan, shape, memory), hooks, sizeof(std::uint32_t));
      };
      const SortResult result = sort_in_folder(request);
      ASSERT_TRUE(result.error.has_value()) << "nobody noticed";
      EXPECT_EQ(result.error->kind(), ErrorKind::kCorrupt) << result.error->what();
    }
  }
}

// The first device puts its piece when the others have put theirs.
class FirstComesLast final : public PieceSink {
 public:
  FirstComesLast(PieceSink& next, std::latch& others) : next_(next), others_(others) {}
  void put(std::uint64_t position, ConstByteSpan keys) override {
    if (position == 0) others_.wait();
    next_.put(position, keys);
    if (position > 0) others_.count_down();
  }
  void abandon() noexcept override { next_.abandon(); }
  void enter() noexcept override { next_.enter(); }
  void leave() noexcept override { next_.leave(); }

 private:
  PieceSink& next_;
  std::latch& others_;
};

class FirstLastLane final : public test::ForwardingChunkLane {
 public:
  FirstLastLane(std::unique_ptr<ChunkLane> lane, std::latch& others)
      : ForwardingChunkLane(std::move(lane)), others_(others) {}
  void emit(PieceSink& sink) override {
    FirstComesLast first_comes_last(sink, others_);
    ForwardingChunkLane::emit(first_comes_last);
  }

 private:
  std::latch& others_;
};

class FirstLastEngine final : public test::ForwardingEngine {
 public:
  FirstLastEngine(std::unique_ptr<Engine> engine, std::latch& others)
      : ForwardingEngine(std::move(engine)), others_(others) {}
  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    return test::wrapped<FirstLastLane>(ForwardingEngine::make_chunk_lanes(), others_);
  }

 private:
  std::latch& others_;
};

TEST(SharedChunkOfAllDevices, IsPutByAllAtOnceIntoAFileAndTheNullDevice) {
  ASSERT_TRUE(io::Output("/dev/null").is_null());  // otherwise, devices would wait for each other
  for (const bool to_null : {false, true}) {
    SortRequest request = shared_request(3, kU32, 12'000);
    request.to_null = to_null;
    std::latch others(2);
    request.make_engine = [make = request.make_engine, &others](
                              const Plan& plan, const EngineShape& shape, ByteSpan memory) {
      return std::make_unique<FirstLastEngine>(make(plan, shape, memory), others);
    };
    const SortResult result = sort_in_folder(request);
    ASSERT_FALSE(result.error.has_value()) << result.error->what();
    expect_one_read_and_write(result, 3);
    EXPECT_EQ(result.outcome.output_elements, 12'000U);
  }
}

// With --engine=auto, the others sort again from the beginning.
TEST(SharedChunkOnAFailedDevice, IsSortedAgainWithoutIt) {
  SortRequest request = shared_request(3, kU32, 12'000);
  request.may_lose_devices = true;
  gpu::inject_cuda_fault({gpu::CudaCall::kCopy, 2, cudaErrorLaunchFailure, true, 1});
  const SortResult result = test::expect_right(request);
  EXPECT_TRUE(gpu::cuda_fault_was_met());
  gpu::clear_cuda_fault();
  ASSERT_EQ(result.outcome.lost_devices.size(), 1U);
  EXPECT_EQ(result.outcome.lost_devices[0].ordinal, 1);
  EXPECT_EQ(result.plan.devices.size(), 2U);
}

}  // namespace
}  // namespace gsort
