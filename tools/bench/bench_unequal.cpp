// Whether unequal devices share a sort by their speed: times a whole sort, in a temporary folder,
// on a fast device alone, on a slow one alone, and on both. The lanes of the fast one wait for NS
// nanoseconds a key before they give a chunk or a part away, those of the slow one for three times
// as long, and the slow one has a quarter of the memory for runs. Both wait, so that one card can
// stand for both: the delay must be long compared with the work on a key. Every output is compared
// with the result of std::sort. Ends with status 1 if both together have less than 90% of the sum
// of their rates, with status 2 if the output is wrong. Usage: bench_unequal cuda|std LOG2_KEYS NS
// (std: no GPU, memory of the host stands for devices)
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "gpu/engine/gpu.hpp"
#include "support/engine_wrap.hpp"
#include "support/engines.hpp"
#include "support/invented.hpp"
#include "support/sort_run.hpp"
#include "support/sorted_copy.hpp"
#include "support/vector_tier.hpp"

namespace gsort::bench {
namespace {

using Delay = std::chrono::nanoseconds;  // of each key

constexpr KeyFormat kU32{KeyType::kU32, false, false};
constexpr std::uint64_t kChunks = 100;    // few would leave one device alone at the end
constexpr std::uint64_t kBlocks = 64;     // of a chunk, at least
constexpr int kSlowness = 3;              // of the slow device's delay
constexpr std::uint64_t kFewBuffers = 4;  // of the slow device, for runs
constexpr double kLeastShare = 0.9;
constexpr const char* kGpuMemory = "48M";  // of each device
constexpr unsigned kThreads = 4;

class DelayedChunkLane final : public test::ForwardingChunkLane {
 public:
  DelayedChunkLane(std::unique_ptr<ChunkLane> lane, Delay delay)
      : ForwardingChunkLane(std::move(lane)), delay_(delay) {}
  void add(ByteSpan block, std::size_t bytes, std::uint64_t position) override {
    keys_ += bytes / sizeof(std::uint32_t);
    ForwardingChunkLane::add(block, bytes, position);
  }
  void emit(PieceSink& sink) override {
    std::this_thread::sleep_for(keys_.exchange(0) * delay_);
    ForwardingChunkLane::emit(sink);
  }

 private:
  Delay delay_;
  std::atomic<std::uint64_t> keys_{0};
};

class DelayedMergeLane final : public MergeLane {
 public:
  DelayedMergeLane(std::unique_ptr<MergeLane> lane, Delay delay)
      : lane_(std::move(lane)), delay_(delay) {}
  [[nodiscard]] ByteSpan input() override { return lane_->input(); }
  void merge(std::span<const std::uint64_t> slice_counts, std::uint64_t position, KeyForm form,
             PieceSink& sink) override {
    const auto keys = std::accumulate(slice_counts.begin(), slice_counts.end(), std::uint64_t{0});
    std::this_thread::sleep_for(keys * delay_);
    lane_->merge(slice_counts, position, form, sink);
  }

 private:
  std::unique_ptr<MergeLane> lane_;
  Delay delay_;
};

// The engine with lanes that are spread over devices in turn, each with a delay of its own.
class DelayedEngine final : public test::ForwardingEngine {
 public:
  DelayedEngine(std::unique_ptr<Engine> engine, std::vector<Delay> delays)
      : ForwardingEngine(std::move(engine)), delays_(std::move(delays)) {}
  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    return delayed<DelayedChunkLane>(ForwardingEngine::make_chunk_lanes());
  }
  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned lanes, std::uint64_t part_elements) override {
    return delayed<DelayedMergeLane>(ForwardingEngine::make_merge_lanes(lanes, part_elements));
  }

 private:
  template <class Delayed, class Lane>
  std::vector<std::unique_ptr<Lane>> delayed(std::vector<std::unique_ptr<Lane>> lanes) const {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const Delay delay = delays_[lane % delays_.size()];
      lanes[lane] = std::make_unique<Delayed>(std::move(lanes[lane]), delay);
    }
    return lanes;
  }

  std::vector<Delay> delays_;
};

// Keys a second of both phases.
struct Rates {
  double forming = 0;
  double merging = 0;
};

double rate_of(const test::SortResult& result, Phase wanted) {
  double seconds = 0;
  for (const PhaseRecord& phase : result.outcome.phases) {
    if (phase.phase == wanted) seconds += static_cast<double>(phase.end_ns - phase.begin_ns) / 1e9;
  }
  return static_cast<double>(result.outcome.elements) / seconds;
}

