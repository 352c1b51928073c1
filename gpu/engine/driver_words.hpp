// Explains why CUDA calls NVIDIA's driver insufficient: the driver is too old, or there is none.
// CUDA's error does not distinguish the two.
#pragma once

#include <string>

namespace gsort::gpu {

// "13.0" of 13000, as CUDA counts versions.
[[nodiscard]] inline std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// `driver_version` is the newest CUDA that the driver knows, 0 where there is no driver;
// `runtime_version` the one that this program needs.
[[nodiscard]] inline std::string insufficient_driver_words(int driver_version,
                                                           int runtime_version) {
  if (driver_version == 0) return "no NVIDIA driver was found";
  return "the NVIDIA driver is too old: it knows CUDA " + cuda_version_text(driver_version) +
         ", this program needs " + cuda_version_text(runtime_version);
}

}  // namespace gsort::gpu
