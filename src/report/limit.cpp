#include "report/limit.hpp"

#include <algorithm>

namespace gsort {

std::optional<double> limit_seconds(const Outcome& outcome, const std::optional<Limits>& limits) {
  if (!limits) return std::nullopt;
  auto in = static_cast<double>(outcome.loaded_bytes);
  auto out = static_cast<double>(outcome.spilled_bytes);
  double phases = 0;
  for (const PhaseRecord& phase : outcome.phases) {
    const auto read = static_cast<double>(phase.stages[Stage::kRead].bytes);
    const auto written = static_cast<double>(phase.stages[Stage::kWrite].bytes);
    phases += std::max(read / limits->disk_read_bytes_per_second,
                       written / limits->disk_write_bytes_per_second);
    in += read;
    out += written;
  }
  const double seconds = std::max({phases, in / limits->disk_read_bytes_per_second,
                                   out / limits->disk_write_bytes_per_second,
                                   (in + out) / limits->memory_bytes_per_second});
  if (seconds <= 0) return std::nullopt;
  return seconds;
}

}  // namespace gsort
