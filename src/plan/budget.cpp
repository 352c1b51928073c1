#include "plan/budget.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"

namespace gsort {

std::uint64_t host_budget(const Resources& resources, const Machine& machine) {
  if (!resources.buffer_size) return machine.available_bytes / 2;
  const std::uint64_t wanted = parse_size(*resources.buffer_size, machine.memory_bytes, "-S");
  if (wanted > machine.memory_bytes) {
    throw Error(ErrorKind::kUsage, fmt::format("-S {}", *resources.buffer_size),
                machine.processes == 1
                    ? fmt::format("exceeds the {} of memory of this machine or container",
                                  format_bytes(machine.memory_bytes))
                    : fmt::format("exceeds the {} of memory that this machine or container has for "
                                  "each of {} processes",
                                  format_bytes(machine.memory_bytes), machine.processes))
        .hint(machine.processes == 1
                  ? fmt::format("{} are available now", format_bytes(machine.available_bytes))
                  : fmt::format("give less memory, or run fewer processes here; {} are available "
                                "to each now",
                                format_bytes(machine.available_bytes)));
  }
  return wanted;
}

std::uint64_t device_budget(const Resources& resources, const GpuFacts& gpu) {
  if (!resources.gpu_memory) return gpu.free_bytes / 10 * 9;
  const std::uint64_t wanted = parse_size(*resources.gpu_memory, gpu.total_bytes, "--gpu-memory");
  if (wanted > gpu.free_bytes) {
    throw Error(ErrorKind::kUsage, fmt::format("--gpu-memory {}", *resources.gpu_memory),
                fmt::format("exceeds the {} that are free on device {} ({})",
                            format_bytes(gpu.free_bytes), gpu.device, gpu.name))
        .hint("give less memory, or choose other devices with --device");
  }
  return wanted;
}

std::uint64_t buffer_budget(std::uint64_t host_budget_bytes, std::uint64_t least_program_bytes) {
  const std::uint64_t eighth = std::min<std::uint64_t>(host_budget_bytes / 8, 16 * kMiB);
  const std::uint64_t left = std::max(eighth, least_program_bytes);
  return host_budget_bytes - std::min(host_budget_bytes, left);
}

}  // namespace gsort
