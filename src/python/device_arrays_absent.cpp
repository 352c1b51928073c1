// A package without CUDA.
#include "base/error.hpp"
#include "python/device_arrays.hpp"

namespace gsort::python {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::kDevice, "sorting in device memory", "this gsort was built without CUDA")
      .hint("copy the array to the host, or build with -DGSORT_CUDA=ON");
}

}  // namespace

void sort_on_device(const DeviceKeys& /*keys*/, std::uintptr_t /*output*/,
                    std::uintptr_t /*stream*/) {
  refuse();
}

void argsort_on_device(const DeviceKeys& /*keys*/, const DeviceWords& /*indices*/,
                       std::uintptr_t /*stream*/) {
  refuse();
}

void sort_pairs_on_device(const DeviceKeys& /*keys*/, std::uintptr_t /*keys_output*/,
                          const DeviceWords& /*values*/, std::uintptr_t /*values_output*/,
                          std::uintptr_t /*stream*/) {
  refuse();
}

DeviceMemory::DeviceMemory(std::size_t /*bytes*/, std::uintptr_t /*neighbour*/) {
  refuse();
}
DeviceMemory::~DeviceMemory() = default;

void order_streams(std::uintptr_t /*neighbour*/, std::uintptr_t /*earlier*/,
                   std::uintptr_t /*later*/) {
  refuse();
}

}  // namespace gsort::python