// By the plan for a larger input, which has runs, but with short chunks, and with blocks that are
// small compared with a part, as in a large sort.
void make_chunks_short(Plan& plan, const Plan& large) {
  const std::uint64_t elements = plan.elements;
  const OutputPlan output = plan.output;
  plan = large;
  plan.elements = elements;
  plan.output = output;
  plan.chunk.chunk_elements = std::min(plan.chunk.chunk_elements, elements / kChunks);
  plan.run.block_elements = std::min(plan.run.block_elements, plan.chunk.chunk_elements / kBlocks);
  plan.devices.front().more_buffers = 3 * kFewBuffers;
}

Plan large_plan(std::size_t devices) {
  Options options = test::options_for(kU32.type, "1G");
  options.engine = EngineChoice::kCuda;
  options.gpu_memory = kGpuMemory;
  options.devices.all = true;
  options.parallel = kThreads;
  Machine machine = test::invented_machine(kGiB, kThreads, kTiB);
  for (std::size_t device = 0; device < devices; ++device) test::add_gpu(machine);
  return make_plan(make_job(options, {}, kGiB), machine);
}

class UnequalDevices {
 public:
  UnequalDevices(std::string engine, std::uint64_t keys)
      : engine_(std::move(engine)),
        input_(test::generated(kU32, Distribution::kUniform, keys)),
        wanted_(test::sorted_copy(input_, kU32)) {}

  // The rates of devices with these delays; all except the first have a quarter of the memory.
  [[nodiscard]] Rates measure(const std::vector<Delay>& delays) const {
    const test::SortResult result = test::sort_in_folder(request_for(delays));
    if (result.error) throw *result.error;
    if (result.output != wanted_) throw std::runtime_error("the output is wrong");
    return {rate_of(result, Phase::kRead), rate_of(result, Phase::kMerge)};
  }

 private:
  [[nodiscard]] test::SortRequest request_for(const std::vector<Delay>& delays) const {
    const bool on_gpu = test::is_cuda_engine(engine_);
    test::SortRequest request;
    request.format = kU32;
    request.input = input_;
    request.gpu_memory = kGpuMemory;
    request.threads = kThreads;
    request.devices = static_cast<unsigned>(delays.size());
    request.device_buffers = kFewBuffers;
    request.change_plan = [large = large_plan(delays.size())](Plan& plan) {
      make_chunks_short(plan, large);
    };
    request.make_engine = [make = test::engine_maker(engine_), delays](
                              const Plan& plan, const EngineShape& shape, ByteSpan memory) {
      return std::make_unique<DelayedEngine>(make(plan, shape, memory), delays);
    };
    request.make_tier = [on_gpu](const DevicePlan& device,
                                 std::uint64_t bytes) -> std::unique_ptr<TierMemory> {
      if (!on_gpu) return std::make_unique<test::VectorTier>(bytes);
      const auto number = static_cast<std::size_t>(device.ordinal);
      return gpu::make_device_tier(test::ordinals_of("cuda_x2").at(number), bytes);
    };
    return request;
  }

  std::string engine_;
  test::Bytes input_;
  test::Bytes wanted_;
};

// Whether the rate of both together is close to the sum of their rates alone.
bool report(std::string_view phase, double fast, double slow, double both) {
  const double share = both / (fast + slow);
  std::printf("%s, Mkeys/s: fast %.2f, slow %.2f, both %.2f: %.1f%% of the sum\n", phase.data(),
              fast / 1e6, slow / 1e6, both / 1e6, share * 100);
  return share >= kLeastShare;
}

int run(std::span<char*> arguments) {
  const std::string_view engine = arguments.size() == 4 ? arguments[1] : "";
  if (engine != "cuda" && engine != "std") {
    std::fputs("usage: bench_unequal cuda|std LOG2_KEYS NS\n", stderr);
    return 2;
  }
  if (engine == "cuda" && gpu::find_devices({}).devices.empty()) {
    throw std::runtime_error(gpu::find_devices({}).absent_reason);
  }
  const std::uint64_t keys = std::uint64_t{1} << std::clamp(std::atoi(arguments[2]), 16, 30);
  const Delay delay(std::clamp(std::atoi(arguments[3]), 1, 10'000));
  const UnequalDevices devices(engine == "cuda" ? "cuda_x2" : "std", keys);
  const Rates fast = devices.measure({delay});
  const Rates slow = devices.measure({kSlowness * delay});
  const Rates both = devices.measure({delay, kSlowness * delay});
  const bool formed = report("forming runs", fast.forming, slow.forming, both.forming);
  const bool merged = report("merging", fast.merging, slow.merging, both.merging);
  return formed && merged ? 0 : 1;
}

}  // namespace
}  // namespace gsort::bench

int main(int argc, char** argv) {
  try {
    return gsort::bench::run({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_unequal: %s\n", error.what());
    return 2;
  }
}
