// Sorts of which one device fails, in each call of its lanes in turn. Lanes of another engine stand
// for those of three devices, so this needs no emulator, and ThreadSanitizer sees all threads.
// tests/emulator/lost_device_test.cpp makes every CUDA call fail.
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/device_error.hpp"
#include "engine/device_losses.hpp"
#include "support/engines.hpp"
#include "support/expected_output.hpp"
#include "support/resumable_sort.hpp"
#include "support/vector_tier.hpp"

namespace gsort {
namespace {

using test::Bytes;
using test::SortRequest;
using test::SortResult;

constexpr KeyFormat kU32{KeyType::kU32, false, false};
constexpr unsigned kDevices = 3;

enum class Call : std::uint8_t { kBegin, kAcquire, kAdd, kSort, kPutChunk, kLoad, kPutPart };
constexpr std::array kChunkCalls{Call::kBegin, Call::kAcquire, Call::kAdd, Call::kSort,
                                 Call::kPutChunk};
constexpr std::array kPartCalls{Call::kLoad, Call::kPutPart};

// The call that fails on one device.
struct Fault {
  Call call = Call::kBegin;
  std::uint64_t nth = 1;
  int ordinal = 0;
  ErrorKind kind = ErrorKind::kDevice;
  bool from_then_on = false;  // with all other calls on the device
  int named = ordinal;        // as the device that failed
};

// Thread-safe.
class FailingDevice {
 public:
  static constexpr const char* kReason = "planned by the test";

  FailingDevice(const Fault& fault, std::uint64_t element_bytes)
      : fault_(fault), element_bytes_(element_bytes) {}

  [[nodiscard]] std::uint64_t element_bytes() const { return element_bytes_; }

  void call(Call call, std::optional<int> ordinal) {
    if (ordinal != fault_.ordinal) return;
    const std::scoped_lock lock(mutex_);
    const bool is_met = call == fault_.call && ++calls_ == fault_.nth;
    if (!is_met && !(was_met_ && fault_.from_then_on)) return;
    was_met_ = true;
    throw DeviceError(fault_.named, Error(fault_.kind, "sorting on a device", kReason));
  }
  [[nodiscard]] bool was_met() const { return was_met_; }

 private:
  const Fault fault_;
  const std::uint64_t element_bytes_;
  std::mutex mutex_;
  std::uint64_t calls_ = 0;
  bool was_met_ = false;
};

// The way of pieces from a lane of the device. Something has arrived when it fails.
class DeviceSink final : public PieceSink, public BlockSink {
 public:
  DeviceSink(FailingDevice& device, Call call, std::optional<int> ordinal, PieceSink& next)
      : device_(device), call_(call), ordinal_(ordinal), next_(next) {}

  void put(std::uint64_t position, ConstByteSpan elements) override {
    const std::uint64_t bytes = device_.element_bytes();
    const std::uint64_t half = elements.size() / bytes / 2;
    if (half > 0) next_.put(position, elements.first(half * bytes));
    device_.call(call_, ordinal_);
    next_.put(position + half, elements.subspan(half * bytes));
  }
  [[nodiscard]] BlockSink* block_sink() override {
    return next_.block_sink() == nullptr ? nullptr : this;
  }
  [[nodiscard]] std::uint64_t block_elements() const override {
    return next_.block_sink()->block_elements();
  }
  [[nodiscard]] Packing packing() const override { return next_.block_sink()->packing(); }
  void put_blocks(std::uint64_t position, const StoredBlocks& blocks) override {
    next_.block_sink()->put_blocks(position, blocks);
    device_.call(call_, ordinal_);
  }
  void abandon() noexcept override { next_.abandon(); }
  void enter() noexcept override { next_.enter(); }
  void leave() noexcept override { next_.leave(); }

