// A sort that is ready to start: the output is open, the facts of the machine are known, the plan
// is made. The program and the library share these steps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/rates_file.hpp"
#include "base/device_error.hpp"
#include "base/meter.hpp"
#include "base/tier_memory.hpp"
#include "engine/engine.hpp"
#include "io/input/reader.hpp"
#include "io/output/output.hpp"
#include "options/job.hpp"
#include "options/request.hpp"
#include "pipeline/run_folder.hpp"
#include "pipeline/sort_context.hpp"
#include "plan/machine.hpp"
#include "plan/outcome.hpp"
#include "plan/plan.hpp"

namespace gsort {

// Makes the plan's engine.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const Plan& plan, const EngineShape& shape,
                                                  ByteSpan memory);

// Makes memory for runs on a device of the plan.
[[nodiscard]] std::unique_ptr<TierMemory> make_tier(const DevicePlan& device, std::uint64_t bytes);

// Looks for GPUs if one could be used, because the search costs a fraction of a second. Returns the
// time that starting one took. `only`: the numbers of the GPUs that may be used, if other processes
// use the rest.
std::optional<double> look_for_gpus(const Job& job, Machine& machine,
                                    const std::optional<std::vector<unsigned>>& only = {});

// A GPU by its number in this process, and by its place on the bus, which is empty if there is no
// such GPU.
struct VisibleGpu {
  int ordinal = 0;
  std::string address;
};

// The GPUs that the job may use: those that --device names, or all. Starts none of them. Empty if
// no GPU could be used.
[[nodiscard]] std::vector<VisibleGpu> visible_gpus(const Job& job, const Machine& machine);

// The parent of `folder`, in which gsort would make it; "." for a name without slashes.
[[nodiscard]] std::string folder_above(const std::string& folder);

// How to open an output of about this size.
[[nodiscard]] io::OutputOptions output_options(const Request& request,
                                               std::uint64_t expected_bytes = 0);

// The machine for which a sort is planned again after a device failed. With EngineChoice::kAuto, it
// lacks the device. If devices were asked for, and one had too little memory because another
// process took some, the machine has what is free now, for the first few failures (this is number
// `failures`). Throws: the failure, after others.
[[nodiscard]] Machine machine_after(const DeviceError& failure, Machine machine,
                                    const Resources& resources, unsigned failures);

// Lets the sort of the context continue after a device failed, if the job's resources allow it:
// `machine` becomes machine_after() the failure, and `plan` is called to make the context's plan
// for it. Requires: all of these outlive the sort.
void plan_without_failed(SortContext& context, Machine& machine, std::function<void()> plan);

// Throws: Error(kTemporary) if a folder for runs cannot be used and was requested, or the plan
// needs it.
void require_temporary_folders(const Request& request, const Machine& machine, const Plan& plan);

class PreparedSort {
 public:
  // Requires: the request and the reader outlive it.
  // Throws: Error, also when no plan can work.
  PreparedSort(const Request& request, const Job& job, io::Reader& reader);

  // The same with open outputs: one, which may be memory; all parts of one; or none.
  PreparedSort(const Request& request, const Job& job, io::Reader& reader,
               std::vector<io::Output> outputs);

  [[nodiscard]] const Machine& machine() const { return machine_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }

  // Sorts; call it once, and not for a request that only explains, because its output may not be
  // open. Throws: Error; then there is no output, and the temporary folders hold only runs to
  // resume from. `before_name`: as for run_sort().
  Outcome run(Meter* meter, const std::function<void()>& before_name = {});

  // If there may be a GPU, keeps the rates that the sort measured for the next choice of an engine.
  // If that fails, the outcome gets a note.
  void remember_rates(Outcome& outcome) const;

 private:
  void count_output_in_memory();
  [[nodiscard]] bool makes_room_while_devices_start(const Job& job);
  [[nodiscard]] std::vector<std::string> folders_for_runs(const std::string& output_folder) const;
  void keep_rates(Outcome& outcome) const;

  const Request& request_;
  io::Reader& reader_;
  std::vector<io::Output> outputs_;  // one, or all parts of it; empty if it is not opened
  std::optional<RunFolder> run_folder_;
  Machine machine_;
  std::optional<RatesFile> rates_file_;
  std::string rates_problem_;
  std::optional<double> cuda_start_seconds_;
  Plan plan_;
};

}  // namespace gsort
