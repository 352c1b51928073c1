#include "support/resumable_sort.hpp"

#include <filesystem>

#include "io/input/reader.hpp"
#include "io/output/output.hpp"
#include "options/job.hpp"
#include "pipeline/run_folder.hpp"
#include "plan/make_plan.hpp"
#include "support/engine_wrap.hpp"
#include "support/invented.hpp"
#include "support/sort_run.hpp"

namespace gsort::test {
namespace {

// Counts down to the piece at which the process ends. Every chunk and every merge puts one piece at
// position 0.
EngineHooks hooks_for(Interruption left, EngineHooks hooks) {
  hooks.on_piece = [left](bool merging, std::uint64_t position, Bytes&) mutable {
    std::optional<unsigned>& turns = merging ? left.in_merge : left.in_chunk;
    if (position != 0 || !turns) return;
    if (*turns == 0) throw Error(ErrorKind::kResource, "sorting", "ends as the test wanted");
    --*turns;
  };
  return hooks;
}

}  // namespace

ResumableSort::ResumableSort(const std::vector<Bytes>& inputs, KeyType type)
    : options(options_for(type, "12M")) {
  options.inputs.clear();
  for (const Bytes& input : inputs) {
    options.inputs.push_back(files_ / ("in" + std::to_string(options.inputs.size())));
    io::test::write_file(options.inputs.back(), input);
  }
  options.input_form = {FileFormat::kBinary, Codec::kNone};
  options.output = files_ / "out";
  options.resume = files_ / "dir";
  options.parallel = 2;
}

ProcessResult ResumableSort::run(const Interruption& interruption) {
  ProcessResult result;
  options.engine = devices > 0 ? EngineChoice::kCuda : EngineChoice::kAuto;
  options.devices.all = true;
  io::Reader reader(options.inputs,
                    {element_bytes(options), {options.direct_io}, options.input_form, options.key});
  io::Output output(*options.output);
  const Job job = make_job(options);
  RunFolder run_folder({*options.resume, manifest_of(resumable_job(job, options.input_form),
                                                     element_bytes(options), reader)},
                       io::ResumeAccess::kUse, reader);
  Machine machine = invented_machine(reader.known_size(), *options.parallel, kTiB);
  for (unsigned device = 0; device < devices; ++device) add_gpu(machine);
  machine.resumed = run_folder.found();
  machine.temporary.front().path = *options.resume;
  result.plan = make_plan(job, machine);
  if (change_plan) change_plan(result.plan);
  const EngineMaker make = engine_maker(engine);
  const EngineMaker make_ending = [&](const Plan& plan, const EngineShape& shape, ByteSpan memory) {
    if (before_reading) before_reading();
    return wrap_engine(make(plan, shape, memory), hooks_for(interruption, hooks),
                       element_bytes(options));
  };
  const PlanWithout no_other_plan = [](const DeviceError& failure) { throw DeviceError(failure); };
  try {
    result.outcome = run_sort({.plan = result.plan,
                               .reader = &reader,
                               .make_engine = make_ending,
                               .meter = meter,
                               .run_folder = &run_folder,
                               .plan_without = may_lose_devices ? no_other_plan : nullptr},
                              {&output, 1});
  } catch (const Error& error) {
    result.error = error;
  }
  return result;
}

Bytes ResumableSort::output() const {
  return io::test::read_file(*options.output);
}

bool ResumableSort::has_folder() const {
  return std::filesystem::exists(*options.resume);
}

std::vector<std::string> ResumableSort::others() const {
  std::vector<std::string> names = files_.entries();
  std::erase_if(names,
                [](const std::string& name) { return name.starts_with("in") || name == "out"; });
  return names;
}

}  // namespace gsort::test
