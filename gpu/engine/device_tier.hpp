// DeviceTier: device memory as a place for runs. Several copies may be under way at once, each on a
// stream of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/tier_memory.hpp"
#include "gpu/cuda/cuda_resources.hpp"

namespace gsort::gpu {

class DeviceTier final : public TierMemory {
 public:
  // Requires: the device is current.
  // Throws: Error(kResource) when the device has not so much; Error(kDevice).
  DeviceTier(int ordinal, std::uint64_t bytes);
  ~DeviceTier() override;

  void put(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void get(std::uint64_t offset, std::span<std::byte> bytes) override;

 private:
  struct Channel {
    std::mutex mutex;
    Stream stream;
  };

  void copy(void* to, const void* from, std::size_t bytes, const char* operation);

  int ordinal_;
  DeviceMemory memory_;
  std::vector<Channel> channels_;
  std::atomic<std::size_t> turn_{0};
};

}  // namespace gsort::gpu
