#include "plan/learn_rates.hpp"

#include <algorithm>

namespace gsort {
namespace {

constexpr double kBetter = 1.05;

void take_if_higher(std::optional<double>& rate, double seen) {
  if (seen > 0 && (!rate || seen > *rate * kBetter)) rate = seen;
}

// Whether the time of the cores is that of a plain sort: keys that were read, sorted and written.
bool is_plain_on_cpu(const Plan& plan) {
  return plan.engine == EngineKind::kCpu && plan.is<OneChunk>() && !plan.job.element.records &&
         !plan.job.unique && !plan.job.top && plan.job.output_form.is_plain();
}

double core_seconds_of(const Outcome& outcome) {
  double seconds = 0;
  for (const PhaseRecord& phase : outcome.phases) {
    if (phase.phase != Phase::kSync) seconds += phase.cpu_seconds;
  }
  return seconds;
}

}  // namespace

Rates learned_from(const Outcome& outcome, const Plan& plan,
                   std::optional<double> cuda_start_seconds, Rates rates) {
  if (outcome.bytes < kLeastBytesToLearnFrom || !outcome.lost_devices.empty()) return rates;
  if (cuda_start_seconds && *cuda_start_seconds > 0 &&
      (!rates.cuda_start_seconds || *cuda_start_seconds * kBetter < *rates.cuda_start_seconds)) {
    rates.cuda_start_seconds = cuda_start_seconds;
  }
  const double core_seconds = core_seconds_of(outcome);
  if (is_plain_on_cpu(plan) && core_seconds > 0) {
    take_if_higher(rates.core_bytes_per_second, static_cast<double>(outcome.bytes) / core_seconds);
  }
  if (plan.engine == EngineKind::kCuda) {
    for (const PhaseRecord& phase : outcome.phases) {
      if (phase.phase == Phase::kRead || phase.phase == Phase::kWrite) {
        const auto devices = static_cast<double>(std::max<std::size_t>(plan.devices.size(), 1));
        take_if_higher(rates.gpu_bytes_per_second, phase.best_rates[Stage::kCopyOut] / devices);
      }
    }
  }
  return rates;
}

}  // namespace gsort
