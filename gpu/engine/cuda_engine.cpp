// The CUDA engine and the look for devices; see gpu.hpp.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"
#include "engine/array_footprint.hpp"
#include "engine/footprint.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/engine/cuda_lanes.hpp"
#include "gpu/engine/device_tier.hpp"
#include "gpu/engine/driver_words.hpp"
#include "gpu/engine/gpu.hpp"

namespace gsort::gpu {
namespace {

// The oldest architecture the kernels are built for: compute capability 8.0.
constexpr int kLeastCapability = 8;

class CudaEngine final : public Engine {
 public:
  CudaEngine(const EngineShape& shape, int ordinal, ByteSpan memory)
      : shape_(shape), ordinal_(ordinal), memory_(memory), pinned_(memory, shape.threads) {}

  [[nodiscard]] std::string_view name() const override { return "cuda"; }

  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    use_device(ordinal_);
    const std::uint64_t need = CudaFootprint::chunk_host_bytes(shape_.threads, shape_.block_bytes);
    std::vector<std::unique_ptr<ChunkLane>> lanes;
    for (unsigned lane = 0; lane < shape_.chunk_lanes; ++lane) {
      lanes.push_back(std::make_unique<CudaChunkLane>(shape_, ordinal_, stretch(lane, need)));
    }
    return lanes;
  }

  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned count, std::uint64_t part_elements) override {
    use_device(ordinal_);
    const std::uint64_t need =
        CudaFootprint::part_host_bytes(part_elements * element_bytes_of(shape_));
    std::vector<std::unique_ptr<MergeLane>> lanes;
    for (unsigned lane = 0; lane < count; ++lane) {
      lanes.push_back(
          std::make_unique<CudaMergeLane>(shape_, ordinal_, part_elements, stretch(lane, need)));
    }
    return lanes;
  }

  [[nodiscard]] std::vector<std::unique_ptr<ArrayLane>> make_array_lanes(
      unsigned count, const ArrayShape& arrays) override {
    use_device(ordinal_);
    const std::uint64_t need =
        CudaArrayFootprint::host_bytes(arrays.block_elements * element_bytes_of(shape_));
    std::vector<std::unique_ptr<ArrayLane>> lanes;
    for (unsigned lane = 0; lane < count; ++lane) {
      lanes.push_back(
          std::make_unique<CudaArrayLane>(shape_, ordinal_, arrays, stretch(lane, need)));
    }
    return lanes;
  }

 private:
  ByteSpan stretch(unsigned lane, std::uint64_t bytes) const {
    if ((std::uint64_t{lane} + 1) * bytes > memory_.size()) {
      throw Error(ErrorKind::kUsage, "making a lane of the CUDA engine",
                  "the memory given is too small for the shape");
    }
    return memory_.subspan(lane * bytes, bytes);
  }

  EngineShape shape_;
  int ordinal_;
  ByteSpan memory_;
  PinnedMemory pinned_;
};

// Everything the plan must know of one device; it becomes current and starts up.
Device look_at_device(int ordinal) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, ordinal), CudaCall::kQuery,
             "asking for the device's properties");
  Device device;
  device.ordinal = ordinal;
  device.name = properties.name;
  if (properties.major < kLeastCapability) {
    throw Error(ErrorKind::kDevice, fmt::format("device {} ({})", ordinal, device.name),
                fmt::format("compute capability {}.{} is older than 8.0", properties.major,
                            properties.minor));
  }
  use_device(ordinal);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), CudaCall::kQuery,
             "asking for the device's memory");
  device.free_bytes = free_bytes;
  device.total_bytes = total_bytes;
  return device;
}

// `result` is what counting the devices ended with.
std::string why_there_are_none(cudaError_t result) {
  if (result == cudaSuccess || result == cudaErrorNoDevice) return "no NVIDIA GPU was found";
  if (result != cudaErrorInsufficientDriver) {
    return fmt::format("no usable NVIDIA GPU: {}", cudaGetErrorString(result));
  }
  int driver_version = 0;
  int runtime_version = 0;
  static_cast<void>(cudaDriverGetVersion(&driver_version));
  static_cast<void>(cudaRuntimeGetVersion(&runtime_version));
  return insufficient_driver_words(driver_version, runtime_version);
}

}  // namespace

bool may_be_there() {
  std::error_code none;
  return std::filesystem::exists("/dev/nvidiactl", none) ||
         std::filesystem::exists("/dev/dxg", none);  // in Windows' subsystem for Linux
}

Devices find_devices(const std::vector<unsigned>& wanted) {
  Devices found;
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess || count == 0) {
    found.absent_reason = why_there_are_none(result);
    static_cast<void>(cudaGetLastError());
    return found;
  }
  std::vector<int> ordinals;
  for (const unsigned ordinal : wanted) {
    if (ordinal >= static_cast<unsigned>(count)) {
      throw Error(ErrorKind::kUsage, fmt::format("--device {}", ordinal), "there is no such device")
          .hint(fmt::format("devices 0 to {} are there", count - 1));
    }
    ordinals.push_back(static_cast<int>(ordinal));
  }
  for (int ordinal = 0; wanted.empty() && ordinal < count; ++ordinal) ordinals.push_back(ordinal);
  for (const int ordinal : ordinals) {
    try {
      found.devices.push_back(look_at_device(ordinal));
    } catch (const Error& unusable) {
      if (!found.absent_reason.empty()) found.absent_reason += "; ";
      found.absent_reason += unusable.operation() + ": " + unusable.reason();
    }
  }
  // The engine's choice is the device with the most room; an order that was asked for stays.
  if (wanted.empty()) {
    std::ranges::stable_sort(found.devices, std::ranges::greater{}, &Device::free_bytes);
  }
  return found;
}

std::unique_ptr<Engine> make_cuda_engine(const EngineShape& shape, int ordinal, ByteSpan memory) {
  use_device(ordinal);
  if (!shape.records && bytes_of(shape.format.type) < 4) {
    throw Error(ErrorKind::kUsage, "making the CUDA engine",
                "keys of 1 and 2 bytes are counted, not sorted");
  }
  return std::make_unique<CudaEngine>(shape, ordinal, memory);
}

std::unique_ptr<TierMemory> make_device_tier(int ordinal, std::uint64_t bytes) {
  use_device(ordinal);
  return std::make_unique<DeviceTier>(ordinal, bytes);
}

}  // namespace gsort::gpu
