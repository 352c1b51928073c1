// The CUDA engine, for other rooms. A build without CUDA finds no devices, and says why.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/tier_memory.hpp"
#include "engine/engine.hpp"

namespace gsort::gpu {

// A card that is named several times is several devices, each with a share of its memory.
struct Device {
  int ordinal = 0;
  std::string name;
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};

struct Devices {
  std::vector<Device> devices;  // usable ones
  std::string absent_reason;    // why there are none, or why some are not usable
};

// Whether there may be a GPU of NVIDIA's, by what its driver puts into /dev; takes microseconds.
[[nodiscard]] bool may_be_there();

// The GPUs that there are, those with the most memory first. Starts none of them: of their memory
// everything counts as free.
[[nodiscard]] Devices list_devices();

// Starts CUDA on these GPUs and on no other, on all at the same time, and looks at them. Gives
// the reason for each that cannot be used. Starting takes 0.2 to 0.4 s in a new process.
[[nodiscard]] Devices start_devices(const std::vector<int>& ordinals);

// Starts the GPUs in `wanted`, in their order, or all, those with the most free memory first.
// Throws: Error(kUsage) when a wanted device does not exist; Error(kDevice) when one of several
// wanted devices cannot be used.
[[nodiscard]] Devices find_devices(const std::vector<unsigned>& wanted);

// Where a device is on the PCI bus, "0000:17:00.0"; empty if CUDA does not say.
[[nodiscard]] std::string pci_address_of(int ordinal);

// Makes memory that was never touched come from near the device.
using MemoryPlacer = std::function<void(int ordinal, ByteSpan memory)>;

// The CUDA engine on the devices `ordinals`, over which its lanes are spread in turn. `memory` is
// pinned while the engine lives; it must hold CudaFootprint::chunk_host_bytes for each chunk lane,
// part_host_bytes for each merge lane, CudaArrayFootprint::host_bytes for each array lane (of keys;
// arrays of records are the CPU's). Calls `place`, if there is one, with what of it each device
// will use, before it touches the memory. Requires: there is an ordinal. Throws: Error(kDevice)
// when a device cannot be used; Error(kResource) when memory cannot be had.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(const EngineShape& shape,
                                                       const std::vector<int>& ordinals,
                                                       ByteSpan memory,
                                                       const MemoryPlacer& place = nullptr);

// Memory of device `ordinal` for runs, beside the engine's.
// Throws: Error(kResource) when the device has not so much; Error(kDevice).
[[nodiscard]] std::unique_ptr<TierMemory> make_device_tier(int ordinal, std::uint64_t bytes);

}  // namespace gsort::gpu
