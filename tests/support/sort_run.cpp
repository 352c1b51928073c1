#include "support/sort_run.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include <unistd.h>

#include "base/units.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "form/equal_floats.hpp"
#include "gpu/engine/gpu.hpp"
#include "io/input/numpy_order.hpp"
#include "io/input/reader.hpp"
#include "io/output/output.hpp"
#include "support/engines.hpp"
#include "support/invented.hpp"
#include "support/some_of.hpp"
#include "support/std_engine.hpp"
#include "unit/io/support.hpp"

namespace gsort::test {
namespace {

// A pipe whose other end is served by a thread: fed with bytes, or read until it ends.
class ServedPipe {
 public:
  ServedPipe() = default;
  ~ServedPipe() { finish(); }
  ServedPipe(const ServedPipe&) = delete;
  ServedPipe& operator=(const ServedPipe&) = delete;

  void feed(Bytes all) {
    open();
    server_ = std::jthread([this, bytes = std::move(all)] {
      std::size_t done = 0;
      while (done < bytes.size()) {
        const ssize_t wrote = ::write(ends_[1], bytes.data() + done, bytes.size() - done);
        if (wrote < 0) break;
        done += static_cast<std::size_t>(wrote);
      }
      ::close(ends_[1]);
    });
    open_end_ = ends_[0];
  }

  void drain(Bytes& bytes) {
    open();
    server_ = std::jthread([this, &bytes] {
      std::vector<std::byte> buffer(1 << 16);
      for (ssize_t got = 1; got > 0;) {
        got = ::read(ends_[0], buffer.data(), buffer.size());
        if (got > 0) bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + got);
      }
      ::close(ends_[0]);
    });
    open_end_ = ends_[1];
  }

  // The end of the pipe that is not served.
  [[nodiscard]] std::string path() const { return "/dev/fd/" + std::to_string(open_end_); }

  // Closes the end that is not served, and waits for the server.
  void finish() {
    if (open_end_ >= 0) ::close(open_end_);
    open_end_ = -1;
    if (server_.joinable()) server_.join();
  }

 private:
  void open() {
    std::signal(SIGPIPE, SIG_IGN);
    if (::pipe(ends_.data()) != 0) throw std::runtime_error("no pipe");
  }

  std::array<int, 2> ends_{};
  int open_end_ = -1;
  std::jthread server_;
};

// A chunk that fits one device, as one that several hold together.
void share_chunk(Plan& plan, const Machine& machine) {
  const bool can = plan.is<OneChunk>() && plan.engine == EngineKind::kCuda &&
                   !plan.job.element.records && plan.element_bytes <= 8 && machine.gpus.size() > 1;
  if (!can) return;
  const DevicePlan device = plan.devices.front();
  plan.devices.clear();
  for (const GpuFacts& gpu : machine.gpus) {
    plan.devices.push_back(device);
    plan.devices.back().ordinal = gpu.device;
  }
  plan.chunk.is_shared = true;
  plan.chunk.lanes = static_cast<unsigned>(plan.devices.size());
  plan.chunk.arena_bytes *= plan.chunk.lanes;
  plan.arena_bytes = plan.chunk.arena_bytes;
}

// Raw keys, whatever the first ones look like.
InputForm form_of(const SortRequest& request) {
  InputForm raw{FileFormat::kBinary, Codec::kNone};
  raw.skip_bytes = request.header.size();
  if (!request.from_pipe) {
    raw.skip_end_bytes = request.trailer.size();
  } else if (!request.trailer.empty()) {
    raw.elements = request.input.size() / bytes_of(request.format.type);
  }
  return raw;
}

// The plan if the devices in `lost` cannot be used; without a device it is the CPU's.
Plan plan_for(const SortRequest& request, io::Reader& reader, const std::string& temporary,
              const std::vector<int>& lost = {}) {
  Options options = options_for(request.format.type, request.budget);
  options.key = request.format;
  options.records = request.records;
  options.input_form = form_of(request);
  options.parallel = request.threads;
  options.batch_size = request.batch_size;
  options.unique = request.unique;
  options.count = request.min_count.has_value();
  options.min_count = request.min_count;
  options.argsort = request.argsort;
  options.shuffle = request.shuffle;
  options.top = request.top;
  options.batch_elements = request.batch_elements;
  options.output_format = request.output_format.value_or(FileFormat::kBinary);
  options.compress = request.compress;
  if (request.parts > 1) {
    options.split_output = request.parts;
    options.output = "{}";
  }
  options.packing = request.packing;
  options.verify = request.verify;
  options.verify_encoding = request.verify_encoding;
  options.compress_level = request.compress ? levels_of(*request.compress).usual : 0;
  options.merge = !request.merged.empty();
  if (options.merge) options.inputs.resize(request.merged.size());
  options.intersect = request.set_operation == SetOperation::kIntersect;
  options.subtract = request.set_operation == SetOperation::kSubtract;
  const auto input_bytes = reader.known_size();
  const Job job = make_job(options, {}, input_bytes);
  if (options.argsort || job.adds_counts()) {
    reader.make_alike(floats_in_numeric_order(job.input_element()));
  }
  if (job.numbered) reader.number_elements(job.numbering());
  Machine machine = invented_machine(reader.known_size(), request.threads, kTiB);
  machine.temporary.front().path = temporary;
  if (request.gpu_memory) {
    options.engine = EngineChoice::kCuda;
    options.buffer_size = "1G";
    // A pipe may bring anything, and is planned for with that in mind.
    options.gpu_memory = request.from_pipe ? "48M" : request.gpu_memory;
    for (unsigned device = 0; device < request.devices; ++device) {
      add_gpu(machine);
      machine.gpus.back().link_bytes_per_second = device == 0 ? 10e9 : 1e9;  // not alike
    }
    for (const int ordinal : lost) machine = without_device(std::move(machine), ordinal, "lost");
    options.devices.all = true;
    if (machine.gpus.empty()) options.engine = EngineChoice::kCpu;
  }
  if (request.to_pipe || request.to_null) machine.output.reset();
  machine.output_is_null = request.to_null;
  Plan plan = make_plan(make_job(options, {}, input_bytes), machine);
  if (request.shares_chunk) share_chunk(plan, machine);
  if (request.change_plan) request.change_plan(plan);
  std::erase_if(plan.devices, [&](const DevicePlan& device) {
    return std::ranges::find(lost, device.ordinal) != lost.end();
  });
  return plan;
}

// Writes the inputs that are files; returns the names of all.
std::vector<std::string> make_inputs(const SortRequest& request, const io::test::TempFolder& folder,
                                     ServedPipe& pipe) {
  const bool merges = !request.merged.empty();
  const std::size_t inputs = merges ? request.merged.size() : 1;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs; ++i) {
    Bytes input = request.header;
    for (const Bytes& more : {merges ? request.merged[i] : request.input, request.trailer}) {
      input.insert(input.end(), more.begin(), more.end());
    }
    if (request.from_pipe && i + 1 == inputs) {
      pipe.feed(std::move(input));
      names.push_back(pipe.path());
    } else {
      names.push_back(folder / (merges ? "in" + std::to_string(i) : "in"));
      io::test::write_file(names.back(), input);
    }
  }
  return names;
}

