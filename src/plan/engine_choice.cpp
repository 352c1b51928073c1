#include "plan/engine_choice.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/units.hpp"
#include "plan/plan.hpp"

namespace gsort {
namespace {

// Keys that no engine sorts on a GPU.
bool is_counted(const Options& options) {
  return !options.records && bytes_of(options.key.type) < 4;
}

bool is_of_record_arrays(const Options& options) {
  return options.records && options.batch_elements;
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

bool wants_gpu(const Options& options, const Machine& machine) {
  if (options.engine == EngineChoice::kCpu) return false;
  if (options.engine == EngineChoice::kCuda) return true;
  if (is_counted(options) || options.merge || is_of_record_arrays(options)) return false;
  if (!machine.input_bytes) return false;
  const unsigned cores = options.parallel.value_or(machine.cores);
  return predicted_cuda_seconds(machine.rates, *machine.input_bytes) <
         predicted_cpu_seconds(machine.rates, *machine.input_bytes, cores);
}

void require_asked_engine(const Options& options, const Machine& machine) {
  if (options.engine != EngineChoice::kCuda || !machine.gpus.empty()) return;
  throw Error(ErrorKind::kDevice, "--engine cuda", machine.no_gpu_reason)
      .hint("--engine auto takes the CPU where there is no GPU");
}

EngineDecision choose_engine(const Options& options, const Machine& machine) {
  require_asked_engine(options, machine);
  if (is_counted(options)) return {false, "keys of one and two bytes are counted"};
  if (is_of_record_arrays(options)) return {false, "arrays of records are sorted on the CPU"};
  if (options.engine == EngineChoice::kCpu) return {false, "as asked"};
  if (options.engine == EngineChoice::kCuda) return {true, "as asked"};
  if (options.merge) return {false, "merging takes less time than starting a GPU"};
  const unsigned cores = options.parallel.value_or(machine.cores);
  if (!machine.input_bytes)
    return {false, "a sort starts on the CPU where the number of keys is not known"};
  if (!wants_gpu(options, machine)) {
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