 private:
  FailingDevice& device_;
  Call call_;
  std::optional<int> ordinal_;
  PieceSink& next_;
};

class DeviceChunkLane final : public ChunkLane {
 public:
  DeviceChunkLane(std::unique_ptr<ChunkLane> lane, FailingDevice& device,
                  std::optional<int> ordinal)
      : lane_(std::move(lane)), device_(device), ordinal_(ordinal) {}

  void begin(ConstByteSpan sample) override {
    require_whole();
    call(Call::kBegin);
    lane_->begin(sample);
  }
  [[nodiscard]] ByteSpan acquire_block() override {
    call(Call::kAcquire);
    return lane_->acquire_block();
  }
  void add(ByteSpan block, std::size_t bytes, std::uint64_t position) override {
    try {
      call(Call::kAdd);
    } catch (...) {
      lane_->add(block, 0, 0);  // others may wait for it
      throw;
    }
    lane_->add(block, bytes, position);
  }
  void sort(KeyForm form) override {
    require_whole();
    call(Call::kSort);
    lane_->sort(form);
  }
  void emit(PieceSink& sink) override {
    require_whole();
    DeviceSink on_the_way(device_, Call::kPutChunk, ordinal_, sink);
    try {
      lane_->emit(on_the_way);
    } catch (...) {
      has_failed_ = true;
      throw;
    }
  }

 private:
  void call(Call call) {
    try {
      device_.call(call, ordinal_);
    } catch (...) {
      has_failed_ = true;
      throw;
    }
  }
  void require_whole() const { EXPECT_FALSE(has_failed_) << "nobody knows what is in this lane"; }

  std::unique_ptr<ChunkLane> lane_;
  FailingDevice& device_;
  std::optional<int> ordinal_;
  std::atomic<bool> has_failed_{false};
};

// Goes on without its device as the CUDA engine's lane does.
class DeviceMergeLane final : public MergeLane, public StoredMerger {
 public:
  DeviceMergeLane(std::unique_ptr<MergeLane> lane, FailingDevice& device,
                  std::optional<int> ordinal, DeviceLosses* losses)
      : lane_(std::move(lane)), device_(device), ordinal_(ordinal), losses_(losses) {}

  [[nodiscard]] ByteSpan input() override { return lane_->input(); }
  void merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position, KeyForm form,
             PieceSink& sink) override {
    device_.call(Call::kLoad, ordinal_);
    DeviceSink on_the_way(device_, Call::kPutPart, ordinal_, sink);
    lane_->merge(slice_counts, position, form, on_the_way);
  }
  [[nodiscard]] StoredMerger* stored_merger() override {
    return ordinal_ && lane_->stored_merger() != nullptr ? this : nullptr;
  }
  [[nodiscard]] bool takes(std::size_t slices, std::uint64_t stored_bytes,
                           std::uint64_t bytes) const override {
    return lane_->stored_merger()->takes(slices, stored_bytes, bytes);
  }
  void merge_stored(std::span<const std::uint64_t> slice_counts, std::span<const StoredKeys> pieces,
                    std::uint64_t position, KeyForm form, PieceSink& sink) override {
    device_.call(Call::kLoad, ordinal_);
    DeviceSink on_the_way(device_, Call::kPutPart, ordinal_, sink);
    lane_->stored_merger()->merge_stored(slice_counts, pieces, position, form, on_the_way);
  }
  [[nodiscard]] bool go_on_without(const DeviceError& failure) override {
    if (!ordinal_ || losses_ == nullptr || failure.ordinal() != ordinal_) return false;
    ordinal_.reset();
    losses_->add(failure, DoneAgain::kParts);
    return true;
  }
  [[nodiscard]] bool is_without_device() override {
    if (losses_ != nullptr && losses_->loss_of(ordinal_)) ordinal_.reset();
    return !ordinal_;
  }

