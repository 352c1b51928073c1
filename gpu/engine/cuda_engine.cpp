// The CUDA engine and the look for devices; see gpu.hpp.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/units.hpp"
#include "engine/array_footprint.hpp"
#include "engine/footprint.hpp"
#include "gpu/cuda/cuda_check.hpp"
#include "gpu/engine/cuda_lanes.hpp"
#include "gpu/engine/device_tier.hpp"
#include "gpu/engine/driver_words.hpp"
#include "gpu/engine/gpu.hpp"
#include "gpu/engine/shared_chunk_lane.hpp"

namespace gsort::gpu {
namespace {

// The oldest architecture the kernels are built for: compute capability 8.0.
constexpr int kLeastCapability = 8;

constexpr std::uint64_t kHugePageBytes = 2 * kMiB;  // which a border would divide into small ones

class CudaEngine final : public Engine {
 public:
  CudaEngine(const EngineShape& shape, std::vector<int> ordinals, ByteSpan memory,
             const MemoryPlacer& place)
      : shape_(shape),
        ordinals_(std::move(ordinals)),
        memory_(memory),
        pinned_(placed(place), shape.threads) {}
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;
  ~CudaEngine() override { return_to_device(ordinals_.front()); }

  [[nodiscard]] std::string_view name() const override { return "cuda"; }

  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> make_chunk_lanes() override {
    const std::uint64_t need =
        CudaFootprint::chunk_host_bytes(CudaFootprint::readers(shape_.threads), shape_.block_bytes);
    if (shape_.shares_chunk) {
      require_memory_for(ordinals_.size(), need);
      return shared_lane(need);
    }
    return make_lanes<ChunkLane>(shape_.chunk_lanes, need, [&](int ordinal, ByteSpan pinned) {
      use_device(ordinal);
      return std::make_unique<CudaChunkLane>(shape_, ordinal, pinned);
    });
  }

  [[nodiscard]] std::vector<std::unique_ptr<MergeLane>> make_merge_lanes(
      unsigned count, std::uint64_t part_elements) override {
    const std::uint64_t need =
        CudaFootprint::part_host_bytes(part_elements * element_bytes_of(shape_));
    return make_lanes<MergeLane>(count, need, [&](int ordinal, ByteSpan pinned) {
      return std::make_unique<CudaMergeLane>(shape_, ordinal, part_elements, pinned);
    });
  }

  [[nodiscard]] std::vector<std::unique_ptr<ArrayLane>> make_array_lanes(
      unsigned count, const ArrayShape& arrays) override {
    const std::uint64_t need =
        CudaArrayFootprint::host_bytes(arrays.block_elements * element_bytes_of(shape_));
    return make_lanes<ArrayLane>(count, need, [&](int ordinal, ByteSpan pinned) {
      use_device(ordinal);
      return std::make_unique<CudaArrayLane>(shape_, ordinal, arrays, pinned);
    });
  }

 private:
  // Neighbouring lanes are on different devices, so that chunks and parts go round.
  template <class Lane, class Make>
  std::vector<std::unique_ptr<Lane>> make_lanes(unsigned count, std::uint64_t need,
                                                const Make& make) const {
    std::vector<std::unique_ptr<Lane>> lanes;
    require_memory_for(count, need);
    for (unsigned lane = 0; lane < count; ++lane) {
      const std::size_t device = lane % ordinals_.size();
      const std::uint64_t place = lanes_before(device, count) + lane / ordinals_.size();
      lanes.push_back(make(ordinals_[device], memory_.subspan(place * need, need)));
    }
    return lanes;
  }

  void require_memory_for(std::uint64_t lanes, std::uint64_t need) const {
    if (lanes * need <= memory_.size()) return;
    throw Error(ErrorKind::kUsage, "making a lane of the CUDA engine",
                "the memory given is too small for the shape");
  }

  [[nodiscard]] std::vector<std::unique_ptr<ChunkLane>> shared_lane(std::uint64_t need) const {
    std::vector<ByteSpan> pinned;
    for (std::size_t device = 0; device < ordinals_.size(); ++device) {
      pinned.push_back(memory_.subspan(device * need, need));
    }
    std::vector<std::unique_ptr<ChunkLane>> lanes;
    lanes.push_back(make_shared_chunk_lane(shape_, ordinals_, pinned));
    return lanes;
  }

