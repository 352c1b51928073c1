#include "plan/engine_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"

namespace gsort {
namespace {

bool is_of_record_arrays(const Job& job) {
  return job.element.records && job.array_elements > 0;
}

}  // namespace

double predicted_cpu_seconds(const Rates& rates, std::uint64_t bytes, unsigned cores) {
  const double core = rates.core_bytes_per_second.value_or(Rates::kUsualCore);
  return static_cast<double>(bytes) / (core * cores);
}

double predicted_cuda_seconds(const Rates& rates, std::uint64_t bytes) {
  return rates.cuda_start_seconds.value_or(Rates::kUsualCudaStart) +
         static_cast<double>(bytes) / rates.gpu_bytes_per_second.value_or(Rates::kUsualGpu);
}

bool wants_gpu(const Job& job, const Machine& machine) {
  if (job.resources.engine == EngineChoice::kCpu) return false;
  if (job.resources.engine == EngineChoice::kCuda) return true;
  if (is_counted(job) || job.merged_inputs > 0 || is_of_record_arrays(job)) return false;
  if (!machine.input_bytes) return false;
  const unsigned cores = job.resources.parallel.value_or(machine.cores);
  return predicted_cuda_seconds(machine.rates, *machine.input_bytes) <
         predicted_cpu_seconds(machine.rates, *machine.input_bytes, cores);
}

void require_asked_engine(const Resources& resources, const Machine& machine) {
  if (resources.engine != EngineChoice::kCuda || !machine.gpus.empty()) return;
  throw Error(ErrorKind::kDevice, "--engine cuda", machine.no_gpu_reason)
      .hint("--engine auto takes the CPU where there is no GPU");
}

bool is_counted(const Job& job) {
  return !job.element.records && job.element.bytes() < 4;
}

std::span<const GpuFacts> devices_of(const Machine& machine) {
  return std::span(machine.gpus).first(std::min<std::size_t>(machine.gpus.size(), 1));
}

EngineDecision choose_engine(const Job& job, const Machine& machine) {
  require_asked_engine(job.resources, machine);
  if (job.set_operation != SetOperation::kNone) {
    return {false, "sorted inputs are compared on the CPU"};
  }
  if (is_counted(job)) return {false, "keys of one and two bytes are counted"};
  if (is_of_record_arrays(job)) return {false, "arrays of records are sorted on the CPU"};
  if (job.resources.engine == EngineChoice::kCpu) return {false, "as asked"};
  if (job.resources.engine == EngineChoice::kCuda) return {true, "as asked"};
  if (job.merged_inputs > 0) return {false, "merging takes less time than starting a GPU"};
  const unsigned cores = job.resources.parallel.value_or(machine.cores);
  if (!machine.input_bytes)
    return {false, "a sort starts on the CPU where the number of keys is not known"};
  if (!wants_gpu(job, machine)) {
    return {false, fmt::format("{} are sorted faster by {} cores than a GPU starts",
                               format_bytes(*machine.input_bytes), cores)};
  }
  if (machine.gpus.empty()) return {false, machine.no_gpu_reason};
  return {true,
          fmt::format("predicted {:.1f} s of GPU work, {:.1f} s on {} cores",
                      predicted_cuda_seconds(machine.rates, *machine.input_bytes),
                      predicted_cpu_seconds(machine.rates, *machine.input_bytes, cores), cores)};
}

}  // namespace gsort
