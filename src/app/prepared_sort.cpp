#include "app/prepared_sort.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "app/files.hpp"
#include "app/own_files.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "form/equal_floats.hpp"
#include "gpu/engine/gpu.hpp"
#include "io/output/output_place.hpp"
#include "io/system/host_facts.hpp"
#include "io/system/memory.hpp"
#include "options/job.hpp"
#include "pipeline/sort_job.hpp"
#include "pipeline/survey.hpp"
#include "plan/engine_choice.hpp"
#include "plan/learn_rates.hpp"
#include "plan/make_plan.hpp"

namespace gsort {

namespace {

// Each device's memory comes from its node.
gpu::MemoryPlacer placer_for(const Plan& plan) {
  return [devices = plan.devices](int ordinal, ByteSpan memory) {
    const auto device = std::ranges::find(devices, ordinal, &DevicePlan::ordinal);
    if (device != devices.end() && device->node) io::prefer_node(memory, *device->node);
  };
}

// A smaller file is sorted before a GPU could be started, whatever the rates are.
constexpr std::uint64_t kLeastBytesToLookUp = std::uint64_t{64} << 20;

RatesFile rates_file() {
  return {std::getenv("XDG_CACHE_HOME"), std::getenv("HOME"), processor_name()};
}

bool rates_matter(const Machine& machine) {
  return machine.input_bytes.value_or(0) >= kLeastBytesToLookUp && gpu::may_be_there();
}

void take_gpus(const gpu::Devices& found, Machine& machine) {
  machine.no_gpu_reason = found.absent_reason;
  machine.gpus.clear();
  for (const gpu::Device& device : found.devices) {
    const std::string address = gpu::pci_address_of(device.ordinal);
    machine.gpus.push_back({.device = device.ordinal,
                            .name = device.name,
                            .free_bytes = device.free_bytes,
                            .total_bytes = device.total_bytes,
                            .link_bytes_per_second = io::link_of_pci_device(address),
                            .node = io::node_of_pci_device(address)});
  }
}

// The numbers of GPUs that may be used; none: all.
using Usable = std::optional<std::vector<unsigned>>;

gpu::Devices list_usable(const Usable& only) {
  gpu::Devices listed = gpu::list_devices();
  if (!only) return listed;
  std::erase_if(listed.devices, [&](const gpu::Device& device) {
    return std::ranges::count(*only, static_cast<unsigned>(device.ordinal)) == 0;
  });
  return listed;
}

// Starts as many GPUs as the sort would use if all of their memory were free, at the same time. For
// each one that has less than half of its memory free, it then starts one more.
gpu::Devices find_chosen_devices(const Job& job, Machine& machine, const Usable& only) {
  gpu::Devices listed = list_usable(only);
  take_gpus(listed, machine);
  if (machine.gpus.empty()) return only ? listed : gpu::find_devices({});  // which says why
  const std::size_t wanted = choose_devices(job, machine).size();
  gpu::Devices found;
  std::size_t with_room = 0;
  for (auto next = machine.gpus.begin(); with_room < wanted && next != machine.gpus.end();) {
    std::vector<int> ordinals;
    for (; with_room + ordinals.size() < wanted && next != machine.gpus.end(); ++next) {
      ordinals.push_back(next->device);
    }
    gpu::Devices started = gpu::start_devices(ordinals);
    if (!started.absent_reason.empty()) found.absent_reason = started.absent_reason;
    for (gpu::Device& device : started.devices) {
      if (device.free_bytes >= device.total_bytes / 2) ++with_room;
      found.devices.push_back(std::move(device));
    }
  }
  std::ranges::stable_sort(found.devices, std::ranges::greater{}, &gpu::Device::free_bytes);
  return found;
}

gpu::Devices find_usable(const Job& job, Machine& machine, const Usable& only) {
  const DeviceChoice& asked = job.resources.devices;
  if (asked.is_auto()) return find_chosen_devices(job, machine, only);
  if (!only) return gpu::find_devices(asked.listed);
  return only->empty() ? list_usable(only) : gpu::find_devices(*only);
}

// The same error; if it is about a folder that only the environment names, with the name of the
// variable.
Error told_of_variable(const Request& request, const Error& error) {
  const bool is_asked = !request.temporary_directories.empty() || request.resume;
  if (is_asked || request.tmpdir.empty() || error.path() != request.tmpdir ||
      error.error_number() == 0 || error.kind() != ErrorKind::kTemporary) {
    return error;
  }
  return Error::from_errno(error.kind(), error.operation() + " (from TMPDIR)", error.error_number())
      .path(error.path())
      .hint("set TMPDIR to an existing folder, or give one with -T");
}

// --explain does not open a stream: it may be a terminal, or have no reader.
std::vector<io::Output> open_outputs(const Request& request, const OutputForm& form,
                                     std::uint64_t expected_bytes) {
  std::vector<io::Output> outputs;
  const std::string name = request.output.value_or("-");
  std::error_code unknown;
  const bool stream =
      name == "-" || (name != "/dev/null" && std::filesystem::is_other(name, unknown));
  if (request.explain != ExplainMode::kNone && stream) return outputs;
  // Text is for people: a terminal may show it unasked.
  const bool readable = form.format == FileFormat::kText && form.codec == Codec::kNone;
  if (!request.split_output) {
    outputs.emplace_back(request.output.value_or(readable ? "-" : ""),
                         output_options(request, expected_bytes));
    return outputs;
  }
  for (const std::string& part : request.outputs()) {
    outputs.emplace_back(part, io::OutputOptions{request.direct_io, true});
  }
  return outputs;
}

io::ResumeAccess resume_access(const Request& request) {
  return request.explain == ExplainMode::kNone ? io::ResumeAccess::kUse : io::ResumeAccess::kLook;
}

}  // namespace

std::unique_ptr<Engine> make_engine(const Plan& plan, const EngineShape& shape, ByteSpan memory) {
  if (plan.engine == EngineKind::kCuda) {
    std::vector<int> ordinals;
    for (const DevicePlan& device : plan.devices) ordinals.push_back(device.ordinal);
    return gpu::make_cuda_engine(shape, ordinals, memory, placer_for(plan));
  }
  return cpu::make_cpu_engine(shape, memory);
}

std::unique_ptr<TierMemory> make_tier(const DevicePlan& device, std::uint64_t bytes) {
  return gpu::make_device_tier(device.ordinal, bytes);
}

std::optional<double> look_for_gpus(const Job& job, Machine& machine, const Usable& only) {
  if (!wants_gpu(job, machine)) return std::nullopt;
  const auto begin = std::chrono::steady_clock::now();
  take_gpus(find_usable(job, machine, only), machine);
  if (machine.gpus.size() != 1) return std::nullopt;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<VisibleGpu> visible_gpus(const Job& job, const Machine& machine) {
  if (!wants_gpu(job, machine)) return {};
  std::vector<int> ordinals(job.resources.devices.listed.begin(),
                            job.resources.devices.listed.end());
  if (ordinals.empty()) {
    for (const gpu::Device& device : gpu::list_devices().devices) {
      ordinals.push_back(device.ordinal);
    }
  }
  std::vector<VisibleGpu> visible;
  for (const int ordinal : ordinals) visible.push_back({ordinal, gpu::pci_address_of(ordinal)});
  return visible;
}

std::string folder_above(const std::string& folder) {
  std::filesystem::path path(folder);
  if (!path.has_filename()) path = path.parent_path();  // "DIR/"
  const std::string above = path.parent_path();
  return above.empty() ? "." : above;
}

io::OutputOptions output_options(const Request& request, std::uint64_t expected_bytes) {
  io::OutputOptions opened{request.direct_io};
  opened.writes_into_file = request.writes_into_file;
  opened.folders_for_copy = request.temporary_folders("");
  opened.expected_bytes = expected_bytes;
  opened.offers_write = true;
  return opened;
}

void require_temporary_folders(const Request& request, const Machine& machine, const Plan& plan) {
  const bool is_asked = !request.temporary_directories.empty() || request.resume;
  if (!is_asked && plan.temporary_bytes == 0) return;
  for (const Folder& folder : machine.temporary) {
    if (folder.problem == 0) continue;
    throw told_of_variable(
        request,
        Error::from_errno(ErrorKind::kTemporary, "opening the temporary folder", folder.problem)
            .path(folder.path)
            .hint("give an existing folder with -T"));
  }
}

Machine machine_after(const DeviceError& failure, Machine machine, const Resources& resources,
                      unsigned failures) {
  constexpr unsigned kMostPlans = 5;
  const bool is_auto = resources.engine == EngineChoice::kAuto;
  const bool is_lack = failure.kind() == ErrorKind::kResource && failure.ordinal();
  if (is_lack && failures <= kMostPlans && !is_auto) {
    const std::vector<GpuFacts> before = machine.gpus;
    std::vector<unsigned> ordinals;
    for (const GpuFacts& gpu : before) ordinals.push_back(static_cast<unsigned>(gpu.device));
    take_gpus(gpu::find_devices(ordinals), machine);
    for (GpuFacts& gpu : machine.gpus) {  // several processes of gsort-mpi may share one
      const auto same = std::ranges::find(before, gpu.device, &GpuFacts::device);
      if (same != before.end()) gpu.free_bytes = std::min(gpu.free_bytes, same->free_bytes);
    }
    return machine;
  }
  if (!is_auto) throw DeviceError(failure);
  return without_device(std::move(machine), failure.ordinal(),
                        "after a failure: " + failure.operation() + ": " + failure.reason());
}

// If the user chose the engine, only a lack of device memory leads to another plan.
void plan_without_failed(SortContext& context, Machine& machine, std::function<void()> plan) {
  const Resources& resources = context.plan.job.resources;
  const bool is_auto = resources.engine == EngineChoice::kAuto;
  context.again = is_auto ? Planned::kAfterFailures : Planned::kAfterLackOfMemory;
  context.plan_without = [&resources, &machine, plan = std::move(plan),
                          failures = 0U](const DeviceError& failure) mutable {
    machine = machine_after(failure, std::move(machine), resources, ++failures);
    plan();
  };
}

PreparedSort::PreparedSort(const Request& request, const Job& job, io::Reader& reader)
    : PreparedSort(request, job, reader,
                   open_outputs(request, job.output_form, reader.known_size().value_or(0))) {}

PreparedSort::PreparedSort(const Request& request, const Job& job, io::Reader& reader,
                           std::vector<io::Output> outputs)
    : request_(request), reader_(reader), outputs_(std::move(outputs)) {
  if (job.argsort || job.adds_counts()) {
    reader.make_alike(floats_in_numeric_order(job.input_element()));
  }
  if (job.numbered) reader.number_elements(job.numbering());
  refuse_losing_inputs(request, job, reader);
  if (!outputs_.empty()) refuse_losing_inputs(request, job, outputs_.front(), reader);
  if (request.resume) {
    io::refuse_folder_that_would_stay(*request.resume, folder_above(*request.resume));
    io::WantedFolder wanted{
        *request.resume,
        manifest_of(resumable_job(job, request.input_form), job.element.bytes(), reader),
        io::manifest_limit(memory_of(request))};
    run_folder_.emplace(std::move(wanted), resume_access(request), reader);
  }
  const std::string folder = outputs_.empty() ? "" : outputs_.front().folder();
  machine_ = survey(folders_for_runs(folder), folder, reader);
  if (!outputs_.empty() && !outputs_.front().is_stream() && folder.empty())
    count_output_in_memory();
  if (!outputs_.empty()) survey_written_file(outputs_.front().written_into(), machine_);
  if (machine_.written_into && outputs_.front().is_stream()) {
    machine_.written_into->path = outputs_.front().path();
  }
  machine_.output_is_null = !outputs_.empty() && outputs_.front().is_null();
  if (run_folder_) {
    machine_.resumed = run_folder_->found();
    machine_.names_bytes += run_folder_->memory_bytes();
  }
  if (request.keep_rates && rates_matter(machine_)) {
    rates_file_.emplace(rates_file());
    machine_.rates = rates_file_->read(rates_problem_);
  } else if (request.keep_rates && request.stats) {
    machine_.rates.limits = rates_file().read(rates_problem_).limits;
  }
  const bool has_room = wants_gpu(job, machine_) && makes_room_while_devices_start(job);
  cuda_start_seconds_ = look_for_gpus(job, machine_);
  plan_ = make_plan(job, machine_);
  plan_.output.makes_room_early |= has_room;
  require_temporary_folders(request, machine_, plan_);
}

// Makes room where a sort on the CPU would: it needs more memory than one with devices. Returns
// whether there is room.
bool PreparedSort::makes_room_while_devices_start(const Job& job) {
  if (request_.explain != ExplainMode::kNone || outputs_.empty()) return false;
  Job without = job;
  without.resources.engine = EngineChoice::kCpu;
  try {
    const Plan plan = make_plan(without, machine_);
    if (!plan.output.makes_room_early) return false;
    outputs_.front().make_room_early(plan.output.least_bytes, plan.output.windows.bytes);
    return true;
  } catch (const Error&) {  // the plan with devices says what is wrong
    return false;
  }
}

// The output's file system is memory, so its bytes reduce the available memory.
void PreparedSort::count_output_in_memory() {
  constexpr std::uint64_t kNoFileSystem = UINT64_MAX;
  machine_.output = Folder{outputs_.front().path(), kNoFileSystem, UINT64_MAX, "memory"};
  machine_.available_bytes -= std::min(machine_.available_bytes, machine_.input_bytes.value_or(0));
}

std::vector<std::string> PreparedSort::folders_for_runs(const std::string& output_folder) const {
  if (run_folder_) {
    return {run_folder_->has_folder() ? *request_.resume : folder_above(*request_.resume)};
  }
  return request_.temporary_folders(output_folder);
}

Outcome PreparedSort::run(Meter* meter, const std::function<void()>& before_name) {
  SortContext context{.plan = plan_,
                      .reader = &reader_,
                      .make_engine = make_engine,
                      .make_tier = make_tier,
                      .meter = meter,
                      .run_folder = run_folder_ ? &*run_folder_ : nullptr};
  plan_without_failed(context, machine_, [this] { plan_ = make_plan(plan_.job, machine_); });
  try {
    return run_sort(context, outputs_, before_name);
  } catch (const Error& error) {
    const Error told = told_of_variable(request_, error);
    if (told.hint() == error.hint()) throw;
    throw told;
  }
}

void PreparedSort::remember_rates(Outcome& outcome) const {
  if (!rates_file_) return;
  try {
    keep_rates(outcome);
  } catch (const std::bad_alloc&) {
    outcome.is_whole = false;
  }
}

void PreparedSort::keep_rates(Outcome& outcome) const {
  if (!rates_problem_.empty()) outcome.notes.push_back(rates_problem_);
  const Rates rates = learned_from(outcome, plan_, cuda_start_seconds_, machine_.rates);
  if (rates == machine_.rates) return;
  try {
    rates_file_->write(rates);
    outcome.notes.push_back(learned_words(machine_.rates, rates, rates_file_->path()));
  } catch (const std::exception& error) {
    outcome.notes.push_back(fmt::format("rates are not kept: {}", error.what()));
  }
}

}  // namespace gsort
