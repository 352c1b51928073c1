// What -S and --gpu-memory come to on a machine.
#pragma once

#include <cstdint>

#include "options/options.hpp"
#include "plan/machine.hpp"

namespace gsort {

// Host memory for the whole program: -S, else half of what is available.
// Throws: Error(kUsage) for a size that is more than the machine has.
[[nodiscard]] std::uint64_t host_budget(const Resources& resources, const Machine& machine);

// Device memory: --gpu-memory, else 90% of what is free.
// Throws: Error(kUsage) for a size that is more than the device has free.
[[nodiscard]] std::uint64_t device_budget(const Resources& resources, const GpuFacts& gpu);

// What of the host budget is left for buffers: the program itself, its stacks and small structures
// take an eighth, at most 16 MiB. A process of gsort-mpi leaves 6 MiB at least: with MPI, it takes
// 20 MiB, and promises to take no more than 16 MiB beside a small budget.
[[nodiscard]] std::uint64_t buffer_budget(std::uint64_t host_budget_bytes,
                                          bool forms_share = false);

}  // namespace gsort
