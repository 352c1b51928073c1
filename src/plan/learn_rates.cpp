#include "plan/learn_rates.hpp"

#include <algorithm>

namespace gsort {
namespace {

constexpr double kBetter = 1.05;

void take_if_higher(std::optional<double>& rate, double seen) {
  if (seen > 0 && (!rate || seen > *rate * kBetter)) rate = seen;
}

// Whether the cores only read, sorted and wrote keys.
bool is_plain_on_cpu(const Plan& plan) {
  return plan.engine == EngineKind::kCpu && plan.is<OneChunk>() && !plan.job.element.records &&
         !plan.job.is_distinct() && !plan.job.top && plan.job.output_form.is_plain();
}

double core_seconds_of(const Outcome& outcome) {
  double seconds = 0;
  for (const PhaseRecord& phase : outcome.phases) {
    if (phase.phase != Phase::kSync) seconds += phase.cpu_seconds;
  }
  return seconds;
}

// The number of devices with the fastest link that would carry as much as those of the plan; an
// unknown link counts as the fastest.
double fastest_devices(const Plan& plan) {
  double fastest = 0;
  for (const DevicePlan& device : plan.devices) {
    fastest = std::max(fastest, device.link_bytes_per_second.value_or(0));
  }
  double sum = 0;
  for (const DevicePlan& device : plan.devices) {
    sum += device.link_bytes_per_second ? *device.link_bytes_per_second / fastest : 1;
  }
  return std::max(sum, 1.0);
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
        take_if_higher(rates.gpu_bytes_per_second,
                       phase.best_rates[Stage::kCopyOut] / fastest_devices(plan));
      }
    }
  }
  return rates;
}

}  // namespace gsort
