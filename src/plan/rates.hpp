// How fast a machine has been seen to sort: what an engine is chosen by. And how fast it can move
// bytes at most, which is for reports alone.
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

// Rates of this machine; until it has shown them, those of machines that were measured.
struct Rates {
  // Input that fits in memory over the time of all cores, a core. Zen 4, u32, the slower width.
  static constexpr double kUsualCore = 0.45e9;
  // Chunks to the device, sorted and back, where nothing else holds them up. Over a slow bus.
  static constexpr double kUsualGpu = 10e9;
  // Until CUDA has started in a new process. H200.
  static constexpr double kUsualCudaStart = 0.3;
  // Added by each further device until it sorts, its lanes and pinned memory included. Two H100s.
  static constexpr double kFurtherCudaStart = 0.5;
  // The share of a link's speed that chunks reach, each way. PCI Express 5.
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
