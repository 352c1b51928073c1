// Whole sorts under budgets so small that they spill, on engines that tell the truth: every way in,
// every way out, every fan-in. The result is std::sort of the input.
#include "pipeline/sort_job.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/engine_wrap.hpp"
#include "support/engines.hpp"
#include "support/expected_output.hpp"
#include "support/some_of.hpp"
#include "support/sort_run.hpp"
#include "support/vector_tier.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::expect_right;
using test::SortRequest;
using test::SortResult;

constexpr KeyType kSortedTypes[] = {KeyType::kU32, KeyType::kI32, KeyType::kF32, KeyType::kU64,
                                    KeyType::kI64, KeyType::kF64, KeyType::kI128};

// Budget and bytes of a sort that makes several runs.
constexpr const char* kSmallBudget = "12M";
constexpr std::uint64_t kSpillingBytes = 16'000'000;

// A pipe may bring anything, and a part for a pipe is put together first: both need more memory. So
// do keys of 16 bytes.
void set_ways(SortRequest& request, bool from_pipe, bool to_pipe) {
  request.from_pipe = from_pipe;
  request.to_pipe = to_pipe;
  request.threads = from_pipe ? 1 : 2;
  const bool has_wide_keys = bytes_of(request.format.type) > sizeof(std::uint64_t);
  const char* const most = has_wide_keys ? "18M" : "14M";
  request.budget = from_pipe && to_pipe ? most : has_wide_keys ? "14M" : kSmallBudget;
}

class SortsOnEngine : public test::EngineTest {
 protected:
  [[nodiscard]] SortRequest request_for(const KeyFormat& format, Distribution distribution,
                                        std::uint64_t bytes) const {
    SortRequest request;
    request.format = format;
    request.input = test::generated(format, distribution, bytes / bytes_of(format.type), bytes);
    test::use_engine(request, GetParam());
    return request;
  }
};

