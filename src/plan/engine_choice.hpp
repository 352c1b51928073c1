// Chooses the engine of a sort by predicted times.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "options/job.hpp"
#include "plan/machine.hpp"
#include "plan/rates.hpp"

namespace gsort {

// The seconds that each engine would take if it never waited for disks.
[[nodiscard]] double predicted_cpu_seconds(const Rates& rates, std::uint64_t bytes, unsigned cores);
[[nodiscard]] double predicted_cuda_seconds(const Rates& rates, std::uint64_t bytes);

// Whether to look for GPUs before planning: this costs a fraction of a second, too much for a small
// sort. It depends on the machine's cores, input and rates.
[[nodiscard]] bool wants_gpu(const Job& job, const Machine& machine);

// Throws: Error(kDevice) for --engine cuda if machine.gpus is empty, even if the sort would not use
// a GPU.
void require_asked_engine(const Resources& resources, const Machine& machine);

// Keys of one and two bytes, which no engine sorts.
[[nodiscard]] bool is_counted(const Job& job);

// The seconds that the first `devices` GPUs take to start, and to move the input and its spilled
// part: faster links and more memory save time, each further start costs some. Requires: the size
// of the input is known, and there are that many GPUs.
[[nodiscard]] double predicted_seconds_on(const Job& job, const Machine& machine,
                                          std::size_t devices);

// The GPUs that a sort uses: those of --device, or with auto the first ones, in the number that is
// predicted to be fastest. More devices keep more runs in memory and copy to and from the host at
// the same time, but each takes time to start. auto leaves out GPUs with less than half of the free
// memory of the first: all devices get equal shares, which must fit the smallest.
[[nodiscard]] std::span<const GpuFacts> choose_devices(const Job& job, const Machine& machine);

// The rate of each device's link; 0 if unknown.
template <class Device>
[[nodiscard]] std::vector<double> links_of(std::span<const Device> devices) {
  std::vector<double> links;
  for (const Device& device : devices) links.push_back(device.link_bytes_per_second.value_or(0));
  return links;
}

// Whether links are about equally fast, so that devices can hold equal shares of a chunk and none
// waits for another.
[[nodiscard]] bool are_alike(std::span<const double> links);

struct EngineDecision {
  bool cuda = false;
  std::string reason;
};

// Throws: as require_asked_engine().
[[nodiscard]] EngineDecision choose_engine(const Job& job, const Machine& machine);

}  // namespace gsort
