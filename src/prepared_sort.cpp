#include "prepared_sort.hpp"

#include <cstdlib>
#include <memory>

#include "engine/cpu/cpu_engine.hpp"
#include "files.hpp"
#include "gpu/gpu.hpp"
#include "pipeline/sort_job.hpp"
#include "pipeline/survey.hpp"

namespace gsort {
namespace {

std::unique_ptr<Engine> make_engine(const Plan& plan, const EngineShape& shape, ByteSpan memory) {
  if (plan.engine == EngineKind::kCuda) return gpu::make_cuda_engine(shape, plan.device, memory);
  return cpu::make_cpu_engine(shape, memory);
}

// Looks for GPUs only where one could be used: that costs a fraction of a second.
void look_for_gpus(const Options& options, Machine& machine) {
  if (!wants_gpu(options, machine.cores, machine.input_bytes)) return;
  gpu::Devices found = gpu::find_devices(options.devices);
  machine.no_gpu_reason = found.absent_reason;
  for (const gpu::Device& device : found.devices) {
    machine.gpus.push_back({device.ordinal, device.name, device.free_bytes, device.total_bytes});
  }
}

}  // namespace

PreparedSort::PreparedSort(const Options& options, io::Reader& reader)
    : options_(options), reader_(reader), output_(open_output(options)) {
  const std::string folder = output_ ? output_->folder() : "";
  temporary_folders_ =
      temporary_folders(options.temporary_directories, std::getenv("TMPDIR"), folder);
  machine_ = survey(temporary_folders_, folder, reader);
  look_for_gpus(options, machine_);
  plan_ = make_plan(options, machine_);
}

Outcome PreparedSort::run(Meter* meter) {
  return run_sort({plan_, reader_, *output_, temporary_folders_, options_.direct_io,
                   options_.packing, options_.verify, make_engine, meter});
}

}  // namespace gsort
