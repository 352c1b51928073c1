#include "plan/budget.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"

namespace gsort {
namespace {

// A sort of a few elements takes about 9 MiB; the rest is for memory that the allocator keeps.
constexpr std::uint64_t kProgramBytes = 12 * kMiB;
constexpr std::uint64_t kMostProgramBytes = 16 * kMiB;

}  // namespace

void divide_memory(Machine& machine, unsigned processes) {
  machine.processes = processes;
  machine.memory_bytes /= processes;
  machine.available_bytes /= processes;
}

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

std::uint64_t names_bytes(std::uint64_t inputs, std::uint64_t name_bytes) {
  constexpr std::uint64_t kFew = kMiB;
  constexpr std::uint64_t kInputBytes = 1100;  // measured; a name is in memory three times
  const std::uint64_t bytes = inputs * kInputBytes + 3 * name_bytes;
  return bytes <= kFew ? 0 : bytes;
}

std::uint64_t buffer_budget(std::uint64_t host_budget_bytes, std::uint64_t least_program_bytes) {
  const std::uint64_t usual =
      std::clamp<std::uint64_t>(host_budget_bytes / 8, kProgramBytes, kMostProgramBytes);
  const std::uint64_t left = std::max(usual, least_program_bytes);
  const std::uint64_t beside = host_budget_bytes - std::min(host_budget_bytes, left);
  if (least_program_bytes > 0) return beside;
  // A smaller size counts as kLeastPromise, but buffers take no more than the size.
  const std::uint64_t of_least =
      std::min(kLeastPromise - kProgramBytes, host_budget_bytes - host_budget_bytes / 8);
  return std::max(beside, of_least);
}

}  // namespace gsort
