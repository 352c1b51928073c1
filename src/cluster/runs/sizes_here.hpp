// What the plan of this process says to the store of its runs, and to the exchange.
#pragma once

#include <cstdint>
#include <optional>

#include "cluster/exchange_plan.hpp"
#include "io/runs/run_store.hpp"
#include "io/runs/tier_group.hpp"
#include "options/options.hpp"
#include "plan/plan.hpp"

namespace gsort::cluster {

// Of runs of which some may stay in the memory of GPUs. Requires: `tier`, which is made for these,
// outlives the store. Throws: Error(kDevice).
[[nodiscard]] io::RunStoreOptions store_options(const Plan& plan, const Options& options,
                                                std::optional<io::TierGroup>& tier);

// The question for the plan of an exchange of `ranks` processes, with the memory that runs and the
// fences of `elements` elements leave.
[[nodiscard]] ExchangeQuestion exchange_question(const Plan& plan, std::uint64_t elements,
                                                 unsigned ranks);

// Throws: Error(kUsage) when there is not enough memory.
[[nodiscard]] ExchangePlan require_exchange(const ExchangeQuestion& question);

}  // namespace gsort::cluster
