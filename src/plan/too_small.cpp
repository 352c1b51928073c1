#include "plan/too_small.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/units.hpp"
#include "plan/budget.hpp"
#include "plan/engine_choice.hpp"

namespace gsort {
namespace {

using Size = std::optional<std::string> Resources::*;

std::string mebibytes(std::uint64_t count) {
  return fmt::format("{}M", count);
}

// A size that is too small, and one that the machine has.
struct Range {
  std::uint64_t given_bytes;
  std::uint64_t most_bytes;
};

// The least value of an option in the range that has a plan; none if even the greatest has none. It
// is found by doubling, then refined to a sixteenth. Only values that were tried are named, since
// sizes do not grow steadily with the memory.
std::optional<std::string> least(Resources resources, Size size, const Range& range,
                                 const HasPlan& has_plan) {
  const auto works = [&](std::uint64_t count) {
    resources.*size = mebibytes(count);
    return count * kMiB > range.given_bytes && has_plan(resources);
  };
  const std::uint64_t most = range.most_bytes / kMiB;
  std::uint64_t low = 0;
  std::uint64_t high = std::min<std::uint64_t>(most, 1);
  while (high < most && !works(high)) {
    low = high;
    high = std::min(2 * high, most);
  }
  if (high == 0 || (high == most && !works(high))) return std::nullopt;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (middle == low) break;
    (works(middle) ? high : low) = middle;
  }
  return mebibytes(high);
}

// "-S 8 MiB: is too small for this sort", and the hint.
Error refusal(const char* option, std::uint64_t given_bytes, const std::string& hint) {
  return Error(ErrorKind::kUsage, fmt::format("{} {}", option, format_bytes(given_bytes)),
               "is too small for this sort")
      .hint(hint);
}

std::string words_for(const std::string& least_size) {
  return "use at least " + least_size;
}

Error too_little_host_memory(const Resources& resources, const Machine& machine,
                             const HasPlan& has_plan) {
  const std::uint64_t given = host_budget(resources, machine);
  const auto host =
      least(resources, &Resources::buffer_size, {given, machine.memory_bytes}, has_plan);
  if (host) return refusal("-S", given, words_for(*host));
  const std::string all = format_bytes(machine.memory_bytes);
  return refusal(
      "-S", given,
      machine.processes == 1
          ? fmt::format("all {} of this machine are not enough; use one with more memory", all)
          : fmt::format("all {} that this machine has for each of {} processes are not enough; run "
                        "fewer processes on it",
                        all, machine.processes));
}

// The devices without which there is no plan: the requested ones, or one of the others.
std::span<const GpuFacts> needed_devices(const Job& job, const Machine& machine) {
  const std::span<const GpuFacts> all = choose_devices(job, machine);
  return job.resources.devices.is_auto() ? all.first(1) : all;
}

}  // namespace

Error too_small(const Job& job, const Machine& machine, const HasPlan& has_plan) {
  const Resources& asked = job.resources;
  if (!choose_engine(job, machine).cuda) return too_little_host_memory(asked, machine, has_plan);
  Resources roomy = asked;
  roomy.buffer_size = mebibytes(machine.memory_bytes / kMiB);
  if (has_plan(roomy)) return too_little_host_memory(asked, machine, has_plan);
  const std::span<const GpuFacts> gpus = needed_devices(job, machine);
  const GpuFacts& gpu = *std::ranges::min_element(gpus, {}, &GpuFacts::free_bytes);
  const std::uint64_t given = device_budget(asked, gpu);
  const auto refuse = [&](const std::string& hint) {
    Error error = refusal("--gpu-memory", given, hint);
    if (gpus.size() == 1) return error;
    return std::move(error).path(fmt::format("on device {} ({})", gpu.device, gpu.name));
  };
  const auto device = least(roomy, &Resources::gpu_memory, {given, gpu.free_bytes}, has_plan);
  if (!device) {
    return refuse(gpus.size() == 1
                      ? "all memory of the device is not enough; use --engine=cpu"
                      : "all memory of this device is not enough; leave it out of --device, or use "
                        "--engine=cpu");
  }
  Resources named = asked;
  named.gpu_memory = device;
  if (has_plan(named)) return refuse(words_for(*device));
  const auto host = least(named, &Resources::buffer_size,
                          {host_budget(asked, machine), machine.memory_bytes}, has_plan);
  return refuse(
      fmt::format("{}, with -S {}", words_for(*device), host.value_or(*roomy.buffer_size)));
}

}  // namespace gsort
