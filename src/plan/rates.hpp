// How fast a machine has been seen to sort: what an engine is chosen by.
#pragma once

#include <optional>

namespace gsort {

// What has not been seen is taken from machines that were measured.
struct Rates {
  // Input that fits in memory over the time of all cores, a core. Zen 4, u32, the slower width.
  static constexpr double kUsualCore = 0.45e9;
  // Chunks to the device, sorted and back, where nothing else holds them up. Over a slow bus.
  static constexpr double kUsualGpu = 10e9;
  // Until CUDA has started in a new process. H200.
  static constexpr double kUsualCudaStart = 0.3;

  std::optional<double> core_bytes_per_second;
  std::optional<double> gpu_bytes_per_second;
  std::optional<double> cuda_start_seconds;

  friend bool operator==(const Rates&, const Rates&) = default;
};

}  // namespace gsort
