// gsort-bench sort, on the host: the CPU engine in memory, beside std::sort, VQSort and oneTBB's
// parallel sort. The engine gets raw keys and maps them; the others get ordered keys.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>

#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>

#include "base/parallel.hpp"
#include "bench/inputs.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "bench/vqsort.hpp"
#include "element/fingerprint.hpp"
#include "element/key_loops.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "engine/footprint.hpp"
#include "io/system/memory.hpp"

namespace gsort::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBlockBytes = 1 * kMiB;
constexpr std::uint64_t kSampleKeys = std::uint64_t{1} << 16;

// Puts pieces where they belong in an array.
class ArraySink final : public PieceSink {
 public:
  ArraySink(std::byte* to, std::uint64_t key_bytes) : to_(to), key_bytes_(key_bytes) {}
  void put(std::uint64_t position, ConstByteSpan keys) override {
    if (!keys.empty()) std::memcpy(to_ + position * key_bytes_, keys.data(), keys.size());
  }

 private:
  std::byte* to_;
  std::uint64_t key_bytes_;
};

// The CPU engine with one chunk lane, laid out once; sorts arrays of one size.
template <class Key>
class EngineSort {
 public:
  EngineSort(KeyType type, std::uint64_t elements, unsigned threads)
      : shape_(shape_of(type, elements, threads)),
        memory_(CpuChunkFootprint::of(shape_.chunk_elements, sizeof(Key), threads, kBlockBytes)
                    .arena_bytes(),
                "the CPU engine"),
        engine_(cpu::make_cpu_engine(shape_, memory_.bytes())),
        lanes_(engine_->make_chunk_lanes()) {
    std::memset(memory_.data(), 0xa5, memory_.size());
  }

  void sort(std::span<const Key> raw, std::span<Key> out) {
    ChunkLane& lane = *lanes_.front();
    std::vector<Key> sample;
    const std::uint64_t samples = std::min<std::uint64_t>(raw.size(), kSampleKeys);
    for (std::uint64_t i = 0; i < samples; ++i) sample.push_back(raw[i * raw.size() / samples]);
    lane.begin(std::as_bytes(std::span<const Key>(sample)));
    fill(lane, std::as_bytes(raw));
    lane.sort(KeyForm::kRaw);
    ArraySink sink(std::as_writable_bytes(out).data(), sizeof(Key));
    lane.emit(sink);
  }

 private:
  static EngineShape shape_of(KeyType type, std::uint64_t elements, unsigned threads) {
    EngineShape shape;
    shape.format.type = type;
    shape.threads = threads;
    shape.block_bytes = kBlockBytes;
    shape.chunk_elements = std::max<std::uint64_t>(elements, 1);
    return shape;
  }

  void fill(ChunkLane& lane, ConstByteSpan raw) const {
    std::atomic<std::size_t> next{0};
    run_workers(shape_.threads, [&](unsigned) {
      for (std::size_t at = next.fetch_add(kBlockBytes); at < raw.size();
           at = next.fetch_add(kBlockBytes)) {
        const ConstByteSpan from = raw.subspan(at, std::min(kBlockBytes, raw.size() - at));
        const ByteSpan block = lane.acquire_block();
        std::memcpy(block.data(), from.data(), from.size());
        lane.add(block, from.size(), at / sizeof(Key));
      }
    });
  }

  EngineShape shape_;
  io::Arena memory_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::unique_ptr<ChunkLane>> lanes_;
};

template <class Key>
class HostBench {
 public:
  HostBench(const Request& request, KeyType type, Distribution distribution, std::uint64_t elements)
      : request_(request),
        spec_{{type, false, false}, distribution, request.seed, elements},
        out_(elements) {}

  // `sort(out)` is timed. It finds in out what `form` says, or, if it reads input() instead,
  // poison.
  void add(const std::string& name, KeyForm form, bool in_place,
           const std::function<void(std::span<Key> out)>& sort) {
    std::vector<double> all_ms;
    bool right = true;
    for (int run = 0; run <= request_.repeat; ++run) {
      GenSpec spec = spec_;
      spec.seed += static_cast<std::uint64_t>(run) % 2;
      input_ = form == KeyForm::kRaw ? make_raw_keys<Key>(spec, request_.threads)
                                     : make_ordered_keys<Key>(spec, request_.threads);
      if (in_place) {
        std::copy(input_.begin(), input_.end(), out_.begin());
      } else {
        std::fill(out_.begin(), out_.end(), static_cast<Key>(0xa5a5a5a5a5a5a5a5ULL));
      }
      const auto begin = Clock::now();
      sort(std::span<Key>(out_));
      const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
      if (run > 0) all_ms.push_back(time.count());
      right = is_right(form) && right;
    }
    results_.push_back({name, Times::of(std::move(all_ms)), out_.size(),
                        2 * out_.size() * sizeof(Key), right ? Verdict::kVerified : Verdict::kWrong,
                        "", ""});
  }

  [[nodiscard]] std::span<const Key> input() const { return input_; }
  [[nodiscard]] const std::vector<Result>& results() const { return results_; }

 private:
  [[nodiscard]] bool is_right(KeyForm form) const {
    const auto map = form == KeyForm::kRaw ? KeyMap<Key>::of(spec_.format) : KeyMap<Key>();
    return first_disorder<Key>(out_, map) == out_.size() &&
           fingerprint_of(std::as_bytes(std::span<const Key>(input_)), sizeof(Key)) ==
               fingerprint_of(std::as_bytes(std::span<const Key>(out_)), sizeof(Key));
  }

  const Request& request_;
  GenSpec spec_;
  std::vector<Key> input_;
  std::vector<Key> out_;
  std::vector<Result> results_;
};

template <class Key>
void bench_one(const Request& request, KeyType type, Distribution distribution,
               std::uint64_t elements, Report& report) {
  const std::string cores = std::to_string(request.threads) + " threads";
  HostBench<Key> bench(request, type, distribution, elements);
  bench.add("std::sort, 1 thread", KeyForm::kOrdered, true,
            [](std::span<Key> out) { std::sort(out.begin(), out.end()); });
  bench.add("vqsort, 1 thread", KeyForm::kOrdered, true, [](std::span<Key> out) { vqsort(out); });
  bench.add("tbb::parallel_sort, " + cores, KeyForm::kOrdered, true, [&](std::span<Key> out) {
    tbb::task_arena arena(static_cast<int>(request.threads));
    arena.execute([&] { tbb::parallel_sort(out.begin(), out.end()); });
  });
  EngineSort<Key> engine(type, elements, request.threads);
  bench.add("gsort's CPU engine, " + cores, KeyForm::kRaw, false,
            [&](std::span<Key> out) { engine.sort(bench.input(), out); });
  report.add(group_of("sort in host memory of", type, distribution, elements), bench.results());
}

}  // namespace

void bench_host_sort(const Request& request, Report& report) {
  for_each_input(
      request, {KeyType::kU32, KeyType::kU64}, {std::uint64_t{1} << 24},
      [&]<class Key>(Key, KeyType type, Distribution distribution, std::uint64_t elements) {
        bench_one<Key>(request, type, distribution, elements, report);
      });
}

}  // namespace gsort::bench
