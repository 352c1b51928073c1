#include "gpu/engine/device_tier.hpp"

#include "gpu/cuda/cuda_check.hpp"

namespace gsort::gpu {
namespace {

// As many copies at once as keep the bus busy, also where the driver must copy what is not pinned.
constexpr std::size_t kChannels = 8;

}  // namespace

DeviceTier::DeviceTier(int ordinal, std::uint64_t bytes)
    : ordinal_(ordinal), memory_(bytes), channels_(kChannels) {}

DeviceTier::~DeviceTier() {
  return_to_device(ordinal_);
}

void DeviceTier::put(std::uint64_t offset, std::span<const std::byte> bytes) {
  copy(memory_.as<std::byte>() + offset, bytes.data(), bytes.size(),
       "copying a run to the device's memory");
}

void DeviceTier::get(std::uint64_t offset, std::span<std::byte> bytes) {
  copy(bytes.data(), memory_.as<std::byte>() + offset, bytes.size(),
       "copying a run from the device's memory");
}

void DeviceTier::copy(void* to, const void* from, std::size_t bytes, const char* operation) {
  use_device(ordinal_);
  Channel& channel = channels_[turn_.fetch_add(1, std::memory_order_relaxed) % kChannels];
  const std::scoped_lock lock(channel.mutex);
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, channel.stream.get()),
             CudaCall::kCopy, operation);
  channel.stream.wait(operation);
}

}  // namespace gsort::gpu
