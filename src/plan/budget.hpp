// The sizes in bytes of -S and --gpu-memory on a machine.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "options/request.hpp"
#include "plan/machine.hpp"

namespace gsort {

// Divides the memory of the machine equally among the processes on it.
void divide_memory(Machine& machine, unsigned processes);

// Host memory for the whole program: -S, else half of the available memory. Throws: Error(kUsage)
// if the size is more than the machine has.
[[nodiscard]] std::uint64_t host_budget(const Resources& resources, const Machine& machine);

// Device memory: --gpu-memory, else 90% of the free memory. Throws: Error(kUsage) if the size is
// more than the free memory.
[[nodiscard]] std::uint64_t device_budget(const Resources& resources, const GpuFacts& gpu);

// The smallest limit for the whole program, even if -S is less (--help names it).
inline constexpr std::uint64_t kLeastPromise = 24 * kMiB;

// The memory for many inputs, whose names have `name_bytes` in all; a few count as part of the
// program.
[[nodiscard]] std::uint64_t names_bytes(std::uint64_t inputs, std::uint64_t name_bytes);

// The part of the host budget for buffers. The program itself, its stacks and small structures
// take an eighth, 12 to 16 MiB, but no less than `least_program_bytes`.
[[nodiscard]] std::uint64_t buffer_budget(std::uint64_t host_budget_bytes,
                                          std::uint64_t least_program_bytes = 0);

}  // namespace gsort
