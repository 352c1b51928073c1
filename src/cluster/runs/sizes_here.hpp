// What the plan of this process says to the parts that carry it out: the engine, the store of its
// runs, and the exchange.
#pragma once

#include <cstdint>

#include "cluster/exchange_plan.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "io/runs/run_store.hpp"
#include "options/options.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

[[nodiscard]] EngineShape engine_shape(const Plan& plan);

[[nodiscard]] io::RunStoreOptions run_store_options(const Plan& plan, const Options& options);

// The question for the plan of an exchange of `ranks` processes, with the memory that runs and the
// fences of `elements` elements leave.
[[nodiscard]] ExchangeQuestion exchange_question(const Plan& plan, std::uint64_t elements,
                                                 unsigned ranks);

// Throws: Error(kUsage) when there is not enough memory.
[[nodiscard]] ExchangePlan require_exchange(const ExchangeQuestion& question);

}  // namespace gsort::cluster
