// Invented measurements of phases, and invented statistics.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/meter.hpp"
#include "plan/outcome.hpp"

namespace gsort::test {

[[nodiscard]] inline PhaseRecord phase_of(Phase phase, double begin_seconds, double end_seconds) {
  PhaseRecord record;
  record.phase = phase;
  record.begin_ns = static_cast<std::uint64_t>(begin_seconds * 1e9);
  record.end_ns = static_cast<std::uint64_t>(end_seconds * 1e9);
  return record;
}

// The stage moved `bytes` in the phase, at `rate` bytes a second at best; 0: unknown.
inline void moved(PhaseRecord& phase, Stage stage, std::uint64_t bytes, double rate) {
  phase.stages[stage] = {1'000'000, 0, bytes, 100, bytes};
  phase.best_rates[stage] = rate;
}

// Gives the statistics, in the order of the table, the numbers `first`, `first` + 1, ..., so that a
// test finds statistics that are mixed up.
inline void set_each(Statistics& statistics, std::uint64_t first) {
  for_each_statistic([&](const StatisticRow&, auto member) {
    statistics.*member = std::remove_reference_t<decltype(statistics.*member)>(first++);
  });
}

}  // namespace gsort::test