 private:
  std::unique_ptr<MergeLane> lane_;
  FailingDevice& device_;
  std::optional<int> ordinal_;  // none: it goes on without
  DeviceLosses* losses_;
};

// "std", or "cpu" for records, in place of engines on the plan's devices.
class DeviceEngine final : public Engine {
 public:
  DeviceEngine(const Plan& plan, EngineShape shape, FailingDevice& device)
      : plan_(plan),
        shape_(std::move(shape)),
        name_(shape_.records ? "cpu" : "std"),
        device_(device) {}

  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    engine_.emplace(name_, shape_);
    std::vector<std::unique_ptr<ChunkLane>> lanes;
    for (auto& lane : (*engine_)->make_chunk_lanes()) {
      const std::optional<int> ordinal = plan_.device_of_lane(lanes.size());
      lanes.push_back(std::make_unique<DeviceChunkLane>(std::move(lane), device_, ordinal));
    }
    return lanes;
  }
  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned count, std::uint64_t part_elements) override {
    engine_.emplace(name_, shape_, count, part_elements);
    std::vector<std::unique_ptr<MergeLane>> lanes;
    for (auto& lane : (*engine_)->make_merge_lanes(count, part_elements)) {
      const std::optional<int> ordinal = plan_.device_of_lane(lanes.size());
      lanes.push_back(
          std::make_unique<DeviceMergeLane>(std::move(lane), device_, ordinal, shape_.losses));
    }
    return lanes;
  }
  [[nodiscard]] std::vector<std::unique_ptr<ArrayLane>> make_array_lanes(
      unsigned count, const ArrayShape& arrays) override {
    engine_.emplace(name_, shape_, arrays, count);
    return (*engine_)->make_array_lanes(count, arrays);
  }

 private:
  const Plan& plan_;
  EngineShape shape_;
  std::string name_;
  FailingDevice& device_;
  std::optional<test::EngineUnderTest> engine_;  // of the lanes that there are
};

// The repeated work of all sorts.
struct Again {
  int sorts = 0;
  int chunks = 0;
  int parts = 0;

  void add(const SortResult& result) {
    for (const LostDevice& loss : result.outcome.lost_devices) {
      ++(loss.again == DoneAgain::kSort     ? sorts
         : loss.again == DoneAgain::kChunks ? chunks
                                            : parts);
    }
  }
};

