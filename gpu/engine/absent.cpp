// A build without CUDA has these functions in place of the engine.
#include "base/error.hpp"
#include "gpu/engine/gpu.hpp"

namespace gsort::gpu {
namespace {

constexpr const char* kReason = "this gsort was built without CUDA";
constexpr const char* kWayOut = "build it where a CUDA toolkit is, or with tools/quickstart --cuda";

}  // namespace

bool may_be_there() {
  return false;
}

Devices list_devices() {
  return {{}, kReason};
}

Devices start_devices(const std::vector<int>& /*ordinals*/) {
  return {{}, kReason};
}

Devices find_devices(const std::vector<unsigned>& /*wanted*/) {
  return {{}, kReason};
}

std::string pci_address_of(int /*ordinal*/) {
  return "";
}

std::unique_ptr<Engine> make_cuda_engine(const EngineShape& /*shape*/,
                                         const std::vector<int>& /*ordinals*/, ByteSpan /*memory*/,
                                         const MemoryPlacer& /*place*/) {
  throw Error(ErrorKind::kDevice, "making the CUDA engine", kReason).hint(kWayOut);
}

std::unique_ptr<TierMemory> make_device_tier(int /*ordinal*/, std::uint64_t /*bytes*/) {
  throw Error(ErrorKind::kDevice, "reserving device memory", kReason).hint(kWayOut);
}

}  // namespace gsort::gpu
