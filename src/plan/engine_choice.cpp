#include "plan/engine_choice.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/quoted.hpp"
#include "base/units.hpp"
#include "element/element.hpp"
#include "engine/engine_sizes.hpp"
#include "plan/budget.hpp"

namespace gsort {
namespace {

// Measured on 16 cores of an Intel Xeon with an H200.

// The rate of a core until it is measured: u32, the slower width. Many cores share the memory, so
// each is slower than one of a few (Rates::kUsualCore).
constexpr double kUsualCoreBesideGpu = 0.16e9;
// The time that CUDA adds to a process, divided by the time in which it starts: the process also
// takes longer to end.
constexpr double kCudaOverStart = 1.7;
// The rate at which all cores allocate and fill the pages of an output. The CPU engine sorts
// meanwhile.
constexpr double kOutputPages = 24e9;

bool is_of_record_arrays(const Job& job) {
  return job.element.records && job.array_elements > 0;
}

bool is_of_wide_arrays(const Job& job) {
  return job.array_elements > 0 && job.element.bytes() > cuda_sizes().most_array_key_bytes();
}

// The facts that decide the number of devices.
struct DeviceFacts {
  std::uint64_t bytes = 0;                  // of the input
  std::vector<std::uint64_t> device_bytes;  // of the devices, the most first
  std::uint64_t host_bytes = 0;             // for runs in host memory
  std::vector<bool> holds;                  // by number of devices, from 1: whether they hold it as
                                            // one chunk
  bool keeps_runs = true;                   // in memory
  bool is_cached = false;                   // the input
  double read_rate = 0;                     // of the input, bytes a second
  std::vector<double> link_rates;           // of the devices, bytes a second
  double spill_seconds = 0;                 // for each byte that is spilled and read again
};

bool has_budget(const Resources& resources, const GpuFacts& gpu) {
  return !resources.gpu_memory ||
         parse_size(*resources.gpu_memory, gpu.total_bytes, "--gpu-memory") <= gpu.free_bytes;
}

// Learned rates are those of the fastest link: the rates of others are in proportion to their
// links.
std::vector<double> link_rates(const Machine& machine) {
  double fastest = 0;
  for (const GpuFacts& gpu : machine.gpus) {
    fastest = std::max(fastest, gpu.link_bytes_per_second.value_or(0));
  }
  const double usual = fastest > 0 ? fastest * Rates::kLinkShare : Rates::kUsualGpu;
  const double best = machine.rates.gpu_bytes_per_second.value_or(usual);
  std::vector<double> rates;
  for (const GpuFacts& gpu : machine.gpus) {
    const auto& link = gpu.link_bytes_per_second;
    rates.push_back(link ? best * (*link / fastest) : best);
  }
  return rates;
}

// Whether the first `count` devices hold the input as one chunk, as make_plan() decides.
bool is_held_by(unsigned count, const DeviceFacts& facts, const Job& job, const Machine& machine,
                const ElementSize& element) {
  const std::uint64_t elements = facts.bytes / element.bytes;
  const std::uint64_t least = facts.device_bytes[count - 1];
  if (count == 1) {
    return facts.bytes <= least && cuda_sizes().chunk_lane(element, elements, 1, 0).device <= least;
  }
  if (job.resumable || job.forms_share) return false;
  if (!are_alike(std::span(facts.link_rates).first(count))) return false;
  const std::uint64_t host_bytes = host_budget(job.resources, machine);
  const unsigned cores = job.resources.parallel.value_or(machine.cores);
  const auto block = cuda_sizes().block_bytes(element, host_bytes, count, cores);
  const auto share = cuda_sizes().share_device_bytes(element, elements, block, count);
  const unsigned readers = cuda_sizes().most_readers(cores);
  const std::uint64_t arena = count * cuda_sizes().chunk_lane(element, 0, readers, block).arena;
  return share && *share <= least && arena <= host_bytes;
}

DeviceFacts device_facts(const Job& job, const Machine& machine) {
  const Rates& rates = machine.rates;
  const auto& limits = rates.limits;
  const double disk_read = limits ? limits->disk_read_bytes_per_second : Rates::kUsualDiskRead;
  const double disk_write = limits ? limits->disk_write_bytes_per_second : Rates::kUsualDiskWrite;
  const unsigned cores = job.resources.parallel.value_or(machine.cores);
  const auto& records = job.element.records;
  const ElementSize element{job.element.bytes(), records.has_value(),
                            records && is_wide_key(*records)};
  DeviceFacts facts;
  facts.bytes = *machine.input_bytes;
  for (const GpuFacts& gpu : machine.gpus) {
    // The first one is used in any case, and too little memory there is an Error.
    if (!facts.device_bytes.empty() && !has_budget(job.resources, gpu)) break;
    facts.device_bytes.push_back(device_budget(job.resources, gpu));
  }
  facts.host_bytes = cuda_sizes().host_tier_bytes(host_budget(job.resources, machine), facts.bytes);
  facts.keeps_runs = !job.resumable;
  facts.is_cached = machine.input_is_cached;
  facts.read_rate = machine.input_is_cached ? Rates::kUsualCachedRead * cores : disk_read;
  facts.link_rates = link_rates(machine);
  for (unsigned count = 1; count <= facts.device_bytes.size(); ++count) {
    facts.holds.push_back(is_held_by(count, facts, job, machine, element));
  }
  facts.spill_seconds = 1 / disk_read + 1 / disk_write;
  return facts;
}

// The room for runs on the first devices: memory beyond that of the last one is for runs.
double tier_bytes(const DeviceFacts& facts, std::size_t devices) {
  const std::uint64_t least = facts.device_bytes[devices - 1];
  const std::uint64_t each = cuda_sizes().device_tier_bytes(least, div_up(facts.bytes, devices));
  double sum = 0;
  for (std::size_t i = 0; i < devices; ++i) {
    sum +=
        static_cast<double>(each + facts.device_bytes[i] - std::min(least, facts.device_bytes[i]));
  }
  return sum;
}

// An input that fits one device is sorted by one, even if there are others. If the devices cannot
// hold it together, runs are copied a second time. This counts only if the input is cached:
// otherwise the disk takes longer.
double predicted_seconds(const DeviceFacts& facts, std::size_t devices) {
  const auto bytes = static_cast<double>(facts.bytes);
  const double start = Rates::kFurtherCudaStart * static_cast<double>(devices);
  if (facts.holds.front()) return start;
  const auto end = facts.link_rates.begin() + static_cast<std::ptrdiff_t>(devices);
  const double links = std::accumulate(facts.link_rates.begin(), end, 0.0);
  const bool is_held = facts.holds[devices - 1];
  const double again = is_held || !facts.is_cached ? 0 : bytes / links;
  const double copy = bytes / std::min(facts.read_rate, links) + again;
  if (is_held || !facts.keeps_runs) return start + copy;
  constexpr double kFull = 0.85;  // of the buffers that stay in memory
  const double kept = (tier_bytes(facts, devices) + static_cast<double>(facts.host_bytes)) * kFull;
  return start + copy + std::max(bytes - kept, 0.0) * facts.spill_seconds;
}

}  // namespace

bool are_alike(std::span<const double> links) {
  constexpr double kAlike = 0.8;
  return !links.empty() && std::ranges::min(links) >= std::ranges::max(links) * kAlike;
}

double predicted_cpu_seconds(const Rates& rates, std::uint64_t bytes, unsigned cores) {
  const double core = rates.core_bytes_per_second.value_or(kUsualCoreBesideGpu);
  return static_cast<double>(bytes) / (core * cores);
}

double predicted_cuda_seconds(const Rates& rates, std::uint64_t bytes) {
  const double start = rates.cuda_start_seconds.value_or(Rates::kUsualCudaStart);
  const double gpu = rates.gpu_bytes_per_second.value_or(Rates::kUsualGpu);
  return start * kCudaOverStart +
         static_cast<double>(bytes) * (1 / gpu + 1 / std::min(gpu, kOutputPages));
}

double predicted_seconds_on(const Job& job, const Machine& machine, std::size_t devices) {
  return predicted_seconds(device_facts(job, machine), devices);
}

bool wants_gpu(const Job& job, const Machine& machine) {
  if (job.resources.engine == EngineChoice::kCpu) return false;
  if (job.resources.engine == EngineChoice::kCuda) return true;
  if (job.merged_inputs > 0) return false;
  if (is_counted(job) || is_of_record_arrays(job) || is_of_wide_arrays(job)) return false;
  if (!machine.input_bytes) return false;
  const unsigned cores = job.resources.parallel.value_or(machine.cores);
  return predicted_cuda_seconds(machine.rates, *machine.input_bytes) <
         predicted_cpu_seconds(machine.rates, *machine.input_bytes, cores);
}

void require_asked_engine(const Resources& resources, const Machine& machine) {
  if (resources.engine != EngineChoice::kCuda || !machine.gpus.empty()) return;
  throw Error(ErrorKind::kDevice, "--engine cuda", machine.no_gpu_reason)
      .hint("--engine auto uses the CPU if there is no GPU");
}

bool is_counted(const Job& job) {
  return !job.element.records && job.element.bytes() < 4;
}

std::span<const GpuFacts> choose_devices(const Job& job, const Machine& machine) {
  const std::span<const GpuFacts> all(machine.gpus);
  const bool shares_pay = job.merged_inputs == 0 && machine.input_bytes.has_value();
  if (!job.resources.devices.is_auto() || all.empty()) return all;
  if (!shares_pay) return all.first(1);
  const DeviceFacts facts = device_facts(job, machine);
  constexpr std::uint64_t kLeastPart = 4;  // of the best: devices with less are left to other
                                           // programs
  std::size_t best = 1;
  for (std::size_t count = 2; count <= facts.device_bytes.size(); ++count) {
    if (all[count - 1].free_bytes < all.front().free_bytes / kLeastPart) break;
    if (predicted_seconds(facts, count) < predicted_seconds(facts, best)) best = count;
  }
  return all.first(best);
}

EngineDecision choose_engine(const Job& job, const Machine& machine) {
  require_asked_engine(job.resources, machine);
  if (job.compares_inputs()) {
    return {false, "sorted inputs are compared on the CPU"};
  }
  if (is_counted(job)) return {false, "keys of one and two bytes are counted"};
  if (is_of_record_arrays(job)) return {false, "arrays of records are sorted on the CPU"};
  if (is_of_wide_arrays(job)) return {false, "arrays of keys of 16 bytes are sorted on the CPU"};
  if (job.resources.engine == EngineChoice::kCpu) return {false, "as asked"};
  if (job.resources.engine == EngineChoice::kCuda) return {true, "as asked"};
  if (job.merged_inputs > 0) return {false, "merging takes less time than starting a GPU"};
  const unsigned cores = job.resources.parallel.value_or(machine.cores);
  if (!machine.input_bytes)
    return {false, "the number of keys is not known, so the sort starts on the CPU"};
  if (!wants_gpu(job, machine)) {
    return {false, fmt::format("sorting {} on {} takes less time than starting a GPU",
                               format_bytes(*machine.input_bytes), counted(cores, "core"))};
  }
  if (machine.gpus.empty()) return {false, machine.no_gpu_reason};
  return {true, fmt::format("predicted {:.1f} s of GPU work, {:.1f} s on {}",
                            predicted_cuda_seconds(machine.rates, *machine.input_bytes),
                            predicted_cpu_seconds(machine.rates, *machine.input_bytes, cores),
                            counted(cores, "core"))};
}

}  // namespace gsort
