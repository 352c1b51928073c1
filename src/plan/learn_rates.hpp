// The machine's rates, learned from a completed sort.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/outcome.hpp"
#include "plan/plan.hpp"
#include "plan/rates.hpp"

namespace gsort {

// Smaller sorts are not used: starting and ending are a large part of their time.
inline constexpr std::uint64_t kLeastBytesToLearnFrom = std::uint64_t{1} << 30;

// `rates` with those that the sort measured: a rate that was not known, or one that is better by
// more than a twentieth, since other programs can only make a machine look slower.
// `cuda_start_seconds`: the time for finding GPUs, if there are any.
[[nodiscard]] Rates learned_from(const Outcome& outcome, const Plan& plan,
                                 std::optional<double> cuda_start_seconds, Rates rates);

}  // namespace gsort