std::vector<std::string> names_of_parts(const SortRequest& request, const std::string& out) {
  if (request.parts == 1) return {out};
  std::vector<std::string> names;
  for (unsigned part = 0; part < request.parts; ++part) {
    names.push_back(out + "." + std::to_string(part));
  }
  return names;
}

// Makes those that are there the output; where there are none, it stays as it was.
void join_parts(const std::vector<std::string>& names, const std::string& out) {
  Bytes all;
  bool any = false;
  for (const std::string& name : names) {
    if (!std::filesystem::exists(name)) continue;
    any = true;
    const Bytes part = io::test::read_file(name);
    all.insert(all.end(), part.begin(), part.end());
    std::filesystem::remove(name);
  }
  if (any) io::test::write_file(out, all);
}

void keep_runs_on_devices(const SortRequest& request, Plan& plan) {
  if (request.device_buffers == 0) return;
  plan.run.device_buffers = request.device_buffers;
  plan.run.kept_buffers = 0;
  if (plan.devices.empty()) plan.devices.resize(request.devices);
}

io::MemoryInput array_of(const SortRequest& request, const std::string& name) {
  StoredArray array;
  array.key = request.format;
  return io::in_numpy_order(
      {name, array, request.input.size(), [&input = request.input](ByteSpan to, std::uint64_t at) {
         std::copy_n(input.begin() + static_cast<std::ptrdiff_t>(at), to.size(), to.begin());
       }});
}

// Runs the plan; the inputs and the output are gone when it returns.
void run(const SortRequest& request, const std::vector<std::string>& in, const std::string& out,
         const std::string& temporary, SortResult& result) try {
  const std::size_t element =
      request.records ? request.records->bytes : bytes_of(request.format.type);
  io::ReaderOptions options{element, {DirectIo::kAuto}, form_of(request)};
  options.has_counts = request.min_count && !request.unique;
  if (request.from_array) options.memory = {array_of(request, in.front())};
  io::Reader reader(in, options);
  result.plan = plan_for(request, reader, temporary);
  keep_runs_on_devices(request, result.plan);
  std::vector<int> lost;
  const PlanWithout plan_without = [&](const DeviceError& failure) {
    for (const DevicePlan& device : result.plan.devices) {
      if (!failure.ordinal() || device.ordinal == *failure.ordinal()) {
        lost.push_back(device.ordinal);
      }
    }
    result.plan = plan_for(request, reader, temporary, lost);
    if (!result.plan.devices.empty()) keep_runs_on_devices(request, result.plan);
  };
  std::vector<io::Output> outputs;
  for (const std::string& name : names_of_parts(request, out)) {
    outputs.emplace_back(name, io::OutputOptions{DirectIo::kAuto, request.parts > 1});
  }
  result.outcome = run_sort({.plan = result.plan,
                             .reader = &reader,
                             .make_engine = request.make_engine,
                             .make_tier = request.make_tier,
                             .meter = request.meter,
                             .plan_without = request.may_lose_devices ? plan_without : nullptr},
                            outputs);
} catch (const Error& error) {
  result.error = error;
}

}  // namespace

