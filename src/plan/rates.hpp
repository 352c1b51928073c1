// The rates at which a machine has sorted, for the choice of an engine, and the limits at which it
// can move bytes, for reports only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/units.hpp"

namespace gsort {

// Measured without gsort, in bytes a second.
struct Limits {
  double disk_read_bytes_per_second;
  double disk_write_bytes_per_second;
  double memory_bytes_per_second;  // read or written, by all cores

  friend bool operator==(const Limits&, const Limits&) = default;
};

// Rates of this machine; until they are known, those of measured machines.
struct Rates {
  // Input that fits in memory over the time of all cores, for each core. Zen 4, u32, the slower
  // width.
  static constexpr double kUsualCore = 0.45e9;
  // Chunks to the device, sorted and back, if nothing else delays them. Over a slow bus.
  static constexpr double kUsualGpu = 10e9;
  // The time until CUDA has started in a new process. H200.
  static constexpr double kUsualCudaStart = 0.3;
  // Added by each further device until it sorts, including its lanes and pinned memory. Two H100s.
  static constexpr double kFurtherCudaStart = 0.5;
  // The fraction of a link's speed that chunks reach, each way. PCI Express 5.
  static constexpr double kLinkShare = 0.8;
  // A disk, both ways, and a core that reads from the page cache.
  static constexpr double kUsualDiskRead = 3e9;
  static constexpr double kUsualDiskWrite = 1.9e9;
  static constexpr double kUsualCachedRead = 5e9;

  std::optional<double> core_bytes_per_second;
  std::optional<double> gpu_bytes_per_second;
  std::optional<double> cuda_start_seconds;
  std::optional<Limits> limits = std::nullopt;

  friend bool operator==(const Rates&, const Rates&) = default;
};

// "1.24 GiB/s": in the units of all sizes that the user reads. Requires: at least 0.
[[nodiscard]] inline std::string rate_words(double bytes_per_second) {
  constexpr double kMost = 0x1p63;
  return format_bytes(static_cast<std::uint64_t>(std::min(bytes_per_second, kMost))) + "/s";
}

}  // namespace gsort