  // Counts the lanes of the devices before it, whose stretches of the memory are in front of its
  // own: so each device keeps to one region, whatever lanes there are.
  [[nodiscard]] std::uint64_t lanes_before(std::size_t device, unsigned count) const {
    return device * (count / ordinals_.size()) + std::min(device, count % ordinals_.size());
  }

  // The memory, each region near its device.
  ByteSpan placed(const MemoryPlacer& place) const {
    if (!place) return memory_;
    const unsigned lanes = std::max(shape_.chunk_lanes, 1U);
    const auto border = [&](std::size_t device) {
      const std::uint64_t share = memory_.size() / lanes * lanes_before(device, lanes);
      return device == ordinals_.size() ? memory_.size() : round_down(share, kHugePageBytes);
    };
    for (std::size_t device = 0; device < ordinals_.size(); ++device) {
      const std::uint64_t begin = border(device);
      place(ordinals_[device], memory_.subspan(begin, border(device + 1) - begin));
    }
    return memory_;
  }

  EngineShape shape_;
  std::vector<int> ordinals_;
  ByteSpan memory_;
  PinnedMemory pinned_;
};

// Describes a device before it is started.
Device device_at(int ordinal) {
  cudaDeviceProp properties{};
  check_cuda_result(
      try_cuda(CudaCall::kQuery, [&] { return cudaGetDeviceProperties(&properties, ordinal); }),
      "asking for the device's properties", ordinal);
  Device device;
  device.ordinal = ordinal;
  device.name = properties.name;
  device.free_bytes = device.total_bytes = properties.totalGlobalMem;
  remember_device_name(ordinal, device.name);
  if (properties.major < kLeastCapability) {
    throw Error(ErrorKind::kDevice, fmt::format("device {} ({})", ordinal, device.name),
                fmt::format("compute capability {}.{} is older than 8.0", properties.major,
                            properties.minor));
  }
  return device;
}

// Everything the plan must know of one device; it becomes current and starts up.
Device start_device(int ordinal) {
  Device device = device_at(ordinal);
  use_device(ordinal);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), CudaCall::kQuery,
             "asking for the device's memory");
  device.free_bytes = free_bytes;
  device.total_bytes = total_bytes;
  return device;
}

// Why there may be more devices than CUDA lists; empty if all are listed.
std::string hidden_words() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible ? fmt::format("; CUDA_VISIBLE_DEVICES='{}' may hide others", visible) : "";
}

// `result` is what counting the devices ended with.
std::string why_there_are_none(cudaError_t result) {
  if (result == cudaSuccess || result == cudaErrorNoDevice) {
    return "no NVIDIA GPU was found" + hidden_words();
  }
  if (result != cudaErrorInsufficientDriver) {
    return fmt::format("no usable NVIDIA GPU: {}", cudaGetErrorString(result));
  }
  int driver_version = 0;
  int runtime_version = 0;
  static_cast<void>(cudaDriverGetVersion(&driver_version));
  static_cast<void>(cudaRuntimeGetVersion(&runtime_version));
  return insufficient_driver_words(driver_version, runtime_version);
}

// 0, with the reason in `found`, where none can be used.
int count_devices(Devices& found) {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess && count > 0) return count;
  found.absent_reason = why_there_are_none(result);
  static_cast<void>(cudaGetLastError());
  return 0;
}

void require_there(const std::vector<unsigned>& wanted, int count) {
  for (const unsigned ordinal : wanted) {
    if (ordinal < static_cast<unsigned>(count)) continue;
    throw Error(ErrorKind::kUsage, fmt::format("--device {}", ordinal), "there is no such device")
        .hint((count == 1 ? std::string("device 0 is the only one")
                          : fmt::format("devices 0 to {} are there", count - 1)) +
              hidden_words());
  }
}

// A device, or why it cannot be used.
using Looked = std::variant<Device, Error>;

