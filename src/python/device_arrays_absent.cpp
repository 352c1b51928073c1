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

void argsort_on_device(const DeviceKeys& /*keys*/, std::uintptr_t /*indices*/,
                       std::uintptr_t /*stream*/) {
  refuse();
}

}  // namespace gsort::python
