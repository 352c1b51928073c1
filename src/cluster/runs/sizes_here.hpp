// Sizes of the exchange, by the plan of this process.
#pragma once

#include <cstdint>

#include "cluster/exchange_plan.hpp"
#include "cluster/team.hpp"
#include "plan/machine.hpp"
#include "plan/make_plan.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

// The question for the plan of an exchange of `ranks` processes, with the memory that runs and the
// fences of `elements` elements leave.
[[nodiscard]] ExchangeQuestion exchange_question(const Plan& plan, std::uint64_t elements,
                                                 unsigned ranks);

// Together: the sizes for which all processes have room. Throws: Error(kResource) if there is not
// enough memory; as Team.
[[nodiscard]] ExchangePlan require_exchange(Team& team, const ExchangeQuestion& question);

// The elements that all processes together exchange.
struct PlannedExchange {
  unsigned ranks = 1;
  std::uint64_t elements = 0;       // of the whole output
  std::uint64_t more_elements = 0;  // that this process keeps in a further run
};

// The number of runs that a process plans, with those of earlier sorts.
[[nodiscard]] std::uint64_t planned_runs(const Plan& plan);

// Suits a plan if the exchange then has one, too, with as many runs in each process as in this one.
[[nodiscard]] SuitsPlan suits_exchange(const PlannedExchange& all);

// Together: checks before anything is read what require_exchange() checks when the runs are formed.
// Requires: `plan` is that of `machine`. Throws: Error(kResource) that names the least -S, or
// --gpu-memory, that is enough; as Team.
void require_planned_exchange(Team& team, const Plan& plan, const Machine& machine,
                              const PlannedExchange& all);

}  // namespace gsort::cluster