TEST_P(SortsOnEngine, OfOneChunkWriteNoTemporaryFiles) {
  for (const KeyType type : kSortedTypes) {
    for (const bool from_pipe : {false, true}) {
      for (const std::uint64_t elements : {0U, 1U, 2U, 1'000U, 65'536U, 65'537U}) {
        SCOPED_TRACE(testing::Message() << elements << ' ' << name_of(type) << from_pipe);
        SortRequest request = request_for({type, elements % 2 == 0, false}, Distribution::kUniform,
                                          elements * bytes_of(type));
        request.from_pipe = from_pipe;
        const SortResult result = expect_right(request);
        EXPECT_EQ(result.outcome.runs, 0U);
        EXPECT_EQ(result.outcome.spilled_bytes, 0U);
      }
    }
  }
}

TEST_P(SortsOnEngine, ThatSpillAreRightForEveryTypeWayInAndWayOut) {
  std::size_t turn = 0;
  test::SomeOf cases(5);
  for (const KeyType type : kSortedTypes) {
    for (const bool from_pipe : {false, true}) {
      for (const bool to_pipe : {false, true}) {
        const KeyFormat format = test::formats_of(type)[turn % 4];
        const Distribution distribution = kAllDistributions[turn++ % std::size(kAllDistributions)];
        if (!cases.takes()) continue;
        SCOPED_TRACE(testing::Message() << test::words_of(format) << ' ' << name_of(distribution)
                                        << from_pipe << to_pipe);
        SortRequest request = request_for(format, distribution, kSpillingBytes);
        set_ways(request, from_pipe, to_pipe);
        const SortResult result = expect_right(request);
        EXPECT_GT(result.outcome.runs, 1U);
        EXPECT_GE(result.outcome.run_key_bytes, kSpillingBytes);
      }
    }
  }
}

TEST_P(SortsOnEngine, MergeInSeveralRoundsWhereTheFanInIsSmall) {
  constexpr std::uint64_t kInputBytes = 2 * kSpillingBytes;
  std::size_t turn = 0;
  test::SomeOf cases(5);
  for (const unsigned batch_size : {2U, 3U, 16U}) {
    for (const bool from_pipe : {false, true}) {
      for (const bool to_pipe : {false, true}) {
        const KeyFormat format =
            test::formats_of(kSortedTypes[turn % std::size(kSortedTypes)])[turn % 4];
        ++turn;
        if (!cases.takes()) continue;
        SCOPED_TRACE(testing::Message() << test::words_of(format) << ", fan-in " << batch_size
                                        << from_pipe << to_pipe);
        SortRequest request = request_for(format, Distribution::kZipf, kInputBytes);
        request.batch_size = batch_size;
        set_ways(request, from_pipe, to_pipe);
        const SortResult result = expect_right(request);
        EXPECT_GT(result.outcome.runs, 3U);
        if (batch_size == 2) {
          EXPECT_GE(result.outcome.run_key_bytes, 2 * kInputBytes) << "no round before the last";
        }
      }
    }
  }
}

TEST_P(SortsOnEngine, DoNotDependOnBudgetOrThreads) {
  const KeyFormat format{KeyType::kI32, false, false};
  test::SomeOf cases(2);
  for (const char* const budget : {"8M", "12M", "24M"}) {
    for (const unsigned threads : {1U, 2U, 4U}) {
      if (!cases.takes()) continue;
      SCOPED_TRACE(testing::Message() << budget << ' ' << threads);
      SortRequest request = request_for(format, Distribution::kSawtooth, 14'000'004);
      request.budget = budget;
      if (request.gpu_memory) request.gpu_memory = std::to_string(4 * std::stoi(budget)) + "M";
      request.threads = threads;
      expect_right(request);
    }
  }
}

TEST_P(SortsOnEngine, WithoutProofAreRightToo) {
  SortRequest request =
      request_for({KeyType::kU64, false, true}, Distribution::kUniform, kSpillingBytes);
  request.budget = kSmallBudget;
  request.verify = false;
  expect_right(request);
}

TEST_P(SortsOnEngine, ReplaceAnOldOutput) {
  SortRequest request = request_for({KeyType::kU64, false, false}, Distribution::kUniform, 8'000);
  request.old_output = Bytes(100'000, std::byte{1});
  expect_right(request);
}

SortRequest request_on_device(std::uint64_t buffers) {
  SortRequest request;
  request.format = {KeyType::kU32, false, false};
  request.input = test::generated(request.format, Distribution::kUniform, kSpillingBytes / 4);
  test::use_engine(request, "std");
  set_ways(request, false, false);
  request.device_buffers = buffers;
  request.make_tier = [](const DevicePlan&, std::uint64_t bytes) {
    return std::make_unique<test::VectorTier>(bytes);
  };
  return request;
}

TEST(SortsWithADeviceTier, KeepRunsThereAndSpillTheRest) {
  for (const std::uint64_t buffers : {1UL, 20UL, 1000UL}) {
    const SortRequest request = request_on_device(buffers);
    const SortResult result = expect_right(request);
    EXPECT_GT(result.outcome.device_bytes, 0U);
    EXPECT_LE(result.outcome.device_bytes, buffers * result.plan.run.write_buffer_bytes);
    EXPECT_EQ(result.outcome.spilled_bytes == 0, buffers == 1'000) << buffers;
  }
}

TEST(SortsWithADeviceTier, MergeInSeveralRoundsThere) {
  SortRequest request = request_on_device(1'000);
  request.batch_size = 2;
  const SortResult result = expect_right(request);
  EXPECT_FALSE(result.plan.run.rounds.empty());
  EXPECT_EQ(result.outcome.spilled_bytes, 0U);
}

TEST(SortsWithADeviceTier, SpillWhereTheDeviceHasTooLittle) {
  SortRequest request = request_on_device(1'000);
  request.make_tier = [](const DevicePlan&, std::uint64_t) -> std::unique_ptr<TierMemory> {
    throw Error(ErrorKind::kResource, "allocating device memory",
                "1 GiB are needed, 1 KiB is free");
  };
  const SortResult result = expect_right(request);
  EXPECT_EQ(result.outcome.device_bytes, 0U);
  EXPECT_GT(result.outcome.spilled_bytes, 0U);
  ASSERT_FALSE(result.outcome.notes.empty());
  EXPECT_NE(result.outcome.notes.front().find("1 KiB is free"), std::string::npos);
}

TEST(SortsWithADeviceTier, KeepRunsOnSeveralDevices) {
  SortRequest request = request_on_device(1'000);
  request.devices = 3;
  std::atomic<int> made{0};
  request.make_tier = [&](const DevicePlan&, std::uint64_t bytes) {
    ++made;
    return std::make_unique<test::VectorTier>(bytes);
  };
  const SortResult result = expect_right(request);
  EXPECT_EQ(made, 3);
  EXPECT_GT(result.outcome.device_bytes, 0U);
  EXPECT_EQ(result.outcome.spilled_bytes, 0U);
}

// A sort of keys in chunks of 4,200, of which 1,024 fill a block, by four readers.
SortRequest request_of_small_chunks(unsigned devices, std::uint64_t elements) {
  SortRequest request = request_on_device(1'000);
  request.format = {KeyType::kU64, false, false};
  request.input = test::generated(request.format, Distribution::kSawtooth, elements);
  request.devices = devices;
  request.threads = 4;
  request.change_plan = [devices](Plan& plan) {
    plan.strategy = Spill{};
    plan.chunk.block_bytes = 8'192;
    plan.chunk.chunk_elements = 4'200;
    plan.chunk.lanes = 3 * devices;
    plan.chunk.spillers = devices;
    plan.chunk.readers = 4;
  };
  return request;
}

// Blocks are dealt out to the lanes of all devices as they come; the last ones leave lanes empty.
TEST(SortsOnDevices, FillChunksSideBySide) {
  for (const unsigned devices : {1U, 3U}) {
    for (const std::uint64_t elements : {200'000U, 200'001U, 262'144U}) {
      SCOPED_TRACE(testing::Message() << devices << ' ' << elements);
      SortRequest request = request_of_small_chunks(devices, elements);
      const SortResult result = expect_right(request);
      const std::uint64_t least_runs = (elements + 4'199) / 4'200;
      EXPECT_GE(result.outcome.runs, least_runs);
      EXPECT_LE(result.outcome.runs, least_runs + devices + 1) << "only the last ones are not full";
      request.input.clear();
      EXPECT_FALSE(sort_in_folder(request).error.has_value());
    }
  }
}

// The thread that adds the first block is held until others have added more than the chunk has room
// for: no thread waits for the end of a chunk before the next one is filled.
class HoldingEngine final : public test::ForwardingEngine {
 public:
  HoldingEngine(std::unique_ptr<Engine> engine, std::atomic<bool>& is_late)
      : ForwardingEngine(std::move(engine)), is_late_(is_late) {}
  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    return test::wrapped<Lane>(ForwardingEngine::make_chunk_lanes(), *this);
  }

 private:
  class Lane final : public test::ForwardingChunkLane {
   public:
    Lane(std::unique_ptr<ChunkLane> lane, HoldingEngine& engine)
        : ForwardingChunkLane(std::move(lane)), engine_(engine) {}
    void add(ByteSpan block, std::size_t bytes, std::uint64_t position) override {
      if (bytes > 0) engine_.hold_the_first();
      ForwardingChunkLane::add(block, bytes, position);
    }

   private:
    HoldingEngine& engine_;
  };

  void hold_the_first() {
    constexpr int kMore = 7;  // a chunk has five blocks
    std::unique_lock lock(mutex_);
    ++added_;
    changed_.notify_all();
    if (added_ > 1) return;
    const auto others_went_on = [this] { return added_ >= kMore; };
    if (!changed_.wait_for(lock, std::chrono::seconds(20), others_went_on)) is_late_ = true;
  }

  std::atomic<bool>& is_late_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int added_ = 0;
};

TEST(SortsOnDevices, ReadOnWhileAChunkIsCompleted) {
  std::atomic<bool> is_late{false};
  SortRequest request = request_of_small_chunks(1, 100'000);
  request.make_engine = [&, make = request.make_engine](const Plan& plan, const EngineShape& shape,
                                                        ByteSpan memory) {
    return std::make_unique<HoldingEngine>(make(plan, shape, memory), is_late);
  };
  expect_right(request);
  EXPECT_FALSE(is_late) << "the readers waited for each other";
}

TEST(SortsOnDevices, EndWithTheErrorOfABlockOfSeveralChunks) {
  for (const unsigned devices : {1U, 3U}) {
    for (const int failing : {1, 2, 5, 6, 40}) {
      SCOPED_TRACE(testing::Message() << devices << ' ' << failing);
      SortRequest request = request_of_small_chunks(devices, 100'000);
      request.old_output = Bytes(3, std::byte{7});
      test::EngineHooks hooks;
      hooks.on_block = [failing, blocks = 0](ByteSpan, std::size_t bytes) mutable {
        if (++blocks >= failing) throw Error(ErrorKind::kDevice, "adding", "failed as wanted");
        return bytes;
      };
      request.make_engine = [hooks, make = request.make_engine](
                                const Plan& plan, const EngineShape& shape, ByteSpan memory) {
        return test::wrap_engine(make(plan, shape, memory), hooks);
      };
      const SortResult result = sort_in_folder(request);
      ASSERT_TRUE(result.error.has_value());
      EXPECT_EQ(result.error->reason(), "failed as wanted");
      EXPECT_TRUE(result.output == request.old_output);
      EXPECT_TRUE(result.left_in_temporary.empty());
    }
  }
}

TEST(SortsWithADeviceTier, KeepRunsOnTheOthersWhereOneDeviceHasTooLittle) {
  SortRequest request = request_on_device(1'000);
  request.devices = 3;
  std::atomic<int> made{0};
  request.make_tier = [&](const DevicePlan&, std::uint64_t bytes) {
    if (++made == 2) {
      throw Error(ErrorKind::kResource, "allocating device memory",
                  "1 GiB are needed, 1 KiB is free");
    }
    return std::make_unique<test::VectorTier>(bytes);
  };
  const SortResult result = expect_right(request);
  EXPECT_EQ(result.outcome.spilled_bytes, 0U);
  ASSERT_FALSE(result.outcome.notes.empty());
  EXPECT_NE(result.outcome.notes.front().find("no runs stay on device"), std::string::npos);
}

TEST(SortsWithADeviceTier, EndWithTheErrorOfTheDeviceThatFails) {
  for (const auto& [devices, calls] : {std::pair{1, 0}, {1, 3}, {1, 30}, {3, 0}, {3, 3}, {3, 10}}) {
    SCOPED_TRACE(testing::Message() << devices << " devices, " << calls << " calls");
    SortRequest request = request_on_device(1'000);
    request.devices = static_cast<unsigned>(devices);
    request.old_output = Bytes(3, std::byte{7});
    std::atomic<int> made{0};
    request.make_tier = [&, last = devices, failing = calls](const DevicePlan&,
                                                             std::uint64_t bytes) {
      auto tier = std::make_unique<test::VectorTier>(bytes);
      if (++made == last) tier->fail_after(failing);
      return tier;
    };
    const SortResult result = sort_in_folder(request);
    ASSERT_TRUE(result.error.has_value());
    EXPECT_EQ(result.error->kind(), ErrorKind::kDevice) << result.error->what();
    EXPECT_TRUE(result.output == request.old_output);
    EXPECT_TRUE(result.left_in_temporary.empty());
    EXPECT_TRUE(result.left_in_folder.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, SortsOnEngine, testing::ValuesIn(test::engines_of_sorts()),
                         test::engine_name);

// Keys of one and two bytes never reach an engine.
TEST(CountingSort, IsRightForAllNarrowTypesWaysInAndWaysOut) {
  for (const KeyType type :
       {KeyType::kU8, KeyType::kI8, KeyType::kU16, KeyType::kI16, KeyType::kF16, KeyType::kBF16}) {
    std::size_t turn = 0;
    for (const KeyFormat& format : test::formats_of(type)) {
      for (const std::uint64_t elements : {0U, 1U, 7U, 70'001U, 600'000U}) {
        SortRequest request;
        request.format = format;
        request.from_pipe = turn % 2 == 1;
        request.to_pipe = turn % 3 == 1;
        const Distribution distribution = kAllDistributions[turn++ % std::size(kAllDistributions)];
        SCOPED_TRACE(testing::Message()
                     << elements << ' ' << test::words_of(format) << ' ' << name_of(distribution));
        request.input = test::generated(format, distribution, elements);
        const SortResult result = expect_right(request);
        EXPECT_TRUE(result.plan.is<CountKeys>());
        EXPECT_EQ(result.outcome.runs, 0U);
      }
    }
  }
}

TEST(CountingSort, IsRightForEveryDistribution) {
  for (const Distribution distribution : kAllDistributions) {
    for (const KeyType type : {KeyType::kI8, KeyType::kU16}) {
      SortRequest request;
      request.format = {type, true, true};
      request.input = test::generated(request.format, distribution, 1'000'003);
      SCOPED_TRACE(name_of(distribution));
      expect_right(request);
    }
  }
}

}  // namespace
}  // namespace gsort