EngineMaker engine_maker(const std::string& name) {
  if (name == "std" || name == "std_x3") {
    return [](const Plan&, const EngineShape& shape, ByteSpan) { return make_std_engine(shape); };
  }
  if (is_cuda_engine(name)) {
    return [name](const Plan& plan, const EngineShape& shape, ByteSpan memory) {
      // Narrow keys in arrays are the CPU's, whatever was asked for.
      if (plan.engine == EngineKind::kCpu) return cpu::make_cpu_engine(shape, memory);
      std::vector<int> ordinals = ordinals_of(name);
      ordinals.resize(plan.devices.size());  // an input that fits one is sorted by one
      return gpu::make_cuda_engine(shape, ordinals, memory);
    };
  }
  return [](const Plan&, const EngineShape& shape, ByteSpan memory) {
    return cpu::make_cpu_engine(shape, memory);
  };
}

std::vector<const char*> engines_of_sorts() {
  std::vector<const char*> names = {"cpu", "cuda", "cuda_x2", "cuda_x4"};
  const bool takes_all = std::getenv("GSORT_EVERY_CASE") != nullptr;
  if (takes_all || seed_of_cases() % 2 == 0) names.push_back("std");
  if (takes_all || seed_of_cases() % 2 != 0) names.push_back("std_x3");
  return names;
}

void use_engine(SortRequest& request, const std::string& name) {
  request.make_engine = engine_maker(name);
  if (is_cuda_engine(name) || name == "std_x3") request.gpu_memory = "32M";
  request.shares_chunk = name.starts_with("cuda_x");
  request.devices = name == "cuda_x4" ? 4 : name == "std_x3" ? 3 : name == "cuda_x2" ? 2 : 1;
}

void make_chunks_short(SortRequest& request, std::uint64_t chunk_elements) {
  Options options = options_for(request.format.type, "512M");
  options.key = request.format;
  options.records = request.records;
  options.argsort = request.argsort;
  options.shuffle = request.shuffle;
  options.engine = EngineChoice::kCuda;
  options.gpu_memory = request.gpu_memory;
  options.devices.all = true;
  options.parallel = request.threads;
  Machine machine = invented_machine(kGiB, request.threads, kTiB);
  for (unsigned device = 0; device < request.devices; ++device) add_gpu(machine);
  const Plan large = make_plan(make_job(options, {}, request.input.size()), machine);
  request.change_plan = [large, chunk_elements](Plan& plan) {
    if (plan.engine == EngineKind::kCpu) return;
    const Plan planned = plan;
    plan = large;
    plan.elements = planned.elements;
    plan.output = planned.output;
    plan.temporary_folders = planned.temporary_folders;
    plan.chunk.chunk_elements = chunk_elements;
  };
}

SortResult sort_in_folder(const SortRequest& request) {
  const io::test::TempFolder folder;
  const std::string temporary = folder / "temporary";
  std::filesystem::create_directory(temporary);
  SortResult result;
  Bytes drained;
  {
    ServedPipe in;
    ServedPipe out;
    const std::vector<std::string> inputs = make_inputs(request, folder, in);
    if (request.to_pipe) {
      out.drain(drained);
    } else if (request.old_output) {
      io::test::write_file(folder / "out", *request.old_output);
    }
    const std::string file = request.to_null ? "/dev/null" : folder / "out";
    run(request, inputs, request.to_pipe ? out.path() : file, temporary, result);
    if (request.parts > 1) join_parts(names_of_parts(request, file), file);
  }
  if (request.to_pipe) {
    result.output = std::move(drained);
  } else if (std::filesystem::exists(folder / "out")) {
    result.output = io::test::read_file(folder / "out");
  }
  for (const auto& entry : std::filesystem::directory_iterator(temporary)) {
    result.left_in_temporary.push_back(entry.path().filename());
  }
  for (const std::string& name : folder.entries()) {
    if (!name.starts_with("in") && name != "out" && name != "temporary") {
      result.left_in_folder.push_back(name);
    }
  }
  return result;
}

}  // namespace gsort::test