class LostLane : public testing::TestWithParam<int> {
 public:
  // Twelve chunks or more, of which several are filled at the same time, and as many parts.
  static SortRequest request_of_keys(unsigned devices = kDevices) {
    SortRequest request;
    request.format = kU32;
    request.input = test::generated(kU32, Distribution::kZipf, 12'000);
    request.devices = devices;
    return with_short_chunks(std::move(request), 1'000);
  }
  static SortRequest request_of_records() {
    SortRequest request;
    request.format = kU32;
    request.input = test::generated(kU32, Distribution::kZipf, 12'000);
    request.devices = kDevices;
    request.records.emplace();
    request.records->bytes = 12;
    request.records->keys = {{.offset = 0, .bytes = 1, .type = KeyType::kU8}};
    return with_short_chunks(std::move(request), 500);
  }

  // Sorts with each call failing at the first time, the second one, the fourth one and so on, until
  // it does not come any more.
  template <class Expect>
  static void fail_each(SortRequest request, std::span<const Call> calls, Fault fault,
                        const Expect& expect) {
    for (const Call call : calls) {
      bool was_met = true;
      for (std::uint64_t nth = 1; was_met; nth *= 2) {
        SCOPED_TRACE(testing::Message() << "call " << static_cast<int>(call) << ", time " << nth);
        fault.call = call;
        fault.nth = nth;
        FailingDevice device(fault, ElementFormat{request.format, request.records}.bytes());
        request.make_engine = [&](const Plan& plan, const EngineShape& shape, ByteSpan) {
          return std::make_unique<DeviceEngine>(plan, shape, device);
        };
        const SortResult result = sort_in_folder(request);
        was_met = device.was_met();
        expect(result, was_met);
        if (testing::Test::HasFailure()) return;
      }
    }
  }

  // The same once, from then on, and because memory is short; all sorts end well.
  static Again sort_without(int lost, const SortRequest& request, std::span<const Call> calls) {
    const Bytes whole = test::expected_output(request);
    Again again;
    for (const auto& [kind, from_then_on] :
         {std::pair(ErrorKind::kDevice, false), std::pair(ErrorKind::kDevice, true),
          std::pair(ErrorKind::kResource, false)}) {
      const Fault fault{.ordinal = lost, .kind = kind, .from_then_on = from_then_on};
      fail_each(request, calls, fault, [&](const SortResult& result, bool was_met) {
        expect_whole(result, whole);
        EXPECT_EQ(!result.outcome.lost_devices.empty(), was_met);
        for (const LostDevice& loss : result.outcome.lost_devices) EXPECT_EQ(loss.ordinal, lost);
        again.add(result);
      });
    }
    return again;
  }

  static void expect_whole(const SortResult& result, const Bytes& whole) {
    ASSERT_FALSE(result.error.has_value()) << result.error->what();
    EXPECT_TRUE(result.output == whole);
    EXPECT_TRUE(result.left_in_temporary.empty());
  }

 private:
  static SortRequest with_short_chunks(SortRequest request, std::uint64_t chunk_elements) {
    request.gpu_memory = "48M";
    request.threads = 4;
    request.may_lose_devices = true;
    test::make_chunks_short(request, chunk_elements);
    request.change_plan = [shorten = request.change_plan](Plan& plan) {
      shorten(plan);
      plan.chunk.block_bytes = 480;  // whole records
      plan.run.block_elements = 16;
    };
    return request;
  }
};

// A sort in which other lanes do the work of the lost one again.
struct LostWork {
  const char* name;
  SortRequest request;
  std::span<const Call> calls;
};

void PrintTo(const LostWork& work, std::ostream* out) {
  *out << work.name;
}

std::vector<LostWork> all_lost_work() {
  const SortRequest keys = LostLane::request_of_keys();
  const SortRequest records = LostLane::request_of_records();
  // Parts that wait for their turn, and are proven before it.
  SortRequest pipes = keys;
  pipes.from_pipe = pipes.to_pipe = true;
  // Where a part is packed again, or not.
  SortRequest rounds = keys;
  rounds.change_plan = [shorten = rounds.change_plan](Plan& plan) {
    shorten(plan);
    plan.run.fan_in = 4;
  };
  return {{"ChunksOfKeys", keys, kChunkCalls},      {"ChunksOfRecords", records, kChunkCalls},
          {"PartsOfKeys", keys, kPartCalls},        {"PartsOfRecords", records, kPartCalls},
          {"PartsBetweenPipes", pipes, kPartCalls}, {"PartsOfLongerRuns", rounds, kPartCalls}};
}

class LostWorkOfLane : public testing::TestWithParam<std::tuple<LostWork, int>> {};

TEST_P(LostWorkOfLane, IsDoneAgainByOthers) {
  const auto& [work, lost] = GetParam();
  const Again again = LostLane::sort_without(lost, work.request, work.calls);
  EXPECT_TRUE(again.chunks > 15 || again.parts > 5) << again.chunks << ' ' << again.parts;
  EXPECT_EQ(work.calls.data() == kChunkCalls.data(), again.chunks > 15);
  EXPECT_EQ(again.sorts, 0);
}

INSTANTIATE_TEST_SUITE_P(Each, LostWorkOfLane,
                         testing::Combine(testing::ValuesIn(all_lost_work()),
                                          testing::Values(0, 1, 2)));

// A lost device takes the runs in its memory with it; with too little memory it keeps them.
TEST_P(LostLane, HasAllSortedAgainIfRunsLayInItsMemory) {
  SortRequest request = request_of_keys();
  request.device_buffers = 3;
  request.make_tier = [](const DevicePlan&, std::uint64_t bytes) {
    return std::make_unique<test::VectorTier>(bytes);
  };
  const Bytes whole = test::expected_output(request);
  for (const ErrorKind kind : {ErrorKind::kDevice, ErrorKind::kResource}) {
    Again again;
    const Fault fault{.ordinal = GetParam(), .kind = kind};
    fail_each(request, kChunkCalls, fault, [&](const SortResult& result, bool) {
      expect_whole(result, whole);
      again.add(result);
    });
    EXPECT_EQ(again.sorts > 5, kind == ErrorKind::kDevice);
    EXPECT_EQ(again.chunks > 5, kind == ErrorKind::kResource);
  }
}

// Whoever finds that another device has failed has no failure of its own.
TEST_P(LostLane, HasAllSortedAgainForTheFailureOfAnotherOne) {
  const SortRequest request = request_of_keys();
  const int named = (GetParam() + 1) % static_cast<int>(kDevices);
  const Bytes whole = test::expected_output(request);
  Again again;
  const Fault fault{.ordinal = GetParam(), .named = named};
  fail_each(request, std::array{Call::kAdd, Call::kPutChunk, Call::kPutPart}, fault,
            [&](const SortResult& result, bool) {
              expect_whole(result, whole);
              again.add(result);
            });
  EXPECT_GT(again.sorts, 5);
  EXPECT_EQ(again.chunks + again.parts, 0);
}

TEST_P(LostLane, EndsASortThatMayNotDoWithoutIt) {
  SortRequest request = request_of_keys();
  request.may_lose_devices = false;
  const Bytes whole = test::expected_output(request);
  for (const std::span<const Call> calls :
       {std::span<const Call>(kChunkCalls), std::span<const Call>(kPartCalls)}) {
    fail_each(request, calls, {.ordinal = GetParam()}, [&](const SortResult& result, bool was_met) {
      if (!was_met) return expect_whole(result, whole);
      ASSERT_TRUE(result.error.has_value());
      EXPECT_EQ(result.error->reason(), FailingDevice::kReason);
      EXPECT_FALSE(result.output.has_value());
    });
  }
}

// All lanes are its own, so none is left that could do a chunk again.
TEST(OnlyDevice, HasAllSortedAgainByTheCpuIfItIsLostWithAChunk) {
  const SortRequest request = LostLane::request_of_keys(1);
  const Bytes whole = test::expected_output(request);
  Again again;
  LostLane::fail_each(request, kChunkCalls, {.from_then_on = true},
                      [&](const SortResult& result, bool) {
                        LostLane::expect_whole(result, whole);
                        again.add(result);
                      });
  EXPECT_GT(again.sorts, 10);
  EXPECT_EQ(again.chunks, 0);
}

// Runs that are kept stand for all of the input in front of their end.
TEST(ResumableSort, EndsWithALostDeviceAndThenGoesOnAtItsChunk) {
  const Bytes input = test::generated(kU32, Distribution::kZipf, 3'000'000);
  test::ResumableSort sort({input});
  sort.engine = "std";
  sort.devices = kDevices;
  sort.options.gpu_memory = "20M";
  sort.options.buffer_size = "1G";
  sort.may_lose_devices = true;
  int chunk = 0;
  sort.hooks.on_put = [&](bool merging, const std::vector<test::PutPiece>& pieces) {
    if (merging || pieces.front().position != 0 || ++chunk != 2) return;
    throw DeviceError(*DeviceScope::device(), Error(ErrorKind::kDevice, "sorting", "lost"));
  };
  ASSERT_TRUE(sort.run({.in_chunk = 3, .in_merge = {}}).error.has_value());
  sort.hooks = {};
  const test::ProcessResult done = sort.run();
  ASSERT_FALSE(done.error.has_value()) << done.error->what();
  EXPECT_TRUE(sort.output() == test::sorted_copy(input, kU32));
  EXPECT_EQ(done.outcome.resumed_runs, 1U);
}

INSTANTIATE_TEST_SUITE_P(Each, LostLane, testing::Values(0, 1, 2));

}  // namespace
}  // namespace gsort
