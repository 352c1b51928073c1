// See device_runs.hpp.
#include "bench/device_runs.hpp"

#include <algorithm>

#include "bench/cub.hpp"
#include "bench/subcommands.hpp"
#include "gpu/cuda/cuda_check.hpp"

namespace gsort::bench {

using gpu::check_cuda;
using gpu::CudaCall;

namespace {

constexpr int kPoison = 0xa5;

// Two events around some work.
class Stopwatch {
 public:
  Stopwatch() {
    check_cuda(cudaEventCreate(&begin_), CudaCall::kEvent, "making an event");
    check_cuda(cudaEventCreate(&end_), CudaCall::kEvent, "making an event");
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  [[nodiscard]] double measure_ms(const std::function<void()>& queue) const {
    check_cuda(cudaEventRecord(begin_), CudaCall::kEvent, "recording an event");
    queue();
    check_cuda(cudaEventRecord(end_), CudaCall::kEvent, "recording an event");
    check_cuda(cudaEventSynchronize(end_), CudaCall::kEvent, "waiting for a contender");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, begin_, end_), CudaCall::kEvent, "reading an event");
    return static_cast<double>(ms);
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

// A contender that takes this long is not timed again: some need a quarter of a minute for tiny
// arrays.
constexpr double kLongEnoughMs = 1000;

}  // namespace

TimedRuns time_on_device(const RunPlan& plan, const std::function<void(unsigned)>& queue,
                         const std::function<bool(unsigned)>& is_right) {
  const Stopwatch stopwatch;
  std::vector<double> all_ms;
  bool right = true;
  double spent_ms = 0;
  for (int run = 0; run <= plan.repeat; ++run) {
    const unsigned set = static_cast<unsigned>(run) % plan.sets;
    if (plan.output_bytes > 0) {
      check_cuda(cudaMemset(plan.output, kPoison, plan.output_bytes), CudaCall::kMemory,
                 "poisoning an output");
      check_cuda(cudaDeviceSynchronize(), CudaCall::kStream, "poisoning an output");
    }
    const double ms = stopwatch.measure_ms([&] { queue(set); });
    if (run > 0 || ms > kLongEnoughMs) all_ms.push_back(ms);
    spent_ms += ms;
    right = is_right(set) && right;
    if (!all_ms.empty() && spent_ms > kLongEnoughMs) break;
  }
  return {Times::of(std::move(all_ms)), right ? Verdict::kVerified : Verdict::kWrong};
}

void CopyRate::measure(std::uint64_t bytes) {
  bytes = std::max(bytes, kGiB);
  if (bytes == bytes_) return;
  bytes_ = bytes;
  const DeviceMemory from(bytes);
  const DeviceMemory to(bytes);
  check_cuda(cudaMemset(from.as<void>(), kPoison, bytes), CudaCall::kMemory, "filling");
  const double ms = static_cast<double>(median_ms(15, [&] {
    check_cuda(cudaMemcpyAsync(to.as<void>(), from.as<void>(), bytes, cudaMemcpyDeviceToDevice),
               CudaCall::kCopy, "copying on the GPU");
  }));
  report_.set_copy_rate(2.0 * static_cast<double>(bytes) / ms * 1e3);
}

unsigned input_sets(std::uint64_t bytes_of_one) {
  int l2_bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), CudaCall::kQuery,
             "asking for the size of the L2 cache");
  const std::uint64_t wanted = 4 * static_cast<std::uint64_t>(l2_bytes);
  const std::uint64_t sets = div_up(wanted, std::max<std::uint64_t>(bytes_of_one, 1));
  return static_cast<unsigned>(std::clamp<std::uint64_t>(sets, 2, 16));
}

template <class Key>
DeviceKeys<Key>::DeviceKeys(const std::vector<Key>& keys) : DeviceKeys(keys.size()) {
  check_cuda(cudaMemcpy(get(), keys.data(), bytes(), cudaMemcpyHostToDevice), CudaCall::kCopy,
             "copying an input to the GPU");
}

template <class Key>
std::vector<Key> DeviceKeys<Key>::values() const {
  std::vector<Key> keys(count_);
  check_cuda(cudaMemcpy(keys.data(), get(), bytes(), cudaMemcpyDeviceToHost), CudaCall::kCopy,
             "copying an output from the GPU");
  return keys;
}

template class DeviceKeys<std::uint32_t>;
template class DeviceKeys<std::uint64_t>;

std::string device_name(std::string& reason) {
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess || count == 0) {
    reason = found != cudaSuccess ? std::string("no usable GPU: ") + cudaGetErrorString(found)
                                  : "no GPU in this machine";
    return "";
  }
  cudaDeviceProp facts{};
  check_cuda(cudaGetDeviceProperties(&facts, 0), CudaCall::kQuery, "asking for the GPU's name");
  return facts.name;
}

std::vector<std::uint64_t> slices_of(std::uint64_t count, std::uint64_t slices) {
  std::vector<std::uint64_t> counts(slices, count / slices);
  counts.back() += count % slices;
  return counts;
}

template <class Key>
void sort_slices(Key* keys, const std::vector<std::uint64_t>& slice_counts, Key* room,
                 void* scratch, std::size_t scratch_bytes) {
  std::uint64_t begin = 0;
  for (const std::uint64_t count : slice_counts) {
    cub_radix_sort<ToolkitCub, std::uint64_t>(keys + begin, room + begin, count,
                                              {scratch, scratch_bytes});
    begin += count;
  }
  gpu::check_cuda(cudaMemcpy(keys, room, begin * sizeof(Key), cudaMemcpyDeviceToDevice),
                  gpu::CudaCall::kCopy, "making sorted slices");
}

template void sort_slices(std::uint32_t*, const std::vector<std::uint64_t>&, std::uint32_t*, void*,
                          std::size_t);
template void sort_slices(std::uint64_t*, const std::vector<std::uint64_t>&, std::uint64_t*, void*,
                          std::size_t);

}  // namespace gsort::bench
