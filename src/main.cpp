// gsort: parse, plan, run, report, exit code. The only place that prints and exits; what is below
// it throws.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>

#include <unistd.h>

#include "base/error.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "gpu/gpu.hpp"
#include "options/help.hpp"
#include "pipeline/check_order.hpp"
#include "pipeline/sort_job.hpp"
#include "pipeline/survey.hpp"
#include "report/explain.hpp"
#include "report/summary.hpp"

namespace gsort {
namespace {

enum ExitCode { kDone = 0, kDisorder = 1, kTrouble = 2 };

int print(std::FILE* stream, const std::string& text, ExitCode code = kDone) {
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0) {
    const char* what = stream == stdout ? "writing standard output" : "writing standard error";
    throw Error::from_errno(ErrorKind::kOutput, what, errno).hint("see what it is redirected to");
  }
  return code;
}

int check(const Options& options, io::Reader& reader) {
  const CheckOutcome outcome = check_order(options.key, reader, cores_for(options.parallel));
  const ExitCode code = outcome.in_order ? kDone : kDisorder;
  if (options.check == CheckMode::kQuiet) return code;
  return print(outcome.in_order ? stdout : stderr,
               check_lines(outcome, options, options.inputs.front()), code);
}

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

// A stream is not opened to be explained: it may be a terminal, or have nobody at its other end.
std::optional<io::Output> open_output(const Options& options) {
  const bool stream = options.output.value_or("-") == "-";
  if (options.explain != ExplainMode::kNone && stream) return std::nullopt;
  return io::Output(options.output.value_or(""), {options.direct_io});
}

int sort(const Options& options, io::Reader& reader) {
  std::optional<io::Output> output = open_output(options);
  const std::string folder = output ? output->folder() : "";
  const auto temporary =
      temporary_folders(options.temporary_directories, std::getenv("TMPDIR"), folder);
  Machine machine = survey(temporary, folder, reader);
  look_for_gpus(options, machine);
  const Plan plan = make_plan(options, machine);
  if (options.explain != ExplainMode::kNone) return print(stdout, explain(plan, options, machine));
  const Outcome outcome = run_sort({plan, reader, *output, temporary, options.direct_io,
                                    options.packing, options.verify, make_engine});
  return print(stderr, sort_lines(outcome, plan, options, machine, isatty(STDERR_FILENO) != 0));
}

int run(int argc, const char* const* argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit is an Error that can be reported
  const Options options = parse_options(argc, argv, [](auto name) { return std::getenv(name); });
  if (options.show != Show::kNothing) return print(stdout, text_of(options.show));
  io::Reader reader(options.inputs, {bytes_of(options.key.type), options.direct_io});
  return options.check == CheckMode::kNone ? sort(options, reader) : check(options, reader);
}

}  // namespace
}  // namespace gsort

int main(int argc, char** argv) {
  try {
    return gsort::run(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "gsort: %s\n", failure.what());
    return gsort::kTrouble;
  }
}
