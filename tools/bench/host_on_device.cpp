// gsort-bench host: keys in pinned host memory, sorted on the card and back. The bound is the bus:
// the same bytes copied there and back, with nothing done to them. CUB's radix sort stands between
// such copies, as a program would use it.
#include <cstring>

#include "bench/device_bench.hpp"
#include "bench/subcommands.hpp"
#include "bench/titles.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "gpu/sort/host_array_sort.hpp"
#include "io/system/memory.hpp"

namespace gsort::bench {
namespace {

using gpu::check_cuda;
using gpu::CudaCall;

// Keys in host memory, and room for them, both pinned.
template <class Key>
struct HostKeys {
  HostKeys(const GenSpec& spec, unsigned threads)
      : memory(2 * spec.count * sizeof(Key), "keys in host memory"),
        pinned(memory.bytes(), threads),
        input(reinterpret_cast<Key*>(memory.data())),
        output(input + spec.count),
        bytes(spec.count * sizeof(Key)) {
    const std::vector<Key> keys = make_ordered_keys<Key>(spec, threads);
    std::memcpy(input, keys.data(), bytes);
  }

  void copy_in(Key* to) const {
    check_cuda(cudaMemcpyAsync(to, input, bytes, cudaMemcpyHostToDevice), CudaCall::kCopy,
               "copying keys to the GPU");
  }
  void copy_out(const Key* from) const {
    check_cuda(cudaMemcpyAsync(output, from, bytes, cudaMemcpyDeviceToHost), CudaCall::kCopy,
               "copying keys from the GPU");
  }

  io::Arena memory;
  gpu::PinnedMemory pinned;
  Key* input;
  Key* output;
  std::uint64_t bytes;
};

template <class Key>
class HostBench {
 public:
  HostBench(const Request& request, const GenSpec& spec)
      : request_(request),
        keys_(spec, request.threads),
        device_(gpu::sort_host_array_scratch_bytes<Key>(spec.count) + keys_.bytes),
        device_bytes_(gpu::sort_host_array_scratch_bytes<Key>(spec.count) + keys_.bytes),
        count_(spec.count),
        expected_(check_of_input()) {}

  // Copies the keys unchanged, in their order. Other rates are given as a share of this rate.
  void add_copies(Report& report) {
    const TimedRuns runs = time_on_device(
        plan(),
        [&](unsigned) {
          keys_.copy_in(device_.as<Key>());
          keys_.copy_out(device_.as<Key>());
        },
        [&](unsigned) { return check().sum == expected_.sum; });
    report.set_copy_rate(2.0 * static_cast<double>(keys_.bytes) / runs.times.median_ms * 1e3);
    results_.push_back({"copies alone", runs.times, count_, 2 * keys_.bytes, runs.verdict, "", ""});
  }

  void add(const Contender& contender, const std::function<void()>& queue) {
    const TimedRuns runs = time_on_device(
        plan(), [&](unsigned) { queue(); },
        [&](unsigned) {
          const DeviceCheck found = check();
          return found.descents == 0 && found.sum == expected_.sum;
        });
    results_.push_back(
        {contender.name, runs.times, count_, 2 * keys_.bytes, runs.verdict, contender.rival, ""});
  }

  void add_cub() {
    Key* const in = device_.as<Key>();
    Key* const out = in + count_;
    const CubScratch scratch{out + count_, device_bytes_ - 2 * keys_.bytes};
    for_each_cub_and_count(count_, [&]<class Cub, class Count>(Cub, Count) {
      add(cub_contender<Cub, Count>("radix sort between copies"), [this, in, out, scratch] {
        keys_.copy_in(in);
        cub_radix_sort<Cub, Count>(in, out, count_, scratch);
        keys_.copy_out(out);
      });
    });
  }

  void add_ours() {
    add("gsort", [this] {
      gpu::sort_host_array<Key>({.input = keys_.input,
                                 .output = keys_.output,
                                 .count = count_,
                                 .scratch = {device_.as<void>(), device_bytes_}});
    });
  }

  [[nodiscard]] const std::vector<Result>& results() const { return results_; }

 private:
  [[nodiscard]] RunPlan plan() const { return {request_.repeat, 1, keys_.output, keys_.bytes}; }
  [[nodiscard]] DeviceCheck check_of_input() const {
    keys_.copy_in(device_.as<Key>());
    return check_arrays(device_.as<Key>(), count_, count_, KeyMap<Key>());
  }
  [[nodiscard]] DeviceCheck check() const {
    return check_arrays(keys_.output, count_, count_, KeyMap<Key>());
  }

  const Request& request_;
  HostKeys<Key> keys_;
  DeviceMemory device_;
  std::size_t device_bytes_;
  std::uint64_t count_;
  DeviceCheck expected_;
  std::vector<Result> results_;
};

}  // namespace

void bench_host_arrays(const Request& request, Report& report) {
  for_each_input(
      request, {KeyType::kU32, KeyType::kU64}, {std::uint64_t{1} << 30},
      [&]<class Key>(Key, KeyType type, Distribution distribution, std::uint64_t elements) {
        HostBench<Key> bench(request, {{type, false, false}, distribution, request.seed, elements});
        bench.add_copies(report);
        bench.add_cub();
        bench.add_ours();
        report.add(group_of("sort in host memory of", type, distribution, elements),
                   bench.results());
      });
}

}  // namespace gsort::bench
