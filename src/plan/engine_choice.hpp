// Which engine a sort should use, from predicted times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "options/options.hpp"
#include "plan/machine.hpp"

namespace gsort {

// Seconds each engine would keep the user waiting beyond reading and writing. The rates are
// measured ones: a core of the CPU engine sorts 0.45 GB/s (Zen 4, u32, the slower width); a CUDA
// context takes 0.3 s to start (H200); a chunk crosses the bus both ways at 20 GB/s even where the
// bus is slow.
[[nodiscard]] double predicted_cpu_seconds(std::uint64_t bytes, unsigned cores);
[[nodiscard]] double predicted_cuda_seconds(std::uint64_t bytes);

struct EngineDecision {
  bool cuda = false;
  std::string reason;
};

// Throws: Error(kDevice) for --engine cuda when machine.gpus is empty.
[[nodiscard]] EngineDecision choose_engine(const Options& options, const Machine& machine);

}  // namespace gsort
