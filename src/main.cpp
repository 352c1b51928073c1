// gsort: parse, plan, run, report, exit code. The only place that prints and exits; everything
// below throws.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include <unistd.h>

#include "base/error.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "gpu/gpu.hpp"
#include "io/host_facts.hpp"
#include "io/output.hpp"
#include "io/reader.hpp"
#include "options/help.hpp"
#include "options/options.hpp"
#include "pipeline/check_order.hpp"
#include "pipeline/sort_job.hpp"
#include "pipeline/survey.hpp"
#include "plan/plan.hpp"
#include "report/explain.hpp"
#include "report/summary.hpp"

namespace gsort {
namespace {

enum ExitCode { kDone = 0, kDisorder = 1, kTrouble = 2 };

void print(std::FILE* stream, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0) {
    throw Error::from_errno(ErrorKind::kOutput, "writing standard output", errno);
  }
}

int show(Show what) {
  print(stdout, what == Show::kHelp       ? short_help()
                : what == Show::kFullHelp ? full_help()
                                          : version_text());
  return kDone;
}

int check(const Options& options, io::Reader& reader) {
  const unsigned threads = options.parallel.value_or(io::host_facts().cores);
  const CheckOutcome outcome = check_order(options.key, reader, threads);
  if (options.check == CheckMode::kReport) {
    print(outcome.in_order ? stdout : stderr,
          check_lines(outcome, options, options.inputs.front()));
  }
  return outcome.in_order ? kDone : kDisorder;
}

std::unique_ptr<Engine> make_engine(const Plan& plan, const EngineShape& shape, ByteSpan memory) {
  if (plan.engine == EngineKind::kCuda) return gpu::make_cuda_engine(shape, plan.device, memory);
  return cpu::make_cpu_engine(shape, memory);
}

// Looks for GPUs only where one could be used: that costs a fraction of a second.
void look_for_gpus(const Options& options, Machine& machine) {
  if (!wants_gpu(options, machine.cores, machine.input_bytes)) return;
  gpu::Devices found = gpu::find_devices(options.devices);
  machine.no_gpu_reason = std::move(found.absent_reason);
  for (const gpu::Device& device : found.devices) {
    machine.gpus.push_back({device.ordinal, device.name, device.free_bytes, device.total_bytes});
  }
}

bool explains_a_stream(const Options& options) {
  return options.explain != ExplainMode::kNone && options.output.value_or("-") == "-";
}

int sort(const Options& options, const Environment& environment, io::Reader& reader) {
  std::optional<io::Output> output;
  if (!explains_a_stream(options))
    output.emplace(options.output.value_or(""), io::OutputOptions{options.direct_io});
  const std::string folder = output ? output->folder() : "";
  const auto temporary =
      temporary_folders(options.temporary_directories, environment("TMPDIR"), folder);
  Machine machine = survey(temporary, folder, reader);
  look_for_gpus(options, machine);
  const Plan plan = make_plan(options, machine);
  if (options.explain != ExplainMode::kNone) {
    print(stdout, options.explain == ExplainMode::kJson ? explain_json(plan, options, machine)
                                                        : explain_text(plan, options, machine));
    return kDone;
  }
  const Outcome outcome =
      run_sort({plan, reader, *output, temporary, options.direct_io, options.verify, make_engine});
  if (options.verbosity > 0) {
    print(stderr, phase_lines(outcome, plan, options, machine, options.verbosity > 1));
  }
  if (options.verbosity > 0 || (options.verbosity == 0 && isatty(STDERR_FILENO) != 0)) {
    print(stderr, summary_line(outcome));
  }
  return kDone;
}

int run(int argc, const char* const* argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit is an Error that can be reported
  const Environment environment = [](const char* name) -> const char* { return std::getenv(name); };
  const Options options = parse_options(argc, argv, environment);
  if (options.show != Show::kNothing) return show(options.show);
  io::Reader reader(options.inputs, {bytes_of(options.key.type), options.direct_io});
  if (options.check != CheckMode::kNone) return check(options, reader);
  return sort(options, environment, reader);
}

}  // namespace
}  // namespace gsort

int main(int argc, char** argv) {
  try {
    return gsort::run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("gsort: allocating memory: the system refused it\n  give less with -S\n", stderr);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "gsort: %s\n", failure.what());
  }
  return gsort::kTrouble;
}
