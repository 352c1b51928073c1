// gsort-bench ceilings, the card's part: the device copy, and the bus one way and both ways at
// once.
#include <chrono>

#include "bench/device_runs.hpp"
#include "bench/subcommands.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/cuda/cuda_resources.hpp"
#include "io/system/memory.hpp"

namespace gsort::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBusBytes = 512 * kMiB;

// Host memory and device memory that copies go between, one pair a direction.
struct BusBuffers {
  explicit BusBuffers(unsigned threads)
      : host(2 * kBusBytes, "the bus benchmark"),
        pinned(host.bytes(), threads),
        device(2 * kBusBytes) {}

  io::Arena host;
  gpu::PinnedMemory pinned;
  gpu::DeviceMemory device;
  gpu::Stream in;
  gpu::Stream out;
};

void copy(void* to, const void* from, cudaMemcpyKind kind, const gpu::Stream& stream) {
  gpu::check_cuda(cudaMemcpyAsync(to, from, kBusBytes, kind, stream.get()), gpu::CudaCall::kCopy,
                  "copying over the bus");
}

// Median time of copies in the directions asked for, by the host's clock.
Times time_bus(BusBuffers& buffers, bool to_device, bool to_host, int repeat) {
  std::vector<double> all_ms;
  for (int run = 0; run <= repeat; ++run) {
    const auto begin = Clock::now();
    if (to_device) {
      copy(buffers.device.as<std::byte>(), buffers.host.data(), cudaMemcpyHostToDevice, buffers.in);
    }
    if (to_host) {
      copy(buffers.host.data() + kBusBytes, buffers.device.as<std::byte>() + kBusBytes,
           cudaMemcpyDeviceToHost, buffers.out);
    }
    buffers.in.wait("copying to the GPU");
    buffers.out.wait("copying from the GPU");
    const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
    if (run > 0) all_ms.push_back(time.count());
  }
  return Times::of(std::move(all_ms));
}

Times time_pageable(const BusBuffers& buffers, int repeat) {
  std::vector<std::byte> pageable(kBusBytes, std::byte{1});
  std::vector<double> all_ms;
  for (int run = 0; run <= repeat; ++run) {
    const auto begin = Clock::now();
    gpu::check_cuda(
        cudaMemcpy(buffers.device.as<void>(), pageable.data(), kBusBytes, cudaMemcpyHostToDevice),
        gpu::CudaCall::kCopy, "copying pageable memory");
    const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
    if (run > 0) all_ms.push_back(time.count());
  }
  return Times::of(std::move(all_ms));
}

Result result_of(const std::string& name, const Times& times, std::uint64_t bytes) {
  Result result;
  result.contender = name;
  result.times = times;
  result.bytes = bytes;
  return result;
}

}  // namespace

void bench_device_ceilings(const Request& request, Report& report) {
  CopyRate(report).measure(kGiB);
  Times copy_times;
  copy_times.median_ms = 2.0 * static_cast<double>(kGiB) / report.copy_rate() * 1e3;
  BusBuffers buffers(request.threads);
  Group group;
  group.title = "ceilings of the GPU and its bus (both ways: the sum)";
  report.add(group, {result_of("device copy, read + written", copy_times, 2 * kGiB),
                     result_of("bus to the GPU, pinned",
                               time_bus(buffers, true, false, request.repeat), kBusBytes),
                     result_of("bus from the GPU, pinned",
                               time_bus(buffers, false, true, request.repeat), kBusBytes),
                     result_of("bus both ways at once, pinned",
                               time_bus(buffers, true, true, request.repeat), 2 * kBusBytes),
                     result_of("bus to the GPU, pageable", time_pageable(buffers, request.repeat),
                               kBusBytes)});
}

}  // namespace gsort::bench
