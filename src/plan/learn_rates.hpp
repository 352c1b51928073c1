// The machine's rates, learned from a completed sort.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/outcome.hpp"
#include "plan/plan.hpp"
#include "plan/rates.hpp"

namespace gsort {

// Smaller sorts say little: starting and ending are much of them.
inline constexpr std::uint64_t kLeastBytesToLearnFrom = std::uint64_t{1} << 30;

// `rates` with what the sort shows: a rate that was not known, or one that is better by more than a
// twentieth, since other programs make a machine look slow and nothing makes it look fast.
// `cuda_start_seconds`: what looking for GPUs took, where some were found.
[[nodiscard]] Rates learned_from(const Outcome& outcome, const Plan& plan,
                                 std::optional<double> cuda_start_seconds, Rates rates);

}  // namespace gsort