Looked look_at(int ordinal, Device (*look)(int ordinal)) {
  try {
    return look(ordinal);
  } catch (const Error& unusable) {
    return unusable;
  }
}

// A start is mostly a wait for the driver.
std::vector<Looked> start_at_once(const std::vector<int>& ordinals) {
  std::vector<Looked> looked(ordinals.size());
  run_workers(static_cast<unsigned>(ordinals.size()),
              [&](unsigned i) { looked[i] = look_at(ordinals[i], start_device); });
  return looked;
}

// A device that cannot be used adds a reason, as long as others may be usable.
void add_usable(Devices& found, const Looked& looked) {
  if (const Device* const device = std::get_if<Device>(&looked)) {
    return found.devices.push_back(*device);
  }
  const Error& unusable = std::get<Error>(looked);
  if (!found.absent_reason.empty()) found.absent_reason += "; ";
  found.absent_reason += unusable.operation() + ": " + unusable.reason();
}

const Device& device_or_throw(const Looked& looked) {
  if (const Error* const unusable = std::get_if<Error>(&looked)) throw Error(*unusable);
  return std::get<Device>(looked);
}

// If a card is named several times, each of its devices has a part of the memory.
void share_memory(std::vector<Device>& devices) {
  std::map<int, std::uint64_t> times;
  for (const Device& device : devices) ++times[device.ordinal];
  for (Device& device : devices) {
    device.free_bytes /= times[device.ordinal];
    device.total_bytes /= times[device.ordinal];
  }
}

}  // namespace

bool may_be_there() {
  std::error_code none;
  return std::filesystem::exists("/dev/nvidiactl", none) ||
         std::filesystem::exists("/dev/dxg", none);  // in Windows' subsystem for Linux
}

Devices list_devices() {
  Devices found;
  for (int ordinal = 0, count = count_devices(found); ordinal < count; ++ordinal) {
    add_usable(found, look_at(ordinal, device_at));
  }
  std::ranges::stable_sort(found.devices, std::ranges::greater{}, &Device::total_bytes);
  return found;
}

Devices start_devices(const std::vector<int>& ordinals) {
  Devices found;
  for (const Looked& looked : start_at_once(ordinals)) add_usable(found, looked);
  return found;
}

Devices find_devices(const std::vector<unsigned>& wanted) {
  Devices found;
  const int count = count_devices(found);
  if (count == 0) return found;
  require_there(wanted, count);
  std::vector<int> ordinals(wanted.begin(), wanted.end());
  if (wanted.size() == 1) return start_devices(ordinals);
  if (wanted.empty()) {
    ordinals.resize(static_cast<std::size_t>(count));
    std::iota(ordinals.begin(), ordinals.end(), 0);
    found = start_devices(ordinals);
    std::ranges::stable_sort(found.devices, std::ranges::greater{}, &Device::free_bytes);
    return found;
  }
  for (const Looked& looked : start_at_once(ordinals)) {
    found.devices.push_back(device_or_throw(looked));
  }
  share_memory(found.devices);
  return found;
}

std::string pci_address_of(int ordinal) {
  constexpr int kMostLetters = 32;
  std::array<char, kMostLetters> address{};
  const cudaError_t result = cudaDeviceGetPCIBusId(address.data(), kMostLetters, ordinal);
  if (result == cudaSuccess) return address.data();
  static_cast<void>(cudaGetLastError());
  return "";
}

std::unique_ptr<Engine> make_cuda_engine(const EngineShape& shape, const std::vector<int>& ordinals,
                                         ByteSpan memory, const MemoryPlacer& place) {
  use_device(ordinals.front());
  if (!shape.records && bytes_of(shape.format.type) < 4) {
    throw Error(ErrorKind::kUsage, "making the CUDA engine",
                "keys of 1 and 2 bytes are counted, not sorted");
  }
  return std::make_unique<CudaEngine>(shape, ordinals, memory, place);
}

std::unique_ptr<TierMemory> make_device_tier(int ordinal, std::uint64_t bytes) {
  use_device(ordinal);
  return std::make_unique<DeviceTier>(ordinal, bytes);
}

}  // namespace gsort::gpu
