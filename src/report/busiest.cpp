#include "report/busiest.hpp"

#include <algorithm>
#include <array>

namespace gsort {
namespace {

constexpr double kLeastSeconds = 1;
// A phase that takes a larger part of the time matters: its rates must be known.
constexpr double kLongShare = 0.1;

struct Mover {
  Stage stage;
  Resource resource;
};
constexpr std::array kMovers = {
    Mover{Stage::kRead, Resource::kInput},  Mover{Stage::kSpill, Resource::kRunsOut},
    Mover{Stage::kLoad, Resource::kRunsIn}, Mover{Stage::kWrite, Resource::kOutput},
    Mover{Stage::kCopyOut, Resource::kBus},
};
constexpr std::size_t kResources = static_cast<std::size_t>(Resource::kCores) + 1;

struct PhaseNeed {
  double seconds = 0;
  Resource resource = Resource::kCores;
  bool is_known = true;  // whether all its stages showed a rate
};

double seconds_of(const PhaseRecord& phase) {
  return static_cast<double>(phase.end_ns - phase.begin_ns) * 1e-9;
}

ByStage<double> best_rates_of(const Outcome& outcome) {
  ByStage<double> best{};
  for (const PhaseRecord& phase : outcome.phases) {
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      best[stage] = std::max(best[stage], phase.best_rates[stage]);
    }
  }
  return best;
}

PhaseNeed busiest_of_phase(const PhaseRecord& phase, const ByStage<double>& best_rates,
                           unsigned cores) {
  const double taken = seconds_of(phase);
  if (phase.phase == Phase::kSync) return {taken, Resource::kOutput, true};
  PhaseNeed need{phase.cpu_seconds / cores, Resource::kCores, true};
  for (const Mover& mover : kMovers) {
    const std::uint64_t bytes = phase.stages[mover.stage].bytes;
    if (bytes == 0) continue;
    if (best_rates[mover.stage] <= 0) {
      need.is_known = false;
      continue;
    }
    const double needed = static_cast<double>(bytes) / best_rates[mover.stage];
    if (needed > need.seconds) need = {needed, mover.resource, need.is_known};
  }
  need.seconds = std::min(need.seconds, taken);
  return need;
}

}  // namespace

std::string_view words_for(Resource resource) {
  constexpr std::array<std::string_view, kResources> kWords = {
      "reading", "writing runs", "reading runs", "writing", "the GPU", "the cores"};
  return kWords[static_cast<std::size_t>(resource)];
}

std::optional<BusiestStages> busiest_of(const Outcome& outcome, unsigned cores) {
  if (outcome.seconds < kLeastSeconds) return std::nullopt;
  const ByStage<double> best_rates = best_rates_of(outcome);
  std::array<double, kResources> shares{};
  BusiestStages busiest;
  for (const PhaseRecord& phase : outcome.phases) {
    const PhaseNeed part = busiest_of_phase(phase, best_rates, cores);
    if (!part.is_known && seconds_of(phase) > kLongShare * outcome.seconds) {
      return std::nullopt;
    }
    busiest.seconds += part.seconds;
    shares.at(static_cast<std::size_t>(part.resource)) += part.seconds;
  }
  if (2 * busiest.seconds >= outcome.seconds) {
    busiest.stage = static_cast<Resource>(std::ranges::max_element(shares) - shares.begin());
  }
  return busiest;
}

}  // namespace gsort
